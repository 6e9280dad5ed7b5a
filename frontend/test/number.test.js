import assert from "node:assert/strict";
import { test } from "node:test";
import {
  amount,
  bounded,
  cleared,
  count,
  counted,
  figures,
  fixed,
  percent,
  power,
  subscript,
} from "../kit/number.js";

test("a count of one is written in the singular, other counts in the plural", () => {
  assert.equal(counted(1, "step"), "one step");
  assert.equal(counted(0, "step"), "0 steps");
  assert.equal(counted(20000, "step"), "20,000 steps");
});

test("small and large numbers are written with a power of ten, others in full", () => {
  /** @type {[number, string][]} */
  const written = [
    [0, "0"],
    [-0, "0"],
    [0.117, "0.117"],
    [-2, "−2"],
    [1234.5, "1,230"],
    [999_999, "1,000,000"],
    [1e6, "10⁶"],
    [0.001, "0.001"],
    [0.0009, "9·10⁻⁴"],
    [-7.24e-6, "−7.2·10⁻⁶"],
    [1e-8, "10⁻⁸"],
    [2e-12, "2·10⁻¹²"],
    [Number.NaN, "out of range"],
    [Number.NEGATIVE_INFINITY, "out of range"],
  ];
  for (const [v, text] of written) assert.equal(figures(v), text);
  assert.equal(figures(0.0336, 2), "0.034");
  assert.equal(figures(3.4e-5, 1), "3·10⁻⁵");
});

test("a missing amount is written as none, and one too large as off every scale", () => {
  assert.equal(amount(null), "none");
  assert.equal(amount(undefined), "none");
  for (const lost of [1e6, Number.NaN, Number.POSITIVE_INFINITY, -1e30])
    assert.equal(amount(lost), "off every scale");
  assert.deepEqual(
    [7612, 150, 12, 0.58, 0, -0.031].map((v) => amount(v, 2)),
    ["7,600", "150", "12", "0.58", "0", "−0.031"],
  );
});

test("numbers in columns keep their decimal places and never show a negative zero", () => {
  assert.deepEqual(
    [1, -1.234, -0.001, 0].map((v) => fixed(v)),
    ["1.00", "−1.23", "0.00", "0.00"],
  );
  assert.equal(fixed(-0.00004, 4), "0.0000");
});

test("values that differ from zero only by rounding are set to zero", () => {
  assert.deepEqual(
    [2e-16, -2e-16, 2e-12, -0.5].map((v) => cleared(v)),
    [0, 0, 2e-12, -0.5],
  );
  assert.equal(cleared(4e-10, 1e-9), 0);
  assert.equal(cleared(null), null);
});

test("a number is kept between two bounds", () => {
  assert.deepEqual(
    [-3, 0.5, 3].map((v) => bounded(v, -1, 1)),
    [-1, 0.5, 1],
  );
});

test("counts, percentages, powers of ten and subscripts are formatted as text", () => {
  assert.equal(count(20_000.4), "20,000");
  assert.equal(percent(0.456), "46 %");
  assert.equal(power(-12), "10⁻¹²");
  assert.equal(subscript(12), "₁₂");
});
