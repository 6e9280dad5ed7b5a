// The Walsh–Hadamard transform, unnormalised, in natural (Sylvester) order.

/**
 * In-place transform of a power-of-two length array: radix 4, with one radix-2 pass when the power is odd.
 *
 * @param {Float32Array} a
 */
export function walshHadamard(a) {
  const n = a.length;
  let h = 1;
  for (; 4 * h <= n; h *= 4) radix4(a, h);
  if (h < n) radix2(a, h);
  return a;
}

/** @type {(a: Float32Array, h: number) => void} */
function radix4(a, h) {
  const n = a.length;
  const h2 = 2 * h;
  const h3 = 3 * h;
  for (let i = 0; i < n; i += 4 * h) {
    for (let j = i; j < i + h; j++) {
      const p = a[j];
      const q = a[j + h];
      const r = a[j + h2];
      const s = a[j + h3];
      const sum = p + q;
      const difference = p - q;
      const sum2 = r + s;
      const difference2 = r - s;
      a[j] = sum + sum2;
      a[j + h] = difference + difference2;
      a[j + h2] = sum - sum2;
      a[j + h3] = difference - difference2;
    }
  }
}

/** @type {(a: Float32Array, h: number) => void} */
function radix2(a, h) {
  for (let i = 0; i < a.length; i += 2 * h) {
    for (let j = i; j < i + h; j++) {
      const p = a[j];
      const q = a[j + h];
      a[j] = p + q;
      a[j + h] = p - q;
    }
  }
}
