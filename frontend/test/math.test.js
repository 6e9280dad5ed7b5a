import assert from "node:assert/strict";
import { test } from "node:test";
import { blockOf, plainBlock } from "../math/block/block.js";
import { walshHadamard } from "../math/block/hadamard.js";
import { sincos } from "../math/block/sincos.js";
import { Geometry, printedBound } from "../math/bounds.js";
import { DistributedMemory } from "../math/distributed.js";
import { ExactMemory } from "../math/exact.js";
import { BASES, HadamardFeatures, memorySize } from "../math/features.js";
import { key, normal, uniform } from "../math/random.js";

/** @param {Float32Array} a */
const norm = (a) => Math.sqrt(a.reduce((total, v) => total + v * v, 0));
/** @type {(a: Float32Array, b: Float32Array) => number} */
const apart = (a, b) => norm(a.map((v, i) => v - b[i])) / norm(b);
/** @type {(seed: number, D: number) => Float32Array} */
const unit = (seed, D) => uniform(key(seed), D).map((v) => v / Math.sqrt(D));
/** @type {(K: number, D: number) => Float32Array[]} */
const patterns = (K, D) => Array.from({ length: K }, (_, i) => unit(i, D));

for (const n of [2, 8, 64, 128]) {
  test(`the transform of length ${n} is the product with Sylvester's matrix`, () => {
    const x = normal(key(n), n);
    /** @param {number} v */
    const parity = (v) => v.toString(2).replaceAll("0", "").length % 2;
    const product = x.map((_, i) => x.reduce((sum, v, j) => sum + (parity(i & j) ? -v : v), 0));
    assert.ok(apart(walshHadamard(x.slice()), product) < 1e-6);
    assert.ok(
      apart(
        walshHadamard(walshHadamard(x.slice())),
        x.map((v) => n * v),
      ) < 1e-6,
    );
  });
}

test("cosine and sine err by less than 1e-7 on the whole range of the features", () => {
  const h = Float32Array.from({ length: 200001 }, (_, i) => (i - 100000) * 0.005);
  const [c, s] = [new Float64Array(h.length), new Float64Array(h.length)];
  sincos(h, c, s, h.length);
  const worst = h.reduce(
    (w, v, i) => Math.max(w, Math.abs(c[i] - Math.cos(v)), Math.abs(s[i] - Math.sin(v))),
    0,
  );
  assert.ok(worst < 1e-7, `worst error ${worst}`);
});

for (const P of [64, 128, 4096]) {
  test(`four floats at a time give what one at a time gives, for blocks of ${P}`, () => {
    const [wide, plain] = [blockOf(P), plainBlock(P)];
    const [signs, norms] = [normal(key(1), P).map(Math.sign), uniform(key(2), P)];
    for (const block of [wide, plain]) {
      block.z.set(normal(key(3), P));
      block.before.set(signs);
      block.between.set(signs.toReversed());
      block.norms.set(norms.map((v) => v / P ** 1.5));
      block.t.set(normal(key(4), P));
      block.u.set(normal(key(5), P));
      block.sum.fill(1);
      block.transform("z");
      block.project();
      block.waves();
    }
    const near = (/** @type {"h" | "first" | "second" | "sum"} */ name) =>
      assert.ok(apart(wide[name], plain[name]) < 1e-6, name);
    for (const name of /** @type {const} */ (["h", "first", "second"])) near(name);
    assert.ok(Math.abs(wide.slopes() - plain.slopes()) < 1e-6 * P);
    near("h");
    for (const block of [wide, plain]) block.addBack();
    near("sum");
    assert.ok(wide.z.buffer === wide.sum.buffer && plain.z.buffer !== plain.sum.buffer);
  });
}

test("a block computes one float at a time if the page may not compile WebAssembly", (t) => {
  t.mock.method(WebAssembly, "Module", () => {
    throw new Error("refused by the page's policy");
  });
  const { z, sum } = blockOf(512);
  assert.ok(z.buffer !== sum.buffer);
});

test("Ωᵀ is the transpose of Ω, block by block", () => {
  const features = new HadamardFeatures({ D: 50, Y: 90, seed: 3 });
  const x = normal(key(1), 50);
  const { block } = features;
  const back = new Float32Array(50);
  for (let b = 0; b < features.blocks; b++) {
    features.enter(x, 1);
    features.project(b);
    const w = normal(key(2 + b), features.P).fill(0, features.rows(b));
    const forward = block.h.reduce((sum, v, i) => sum + v * w[i], 0);
    block.h.set(w);
    block.addBack();
    features.leave(back);
    assert.ok(Math.abs(back.reduce((sum, v, i) => sum + v * x[i], 0) - forward) < 1e-4);
  }
});

test("projections are gaussian: mean square |x|² and kurtosis 3", () => {
  const features = new HadamardFeatures({ D: 100, Y: 128 * 80, seed: 1 });
  const x = normal(key(4), 100);
  features.enter(x, 1 / norm(x));
  let [second, fourth] = [0, 0];
  for (let b = 0; b < features.blocks; b++) {
    features.project(b);
    for (const v of features.block.h) {
      second += v ** 2 / features.Y;
      fourth += v ** 4 / features.Y;
    }
  }
  assert.ok(Math.abs(second - 1) < 4 * Math.sqrt(2 / features.Y));
  assert.ok(Math.abs(fourth - 3) < 5 * Math.sqrt(96 / features.Y));
});

for (const basis of BASES) {
  test(`the ${basis} gradient is the slope of the energy`, () => {
    const D = 40;
    const Xi = patterns(4, D);
    const features = new HadamardFeatures({ D, Y: 600, seed: 0, basis });
    const memory = DistributedMemory.store(Xi, 6, features);
    assert.equal(memory.T.length, memorySize(basis, 600));
    const x = unit(50, D);
    const gradient = new Float32Array(D);
    memory.energyGradient(x, gradient);
    const scratch = new Float32Array(D);
    const direction = normal(key(7), D);
    /** @param {number} t */
    const energy = (t) =>
      memory.energyGradient(
        x.map((v, i) => v + t * direction[i]),
        scratch,
      ).energy;
    const slope = (energy(4e-3) - energy(-4e-3)) / 8e-3;
    const expected = gradient.reduce((sum, v, i) => sum + v * direction[i], 0);
    assert.ok(Math.abs(slope - expected) < 2e-3 * norm(gradient) * norm(direction));
  });

  test(`a ${basis} memory forgets what is removed`, () => {
    const Xi = patterns(3, 40);
    const features = new HadamardFeatures({ D: 40, Y: 200, seed: 0, basis });
    const memory = DistributedMemory.store(Xi, 6, features);
    memory.remove(Xi[1]);
    const expected = DistributedMemory.store([Xi[0], Xi[2]], 6, features);
    assert.equal(memory.K, 2);
    assert.ok(apart(memory.T, expected.T) < 1e-5);
  });
}

test("a part of T does not depend on Y, and removing an added pattern restores it", () => {
  const Xi = patterns(3, 40);
  const of = (/** @type {number} */ Y) =>
    new HadamardFeatures({ D: 40, Y, seed: 0, basis: "sincos" });
  const memory = DistributedMemory.store(Xi, 6, of(200));
  const part = memory.part(50);
  assert.ok(apart(part, DistributedMemory.store(Xi, 6, of(400)).part(50)) < 1e-5);
  assert.ok(Math.max(...part.map(Math.abs)) <= 3); // a sum of three cosines
  memory.add(patterns(4, 40)[3]);
  assert.ok(apart(part, memory.part(50)) > 0.1);
  memory.remove(patterns(4, 40)[3]);
  assert.ok(apart(part, memory.part(50)) < 1e-5);
  assert.equal(memory.part(1000).length, 200);
});

test("the estimate of the kernel between two patterns is within four standard errors", () => {
  const D = 200;
  const [x, y] = patterns(2, D);
  const features = new HadamardFeatures({ D, Y: 40000, seed: 2 });
  const memory = DistributedMemory.store([x], 10, features);
  const { S } = memory.energyGradient(y, new Float32Array(D));
  const { S: k } = new ExactMemory([x], 10).energyGradient(y, new Float32Array(D));
  assert.ok(Math.abs(S - k) < 4 * Math.sqrt((1 - k * k) ** 2 / 2 / 40000));
});

test("the segment's contraction is at least that of its ends, and one pattern contracts by 1 − η", () => {
  const D = 30;
  const Xi = patterns(5, D);
  const geometry = new Geometry(Xi, 80);
  const memory = new ExactMemory(Xi, 80);
  const ends = [Xi[0], Xi[1]].map((x) => {
    memory.energyGradient(x, new Float32Array(D));
    return { d: memory.distances.slice(), p: memory.weights.slice() };
  });
  const whole = geometry.segmentContraction(ends[0].d, ends[1].d, 0.3);
  for (const { p } of ends) assert.ok(whole >= geometry.contraction(p, 0.3) - 1e-12);
  const lone = new Geometry([Xi[0]], 80);
  assert.ok(Math.abs(lone.contraction(Float64Array.of(1), 0.3) - 0.7) < 1e-12);
});

test("the logarithm of the printed bound stays finite where the bound itself overflows", () => {
  const setting = { D: 3072, K: 8, Y: 20000, beta: 60, eta: 0.1, energy: 0.01 };
  const bounds = [1, 10, 100, 1000].map((steps) => printedBound({ ...setting, steps }));
  assert.ok(bounds.every(Number.isFinite));
  assert.ok(bounds.every((b, i) => i === 0 || b > bounds[i - 1]));
  assert.ok(bounds[3] > 308);
});
