// The mosaic explorer: settings, the law's verdict in words, and T written in parts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { damaged } from "../mosaic/math/damage.js";
import { law } from "../mosaic/math/law.js";
import { bitsOf } from "../mosaic/math/pictures.js";
import { Writer } from "../mosaic/math/writer.js";
import { nextSettings, settingsFrom } from "../mosaic/settings.js";
import { explain, named, verdict } from "../mosaic/words.js";

const PIXELS = Uint8Array.from({ length: 6 * 32 }, (_, i) => (37 * i * i + 11 * i) % 256);

/** @type {(given?: object) => import("../mosaic/math/run.js").Frame} */
const frame = (given = {}) => ({
  x: new Float32Array(256),
  weights: Float32Array.from([1]),
  energy: 0,
  spread: 1,
  wrong: 0,
  ...given,
});

test("a query is always one of the stored pictures, and Y fills whole blocks", () => {
  const settings = nextSettings(settingsFrom({ K: 900, target: 899 }), { K: 100, Y: 1000 });
  assert.equal(settings.target, 99);
  assert.equal(settings.Y, 1024);
});

test("hidden pixels are grey and free, visible ones are fixed, and flips change a twentieth", () => {
  const bits = bitsOf(PIXELS, 2);
  const { query, free } = damaged(bits, "quarter", 0);
  assert.equal(
    free.reduce((n, f) => n + f, 0),
    64,
  );
  for (let i = 0; i < 256; i++) assert.equal(query[i], free[i] ? 1 / 32 : bits[i] / 16);
  const flipped = damaged(bits, "flips", 0);
  assert.equal(
    bits.filter((bit, i) => bit / 16 !== flipped.query[i]).length,
    13, // a twentieth of 256
  );
});

test("the law asks for frequencies in proportion to K and to the free pixels", () => {
  const at = { K: 100, Y: 4096, beta: 40, eta: 0.2, freedom: 64, square: 0.06 };
  const { needed } = law(at);
  assert.ok(Math.abs(law({ ...at, K: 300 }).needed / needed - 3) < 1e-9);
  assert.ok(Math.abs(law({ ...at, freedom: 128 }).needed / needed - 2) < 1e-9);
  assert.ok(law({ ...at, beta: 160 }).needed > needed); // in widths of the well, the query is farther away
});

test("the explanation depends on what was found and on the frequencies that the law needs", () => {
  const settings = settingsFrom({ K: 100, Y: 4096, target: 0 });
  const ready = /** @type {any} */ ({ freedom: 64, law: { needed: 1000 } });
  const both = explain(frame(), frame(), settings, ready);
  assert.match(
    both,
    /found the picture among 100\. So did the vector\..* 1,000 frequencies, and there are 4,096\.$/,
  );
  const near = explain(frame(), frame({ wrong: 3 }), settings, ready);
  assert.match(near, /The vector is near the picture/);
  const lost = explain(frame(), frame({ wrong: 40 }), settings, {
    ...ready,
    law: { needed: 5000 },
  });
  assert.match(
    lost,
    /The vector did not find it\..* 5,000 frequencies, more than the 4,096 here\.$/,
  );
  assert.match(explain(frame({ wrong: 9, spread: 30 }), null, settings, ready), /try a higher β/);
  assert.equal(verdict(frame({ wrong: 1 }), settings, 64), "✗ 1 of 64 hidden pixels wrong");
  assert.equal(named(0x41), "A (U+0041)");
});

test("T does not depend on how its blocks are divided, or on the order of writing", () => {
  const job = { K: 6, beta: 30, seed: 2 };
  const whole = new Writer(PIXELS);
  for (const _ of whole.write({ ...job, blocks: [0, 1, 2] }));
  const parted = new Writer(PIXELS);
  for (const _ of parted.write({ ...job, K: 3, blocks: [2, 0] }));
  for (const _ of parted.write({ ...job, blocks: [1, 2, 0] }));
  const [one, other] = [whole.collected([0, 1, 2]), parted.collected([0, 1, 2])];
  for (let i = 0; i < one.length; i++) assert.ok(Math.abs(one[i] - other[i]) < 1e-5);
});
