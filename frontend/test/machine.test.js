import assert from "node:assert/strict";
import { test } from "node:test";
import { LEVELS, sentenceOf } from "../retrieval/machinewords.js";

/** @type {any} */
const look = {
  frequency: 4,
  phase: 2.5,
  entry: { cos: 1.114, sin: -0.66 },
  part: -1.02,
  S: 0.7931,
  exact: 0.712,
  floored: false,
  moved: 0.0157,
  atRest: false,
};
/** @type {any} */
const context = { D: 3072, K: 6, Y: 60000, beta: 75, freedom: 1536, bits: false };

test("each level says what is seen, with its own numbers", () => {
  const said = LEVELS.map((_, level) => sentenceOf(level, look, context));
  const wanted = [
    ["Frequency 5 ", "3,072", "8.66", "2.50"],
    ["2.50", "−0.80", "0.60"],
    ["6 stored pictures", "1.11", "−0.66"],
    ["−1.02", "60,000", "0.793", "0.712"],
    ["1,536", "0.016"],
  ];
  wanted.forEach((numbers, level) => {
    for (const number of numbers) assert.ok(said[level].includes(number), said[level]);
  });
});

test("one picture is one, bits are patterns, and noise is called noise", () => {
  assert.match(sentenceOf(2, look, { ...context, K: 1 }), /The 1 stored picture /);
  assert.match(sentenceOf(2, look, { ...context, bits: true }), /6 stored patterns/);
  assert.doesNotMatch(sentenceOf(3, look, context), /noise/);
  assert.match(sentenceOf(3, { ...look, floored: true }, context), /So small an Ŝ is noise/);
});

test("at rest there is no step to take", () => {
  assert.match(sentenceOf(4, { ...look, atRest: true }, context), /at rest/);
});
