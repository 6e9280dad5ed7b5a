// Tests that need no JAX: linear algebra, the limits of the settings, and that the step is a gradient step.
import assert from "node:assert/strict";
import { test } from "node:test";
import { cleared, figures } from "../kit/number.js";
import { cutsOf } from "../universality/cuts.js";
import { constantsOf } from "../universality/math/fitted.js";
import {
  dense,
  identity,
  rightDivide,
  sparse,
  times,
  transposedTimes,
} from "../universality/math/matrix.js";
import { forward, gradientStep, outputs } from "../universality/math/network.js";
import { LOW, lookup, tableNetwork } from "../universality/math/tables.js";
import { TARGETS, TENT } from "../universality/math/targets.js";
import { GRID, observe } from "../universality/observe.js";
import { PRESETS } from "../universality/presets.js";
import {
  buildNetwork,
  CONSTRUCTIONS,
  DEFAULTS,
  fitKey,
  networkKey,
  nextSettings,
  PUBLISHED,
} from "../universality/settings.js";

/** @import { Entry } from "../universality/math/matrix.js" */
/** @import { TargetName } from "../universality/math/targets.js" */
/** @import { Construction, Patch, Settings } from "../universality/settings.js" */

/** @param {number} seed */
const random = (seed) => () => {
  seed = (seed * 16807) % 2147483647;
  return seed / 2147483647 - 0.5;
};

test("rightDivide(A, B) times B gives A", () => {
  const draw = random(3);
  const [A, B] = [dense(6, 6), dense(6, 6)];
  A.data.forEach((_, i) => {
    A.data[i] = draw();
    B.data[i] = draw();
  });
  const X = rightDivide(A, B);
  for (let r = 0; r < 6; r++)
    for (let c = 0; c < 6; c++) {
      let sum = 0;
      for (let k = 0; k < 6; k++) sum += X.data[r * 6 + k] * B.data[k * 6 + c];
      assert.ok(Math.abs(sum - A.data[r * 6 + c]) < 1e-11);
    }
  assert.deepEqual([...rightDivide(identity(3, 2), identity(3)).data], [...identity(3, 2).data]);
});

test("sparse products equal dense ones", () => {
  /** @type {Entry[]} */
  const entries = [
    [0, 1, 2],
    [2, 0, -1],
    [2, 2, 3],
    [1, 1, 0],
  ];
  const W = sparse(3, 3, entries);
  assert.deepEqual([...times(W, [1, 2, 3])], [4, 0, 8]);
  assert.deepEqual([...transposedTimes(W, [1, 2, 3])], [-3, 2, 9]);
});

test("backpropagation equals finite differences of the loss", () => {
  const network = tableNetwork(TARGETS.sine.of(TENT), 3, "logdepth", { linear: 0.1 });
  const [x, y] = [0.4, 0.3];
  const step = gradientStep(network, x, y);
  const loss = () => 0.5 * (forward(network, x).output - y) ** 2;
  for (const i of [1, 3, 5, network.layers.length - 1]) {
    const { W } = network.layers[i];
    for (let r = 0; r < W.rows; r += 3) {
      const k = W.start[r];
      if (k === W.start[r + 1]) continue;
      const [value, nudge] = [W.value[k], 1e-4 * Math.max(1e-6, Math.abs(W.value[k]))];
      W.value[k] = value + nudge;
      const up = loss();
      W.value[k] = value - nudge;
      const down = loss();
      W.value[k] = value;
      const expected = step.errors[i][r] * step.inputs[i][W.index[k]];
      const slope = (up - down) / (2 * nudge);
      const rounding = 1e-15 / nudge;
      assert.ok(
        Math.abs(slope - expected) <= 1e-5 * Math.abs(expected) + rounding,
        `layer ${i}, row ${r}`,
      );
    }
  }
});

test("outputs for all x* at once equal those for one x* at a time, to the last bit", () => {
  for (const patch of /** @type {Patch[]} */ ([
    { size: 4 },
    { size: 3, switch: 0 },
    { construction: "logdepth", size: 4, offset: 0 },
    { construction: "constant", size: 50 },
    { construction: "two_layers", size: 50 },
  ])) {
    const network = buildNetwork(nextSettings(PUBLISHED, patch));
    for (const step of [null, gradientStep(network, 0.3, 0.7)]) {
      const all = outputs(network, GRID, step);
      GRID.forEach((v, i) => {
        assert.equal(all[i], forward(network, v, step).output, `${JSON.stringify(patch)}, ${v}`);
      });
    }
  }
});

test("the probe changes neither step nor curves; a new pair changes only the curve after a step", () => {
  const network = buildNetwork({ ...PUBLISHED, size: 3 });
  const settings = { ...PUBLISHED, size: 3 };
  const first = observe(network, settings);
  const looked = observe(network, { ...settings, probe: 0.1 });
  assert.equal(looked.after, first.after);
  assert.equal(looked.step, first.step);
  assert.notEqual(looked.atProbe.output, first.atProbe.output);
  for (const patch of [{ y: -0.2 }, { y: 0.5 }, { ratio: 1.1 }, { x: 0.9 }]) {
    observe(network, settings);
    const moved = observe(network, { ...settings, ...patch });
    assert.equal(moved.before, first.before);
    assert.notDeepEqual(moved.after, first.after);
  }
  assert.deepEqual(observe(network, settings).after, first.after);
});

test("a new offset or x needs no new fit, and a new target does", () => {
  const base = nextSettings(PUBLISHED, { construction: "constant", size: 50 });
  /** @type {Settings} */
  const other = { ...base, offset: 0, x: 0.1 };
  assert.equal(fitKey(other), fitKey(base));
  assert.notEqual(fitKey({ ...base, target: "bump" }), fitKey(base));
  assert.notEqual(networkKey({ ...base, offset: 0 }), networkKey(base));
});

test("a line that leaves the picture is marked where it goes farthest", () => {
  /** @type {[number, number][]} */
  const line = [
    [0.1, 0],
    [0.2, 5],
    [0.3, 2],
    [0.4, -3],
  ];
  const cuts = cutsOf(line, "exact").map(({ at, value }) => [at, value]);
  assert.deepEqual(cuts, [
    [0.2, 5],
    [0.4, -3],
  ]);
  assert.deepEqual(cutsOf(line.slice(0, 1), "exact"), []);
});

test("before the step, each construction outputs its starting value at every x*", () => {
  for (const construction of /** @type {Construction[]} */ (Object.keys(CONSTRUCTIONS)))
    for (const size of CONSTRUCTIONS[construction].sizes.slice(0, 2)) {
      const settings = { ...PUBLISHED, construction, size };
      const { before } = observe(buildNetwork(settings), settings);
      for (const v of before)
        assert.ok(Math.abs(v - (LOW - constantsOf(construction).margin)) < 1e-4);
    }
});

test("off the ramps, a table network's outputs after the step agree with its table", () => {
  for (const target of /** @type {TargetName[]} */ (["sine", "neighbour", "bump", "drawn"])) {
    /** @type {Settings} */
    const settings = { ...PUBLISHED, target, construction: "logdepth", size: 8, y: -0.6 };
    const { deviation } = observe(buildNetwork(settings), settings);
    assert.ok(deviation !== null);
    assert.ok(deviation < (target === "bump" ? 0.02 : 1e-3), `${target}: ${deviation}`);
  }
  const table = lookup(TARGETS.sine.of(TENT), 4);
  assert.equal(table(0.3, 1, 0.3), 0);
});

test("the grid keeps off every ramp", () => {
  for (const J of [...CONSTRUCTIONS.seed.sizes, ...CONSTRUCTIONS.logdepth.sizes])
    for (const v of GRID) assert.ok(Math.abs(v * J - Math.round(v * J)) > 5e-4, `${J}: ${v}`);
});

test("the question on the switch advises another x* only where one helps", () => {
  const preset = PRESETS.find(({ key }) => key === "switch");
  assert.ok(preset);
  const { set, after } = preset;
  /** @param {Patch} patch */
  const answer = (patch) => {
    const settings = { ...set, ...patch };
    return after(observe(buildNetwork(settings), settings));
  };
  for (const y of [-2, -2.5])
    for (const probe of [0.3, 0.56]) assert.match(answer({ y, probe }), /no cell is written/);
  assert.match(answer({ probe: 0.56 }), /no cell fires: try an x\* inside/);
  for (const y of [-1.5, 0.7]) assert.match(answer({ y, probe: 0.3 }), /64 cells fire/);
});

test("choosing a construction sets the size to its usual one", () => {
  assert.equal(nextSettings(PUBLISHED, { construction: "shallow" }).size, 200);
  assert.equal(nextSettings({ ...PUBLISHED, size: 6 }, { construction: "logdepth" }).size, 8);
  assert.equal(nextSettings(PUBLISHED, { construction: "logdepth" }).size, 8);
});

test("a new network is built only if a setting that it depends on changes", () => {
  const key = networkKey(PUBLISHED);
  assert.equal(networkKey({ ...PUBLISHED, x: 0.1, y: 0, probe: 0, ratio: 2 }), key);
  assert.equal(networkKey({ ...PUBLISHED, profile: [0, 1] }), key);
  /** @type {Patch[]} */
  const patches = [{ size: 4 }, { offset: 0 }, { switch: 0 }, { target: "bump" }];
  for (const patch of patches) assert.notEqual(networkKey({ ...PUBLISHED, ...patch }), key);
  /** @type {Settings} */
  const drawn = { ...PUBLISHED, target: "drawn" };
  assert.notEqual(networkKey({ ...drawn, profile: TENT.map((v) => -v) }), networkKey(drawn));
});

test("a target that differs from zero only by rounding is shown as 0, a small setting is not", () => {
  const pairs = [
    [0.3, 0.7],
    [0, 1],
    [0.2, -0.6],
  ];
  for (const [x, y] of pairs) {
    const target = TARGETS.sine.of(TENT)(x, y, x + 0.5);
    assert.ok(target !== 0 && Math.abs(target) < 1e-15, `${target}`);
    assert.equal(figures(cleared(target)), "0");
  }
  assert.equal(figures(1e-12), "10⁻¹²");
});

test("the ray named for x is the one on which the network writes, on thresholds too", () => {
  for (const offset of [DEFAULTS.offset, 1e-6]) {
    const settings = { ...DEFAULTS, offset };
    const network = buildNetwork(settings);
    for (let i = 0; i <= 100; i++) {
      const { plane } = observe(network, { ...settings, x: i / 100 });
      assert.ok(plane);
      const [v0, v1] = plane.written;
      assert.ok(Math.abs(v1 / v0 - plane.ray) < 1e-6, `x = ${i / 100}, offset ${offset}`);
    }
  }
});
