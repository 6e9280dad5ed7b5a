import assert from "node:assert/strict";
import { test } from "node:test";
import { accepted, decode, encode } from "../kit/address.js";
import { descend } from "../landscape/math/runs.js";
import { PRESETS } from "../landscape/presets.js";
import {
  admits,
  consequences,
  DEFAULTS,
  MOST,
  nextSettings,
  places,
  REACH,
  settingsFrom,
} from "../landscape/settings.js";
import { Estimate, frequenciesOf, tablesOf } from "../math/plane/estimate.js";
import { Exact } from "../math/plane/exact.js";
import { bounds, printed } from "../sketch/bounds.js";
import { cosines } from "../sketch/cosines.js";
import { crosstalk, observe } from "../sketch/crosstalk.js";
import { inner } from "../sketch/inner.js";
import { neighbours } from "../sketch/neighbours.js";

/** @import { Settings } from "../landscape/settings.js" */
/** @import { Sketch } from "../sketch/sketch.js" */

test("the frequencies of a smaller Y are a prefix of those of a larger Y", () => {
  const [few, many] = [frequenciesOf(8, 3), frequenciesOf(64, 3)];
  assert.deepEqual([...few.x, ...few.y], [...many.x.slice(0, 8), ...many.y.slice(0, 8)]);
});

test("the energies on a grid equal those computed state by state, for every basis", () => {
  const even = Float64Array.from({ length: 61 }, (_, i) => -1.2 + 0.04 * i);
  for (const ticks of [Float64Array.from([-1, -0.2, 0.4]), even]) {
    const n = ticks.length;
    for (const basis of /** @type {const} */ (["sincos", "cos", "exp", "expexp"])) {
      const options = { patterns: places(3), beta: 4, basis, frequencies: frequenciesOf(40, 1) };
      const copy = new Estimate(options);
      const field = copy.field(ticks, tablesOf({ ticks, ...options }));
      for (let j = 0; j < n; j++) {
        for (let i = 0; i < n; i++) {
          const { energy } = copy.read([ticks[i], ticks[n - 1 - j]]);
          assert.ok(Math.abs(field[n * j + i] - energy) < 1e-9, `${basis} ${i} ${j}`);
        }
      }
    }
  }
});

test("two patterns have two minima above βd² = 4, and steps of size 2 do not raise the energy", () => {
  const rests = (/** @type {number} */ beta) =>
    consequences(settingsFrom({ view: "exact", patterns: places(2), beta })).rests;
  assert.deepEqual([rests(3.5), rests(4.5)], [1, 2]);
  const energies = (/** @type {number} */ eta) =>
    descend({ exact: new Exact(places(4), 30), copy: null, query: [-0.9, 0.4], eta, steps: 60 })
      .energies;
  const rises = (/** @type {number[]} */ line) =>
    line.filter((e, t) => t > 0 && e > line[t - 1] + 1e-9).length;
  assert.equal(rises(energies(2)), 0);
  assert.ok(rises(energies(2.2)) > 0);
});

test("the distance between the two runs never exceeds the bound of the tube", () => {
  for (const { set } of PRESETS.filter((preset) => preset.set.view === "tube")) {
    const { distance, tube } = consequences(set).runs;
    distance.forEach((d, t) => {
      assert.ok(d <= tube[t] * (1 + 1e-9) + 1e-12, `${t}`);
    });
  }
});

test("raising the number of patterns keeps the existing ones and adds others at free places", () => {
  const moved = { ...DEFAULTS, patterns: [[0, 0.8], ...places(2)] };
  const more = nextSettings(/** @type {Settings} */ (moved), { count: MOST });
  assert.deepEqual(more.patterns.slice(0, 3), moved.patterns);
  const apart = more.patterns.every((p, i) =>
    more.patterns.every((q, j) => i === j || Math.hypot(p[0] - q[0], p[1] - q[1]) > 0.25),
  );
  assert.ok(apart);
  assert.equal(nextSettings(more, { count: 2 }).patterns.length, 2);
});

test("an address sets valid values and ignores invalid ones", () => {
  const of = (/** @type {string} */ hash) => accepted(decode(hash)?.values ?? {}, DEFAULTS, admits);
  const state = { beta: 30, query: [0.2, -0.4] };
  assert.deepEqual(of(encode("landscape", state)), state);
  assert.deepEqual(of("#r1:landscape?Y=1000000&steps=1e9&basis=fourier&query=[9,0]"), {});
  assert.deepEqual(nextSettings(DEFAULTS, { query: [9, -9] }).query, [REACH, -REACH]);
});

const NOTHING = { promised: false, needed: "Y = 10⁹" };

test("answers contain no undefined numbers, and each right answer is one of the options", () => {
  for (const { key, set, after, predict } of PRESETS) {
    const shown = { ...consequences(set), ...NOTHING };
    const said = after(shown);
    const one = after({ ...shown, ...consequences({ ...set, steps: 1 }) });
    assert.doesNotMatch(one, /\b1 [a-z]+s\b/, key);
    if (key === "promise") assert.match(said, /needed: Y = 10⁹/);
    assert.doesNotMatch(said, /NaN|undefined|out of range|off every scale|none/, key);
    if (predict)
      assert.ok(
        predict.options.some(([guess]) => guess === predict.right(shown)),
        key,
      );
  }
});

test("among the questions with two options, both yes and no occur as right answers", () => {
  const asked = PRESETS.filter(({ predict }) => predict?.options.length === 2);
  const answers = asked.map(({ set, predict }) =>
    predict?.right({ ...consequences(set), ...NOTHING }),
  );
  assert.ok(answers.includes("yes") && answers.includes("no"));
});

test("each question of a small figure has an answer, and each of its lines belongs to a series", () => {
  const layers = [
    { W: [[1], [-1]], b: [0, 0.5] },
    { W: [[0.5, 0.7]], b: [0.1] },
  ];
  /** @type {[Sketch<any>, object][]} */
  const all = [
    [printed, {}],
    [cosines, {}],
    [crosstalk, {}],
    [inner, { layers }],
    [
      neighbours,
      {
        facts: [
          {
            name: "A",
            target: "B",
            neighbours: [
              ["C", 0.4, -2, 1],
              ["D", 0.1, -3, -2],
            ],
          },
        ],
      },
    ],
  ];
  for (const [sketch, given] of all) {
    for (const { key, set, after } of sketch.questions) {
      const settings = { ...sketch.defaults, ...given, ...set };
      const shown = sketch.show(settings);
      assert.doesNotMatch(after(shown), /NaN|undefined|out of range/, `${sketch.name} ${key}`);
      assert.deepEqual(
        Object.keys(shown.drawing.lines).filter(
          (name) => !sketch.chart.series.some((one) => one.key === name),
        ),
        [],
      );
      for (const name in sketch.limits) assert.ok(name in settings, name);
    }
  }
});

test("at load 0.18 the field flips under 2 % of the bits, but recall loses over 20 %", () => {
  const { wrong, lost } = observe({ load: 0.18, D: 400, seed: 1 });
  assert.ok(wrong < 0.02 && lost > 0.2);
  assert.ok(observe({ load: 0.1, D: 400, seed: 1 }).lost < 0.01);
});

test("each repair of the printed bound lowers it", () => {
  for (const beta of [1, 10, 50]) {
    const values = bounds({ beta, Y: 20000, L: 50 });
    assert.ok(values.printed > values.solved && values.solved > values.best);
    assert.ok(values.best >= values.contraction);
  }
});

test("two basins are one up to βd² = 4, and the number of places rises with β", () => {
  /** @type {(n: number, beta: number) => number} */
  const rests = (n, beta) =>
    consequences(settingsFrom({ view: "exact", patterns: places(n), beta })).rests;
  assert.deepEqual(
    [3, 3.95, 4, 4.1, 5].map((beta) => rests(2, beta)),
    [1, 1, 1, 2, 2],
  );
  const crowd = Array.from({ length: 91 }, (_, i) => rests(8, 1 + i / 10));
  assert.deepEqual(
    crowd,
    [...crowd].sort((a, b) => a - b),
  );
  assert.deepEqual([crowd[0], crowd.at(-1)], [1, 8]);
});
