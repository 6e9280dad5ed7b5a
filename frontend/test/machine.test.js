import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { key, normal } from "../math/random.js";
import {
  enlarged,
  followed,
  formulaOf,
  LEVELS,
  partOf,
  SECTIONS,
  sentenceOf,
} from "../retrieval/machinewords.js";

/** @type {any} */
const look = {
  frequency: 4,
  phase: 2.5,
  entry: { cos: 1.114, sin: -0.66 },
  part: -1.287,
  S: 0.7931,
  exact: 0.712,
  step: 12,
  floored: false,
  atRest: false,
};
/** @type {any} */
const context = {
  D: 3072,
  K: 6,
  Y: 60000,
  beta: 75,
  eta: 0.2,
  freedom: 1536,
  bits: false,
  target: 0,
};

test("the sentence of each level quotes the current numbers", () => {
  const said = LEVELS.map((_, level) => sentenceOf(level, look, context));
  const expected = [
    ["query after 12 steps", "Frequency 5 of 60,000", "3,072"],
    [],
    ["6 stored pictures"],
    // |Ŝ − S|/S, √(K/2Y), and √(K/2Y)/S
    ["S = 0.712", "Ŝ = 0.793", "11 % off", "= 0.00707", "only 0.99 % of S"],
    ["1,536", "√1,536 times as much: 0.28"],
  ];
  expected.forEach((numbers, level) => {
    for (const number of numbers) assert.ok(said[level].includes(number), said[level]);
  });
});

test("sentences use the singular for one picture, say patterns for bits, and name noise", () => {
  assert.match(sentenceOf(2, look, { ...context, K: 1 }), / one stored picture, divided by /);
  assert.match(sentenceOf(2, look, { ...context, bits: true }), /6 stored patterns/);
  assert.match(
    sentenceOf(3, look, context),
    /The steps go uphill on this noise too, to where it is high\./,
  );
  const atFirst = { ...look, step: 0 };
  assert.doesNotMatch(sentenceOf(3, atFirst, context), /uphill/);
  assert.match(sentenceOf(0, atFirst, context), /^The vector's state is the query\. /);
  assert.doesNotMatch(sentenceOf(3, look, context), /is noise\./);
  assert.match(sentenceOf(3, { ...look, floored: true }, context), /this Ŝ is noise/);
  assert.match(sentenceOf(3, { ...look, exact: 0.003 }, context), /more than S itself/);
  assert.match(sentenceOf(3, { ...look, exact: 0.05 }, context), /as much as 14 % of S/);
});

test("each level has a formula with its numbers and refers to an existing section of the book", () => {
  const plain = LEVELS.map((_, level) => formulaOf(level, look, context).replaceAll("*", ""));
  assert.deepEqual(plain, [
    "θ = √β · Σ products = 8.66 × 0.2887 = 2.50",
    "cos 2.50 = −0.80, sin 2.50 = 0.60",
    "1.11 / √60,000 = 0.0045 and −0.66 / √60,000 = −0.0027",
    "One term: −0.801 × 1.114 + 0.598 × (−0.660) = −1.29",
    "x ← x + (η/β) × slope of log Ŝ, step size η = 0.2",
  ]);
  for (const [place, heading] of SECTIONS) {
    const [page, anchor] = place.split(".html#");
    const text = readFileSync(new URL(`../../book/chapters/${page}.md`, import.meta.url), "utf8");
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^a-z ]/g, "")
      .replaceAll(" ", "-");
    assert.ok(anchor === slug || text.includes(`(${anchor})=\n## ${heading}\n`), place);
    assert.ok(text.includes(`\n## ${heading}\n`), heading);
  }
});

test("the calculation of one pixel and the phase of a stored picture are written in numbers", () => {
  const numbers = /** @type {[number, number, number]} */ ([0.8125, -0.0139, 0.8125 * -0.0139]);
  const product = "Row 12, column 9, red: 0.81 × (−0.014) = −0.011";
  assert.equal(followed([11, 8], numbers, "×", false), product);
  assert.equal(
    followed([0, 0], [0.5, 0.25, 0.75], "+", true),
    "Row 1, column 1: 0.500 + 0.250 = 0.750",
  );
  assert.equal(partOf("cat", Math.PI), "cat: phase 3.14, cosine −1.00, sine 0.00");
  assert.equal(enlarged(0.0357), "enlarged 14 ×");
  assert.equal(enlarged(13.2), "divided by 26"); // a step of a run that is lost in noise
});

/** The value of a written number, and one unit of its last digit. @param {string} text */
function read(text) {
  const [, mantissa, exponent = ""] = /^(−?[\d.,]*)·?(?:10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?$/.exec(text) ?? [];
  const digits = [...exponent]
    .map((c) => (c === "⁻" ? "-" : String("⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(c))))
    .join("");
  const plain = mantissa.replaceAll(",", "").replace("−", "-");
  const scale = 10 ** Number(digits);
  const places = plain.split(".")[1]?.length ?? 0;
  return { value: (plain === "" ? 1 : Number(plain)) * scale, unit: scale / 10 ** places };
}

/** True if both sides of a written calculation agree within the last digit of its result. @param {string} text */
function comesOut(text) {
  const [left, right] = text.replaceAll(/[()]/g, "").split(" = ");
  const value = left
    .split(" + ")
    .map((term) => term.split(" × ").reduce((product, v) => product * read(v).value, 1))
    .reduce((sum, v) => sum + v, 0);
  const { value: result, unit } = read(right);
  return Math.abs(value - result) <= 1.001 * unit;
}

test("products, sums and quotients agree with their results in the digits shown", () => {
  const draws = normal(key(7), 4000);
  let at = 0;
  const draw = () => draws[at++];
  for (const [beta, Y, K] of [
    [75, 60_000, 6],
    [200, 1000, 24],
    [1, 200_000, 1],
    [33.3, 80_000, 500],
  ]) {
    for (let i = 0; i < 100; i++) {
      const phase = Math.sqrt(beta) * draw() * 0.6;
      const entry = { cos: Math.sqrt(K) * draw(), sin: (i % 5 ? 1 : 0.02) * Math.sqrt(K) * draw() };
      const part = entry.cos * Math.cos(phase) + entry.sin * Math.sin(phase);
      const own = { ...look, phase, entry, part };
      const [first, , quotients, term] = LEVELS.map((_, level) =>
        formulaOf(level, own, { ...context, beta, Y, K }).replaceAll("*", ""),
      );
      assert.ok(comesOut(first.replace(/^.*products = /, "")), first);
      assert.ok(comesOut(term.replace("One term: ", "")), term);
      for (const quotient of quotients.split(" and ")) {
        const [, sum, root, result] = /^(.*) \/ √(.*) = (.*)$/.exec(quotient) ?? [];
        const { value, unit } = read(result);
        const shown = read(sum).value / Math.sqrt(read(root).value);
        assert.ok(Math.abs(shown - value) <= 1.001 * unit, quotient);
      }
      const [pixel, weight] = [Math.abs(draw()) / 2, (i % 4 ? 0.02 : 1e-4) * draw()];
      for (const [sign, result] of /** @type {["×" | "+", number][]} */ ([
        ["×", pixel * weight],
        ["+", pixel + weight],
      ])) {
        const line = followed([0, 0], [pixel, weight, result], sign, false);
        assert.ok(comesOut(line.replace(/^.*: /, "")), line);
      }
    }
  }
});

test("the error and the noise of Ŝ agree with the numbers shown beside them", () => {
  for (const [S, exact] of [
    [0.7931, 0.712],
    [1.70234, 1.70113],
    [0.09876, 0.10234],
  ]) {
    const said = sentenceOf(3, { ...look, S, exact }, context).replaceAll("*", "");
    const numbers =
      /S = (\S+), the vector estimates Ŝ = (\S+), (\S+) % off\. .* noise of Ŝ is √\S+ = (\S+), .* (\S+) % of S/;
    const [, ...shown] = numbers.exec(said) ?? [];
    const [s, estimate, error, noise, share] = shown.map(read);
    const off = (100 * Math.abs(estimate.value - s.value)) / s.value;
    assert.ok(Math.abs(off - error.value) <= error.unit, said);
    assert.ok(Math.abs((100 * noise.value) / s.value - share.value) <= share.unit, said);
  }
});

test("a state at rest is described as at rest", () => {
  assert.match(sentenceOf(4, { ...look, atRest: true }, context), /At rest/);
});
