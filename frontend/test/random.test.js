import assert from "node:assert/strict";
import { test } from "node:test";
import { bits, key, normal, split, uniform } from "../math/random.js";

const WORDS = {
  bits: [4070199207, 4202968722, 1427181096, 2012915765],
  split: [
    [1832780943, 270669613],
    [64467757, 2916123636],
  ],
};

// Made with jax 0.10.2; tests/widgets/test_retrieval.py compares with the installed JAX at length.
test("the generator gives the same random bits and split keys as JAX", () => {
  assert.deepEqual([...bits(key(0), 4)], WORDS.bits);
  assert.deepEqual(
    split(key(42)).map((pair) => pair.map((w) => w >>> 0)),
    WORDS.split,
  );
});

test("a later part of a stream is the same without its beginning", () => {
  assert.deepEqual([...bits(key(5), 100, 90)], [...bits(key(5), 100)].slice(90));
  assert.deepEqual([...normal(key(5), 100, 90)], [...normal(key(5), 100)].slice(90));
});

test("a longer stream begins with the shorter one: features of a smaller Y are a prefix", () => {
  assert.deepEqual([...bits(key(9), 70)].slice(0, 50), [...bits(key(9), 50)]);
});

test("uniform and normal numbers have the moments of their laws", () => {
  const n = 200000;
  /** @type {(a: Float32Array, f: (v: number) => number) => number} */
  const mean = (a, f) => a.reduce((total, v) => total + f(v), 0) / n;
  const u = uniform(key(1), n);
  assert.ok(Math.abs(mean(u, (v) => v) - 1 / 2) < 4 / Math.sqrt(12 * n));
  const g = normal(key(2), n);
  assert.ok(Math.abs(mean(g, (v) => v)) < 4 / Math.sqrt(n));
  assert.ok(Math.abs(mean(g, (v) => v * v) - 1) < 4 * Math.sqrt(2 / n));
  assert.ok(Math.abs(mean(g, (v) => v ** 4) - 3) < 4 * Math.sqrt(96 / n));
});
