import assert from "node:assert/strict";
import { test } from "node:test";
import { accepted, decode, encode } from "../kit/address.js";
import { Pictures } from "../surface/math/pictures.js";
import { presetsOf } from "../surface/presets.js";
import {
  admits,
  consequences,
  DEFAULTS,
  inside,
  nextSettings,
  reachOf,
} from "../surface/settings.js";
import { createView, HIGH, WIDE } from "../surface/view.js";

/** @import { Point } from "../kit/handle.js" */

const SIDE = 4;
/** @param {number} shift */
const wave = (shift) =>
  Float64Array.from({ length: 3 * SIDE * SIDE }, (_, i) => 0.06 + 0.05 * Math.sin(i * shift));
const pictures = new Pictures([wave(0.4), wave(0.9), wave(1.7)]);
const stored = { names: ["a", "b", "c"], pictures, side: SIDE, reach: reachOf(pictures) };

test("the picture of a point in the plane is projected back to that point", () => {
  for (const at of /** @type {Point[]} */ ([
    [0.03, -0.02],
    [-0.2, 0.1],
  ])) {
    const place = pictures.split(pictures.lift(at));
    assert.ok(Math.hypot(place.at[0] - at[0], place.at[1] - at[1]) < 1e-12);
    assert.ok(place.height < 1e-12);
  }
});

test("a press on the surface selects the point that is drawn at that pixel", () => {
  const { exact, least } = consequences({ ...DEFAULTS, beta: 300 }, stored);
  const { reach } = stored;
  const height = (/** @type {Point} */ at) => exact.energy(at) - least;
  for (const turn of [0, 70, -130]) {
    const view = createView({ reach, turn, top: height([reach, 0]) });
    for (const at of /** @type {Point[]} */ ([
      [0, 0],
      [0.4 * reach, -0.3 * reach],
      ...pictures.places,
    ])) {
      const pixel = view.project(at, height(at));
      const hit = view.hit(pixel, height);
      const again = view.project(hit, height(hit));
      // One place may lie behind another; both are then drawn at the same pixel.
      assert.ok(Math.hypot(again[0] - pixel[0], again[1] - pixel[1]) < 0.01, `${turn}`);
      assert.ok(view.depth(hit) <= view.depth(at) + 1e-6);
    }
  }
});

test("the rim of the surface lies inside the drawing at every rotation and β", () => {
  for (const beta of [1, 20, 120, 400]) {
    const { exact, least } = consequences({ ...DEFAULTS, beta }, stored);
    const { reach } = stored;
    const rim = Array.from({ length: 72 }, (_, i) => {
      const angle = (2 * Math.PI * i) / 72;
      return /** @type {Point} */ ([reach * Math.cos(angle), reach * Math.sin(angle)]);
    });
    const height = (/** @type {Point} */ at) => exact.energy(at) - least;
    const top = Math.max(...rim.map(height));
    for (let turn = -180; turn < 180; turn += 30) {
      const view = createView({ reach, turn, top });
      for (const at of rim) {
        const [x, y] = view.project(at, height(at));
        assert.ok(x >= 0 && x <= WIDE && y >= 0 && y <= HIGH + 20, `${beta} ${turn} ${x} ${y}`);
      }
    }
  }
});

test("moving the start selects a blend, and covering a picture selects that picture", () => {
  const moved = nextSettings(DEFAULTS, { query: [0.1, 0] });
  assert.equal(moved.start, "blend");
  assert.equal(nextSettings(moved, { covered: 0.2 }).start, "covered");
  assert.equal(nextSettings(moved, { beta: 3 }).start, "blend");
  assert.ok(Math.hypot(...inside([5, 5], 0.3)) <= 0.3 + 1e-12);
});

test("an address sets valid values and ignores invalid ones", () => {
  const of = (/** @type {string} */ hash) => accepted(decode(hash)?.values ?? {}, DEFAULTS, admits);
  const state = { beta: 30, query: [0.2, -0.4] };
  assert.deepEqual(of(encode("surface", state)), state);
  assert.deepEqual(of("#r1:surface?beta=0&steps=1e9&start=noise&from=3&query=[9,0]"), {});
});

test("answers contain no undefined numbers, and each right answer is one of the options", () => {
  for (const { key, set, after, predict } of presetsOf(stored)) {
    for (const steps of [1, 40]) {
      const shown = {
        ...consequences({ ...set, steps }, stored),
        names: stored.names,
        steps,
      };
      assert.doesNotMatch(after(shown), /NaN|undefined|out of range|\b1 steps/, key);
      if (predict)
        assert.ok(
          predict.options.some(([guess]) => guess === predict.right(shown)),
          key,
        );
    }
  }
});
