// The Walsh–Hadamard transform, unnormalised, in natural (Sylvester) order.

/**
 * Transforms an array in place; its length is a power of two. Passes of radix 8 need a third of the reads and writes of
 * radix 2. One pass of radix 4 or 2 follows if the length is no power of 8.
 *
 * @param {Float32Array} a
 */
export function walshHadamard(a) {
  const n = a.length;
  let h = 1;
  for (; 8 * h <= n; h *= 8) radix8(a, h);
  if (4 * h <= n) {
    radix4(a, h);
    h *= 4;
  }
  if (h < n) radix2(a, h);
  return a;
}

/** @type {(a: Float32Array, h: number) => void} */
function radix8(a, h) {
  const n = a.length;
  for (let i = 0; i < n; i += 8 * h) {
    for (let j = i; j < i + h; j++) {
      const sum01 = a[j] + a[j + h];
      const gap01 = a[j] - a[j + h];
      const sum23 = a[j + 2 * h] + a[j + 3 * h];
      const gap23 = a[j + 2 * h] - a[j + 3 * h];
      const sum45 = a[j + 4 * h] + a[j + 5 * h];
      const gap45 = a[j + 4 * h] - a[j + 5 * h];
      const sum67 = a[j + 6 * h] + a[j + 7 * h];
      const gap67 = a[j + 6 * h] - a[j + 7 * h];
      const first = sum01 + sum23;
      const second = gap01 + gap23;
      const third = sum01 - sum23;
      const fourth = gap01 - gap23;
      const fifth = sum45 + sum67;
      const sixth = gap45 + gap67;
      const seventh = sum45 - sum67;
      const eighth = gap45 - gap67;
      a[j] = first + fifth;
      a[j + h] = second + sixth;
      a[j + 2 * h] = third + seventh;
      a[j + 3 * h] = fourth + eighth;
      a[j + 4 * h] = first - fifth;
      a[j + 5 * h] = second - sixth;
      a[j + 6 * h] = third - seventh;
      a[j + 7 * h] = fourth - eighth;
    }
  }
}

/** @type {(a: Float32Array, h: number) => void} */
function radix4(a, h) {
  const n = a.length;
  for (let i = 0; i < n; i += 4 * h) {
    for (let j = i; j < i + h; j++) {
      const sum = a[j] + a[j + h];
      const gap = a[j] - a[j + h];
      const sum2 = a[j + 2 * h] + a[j + 3 * h];
      const gap2 = a[j + 2 * h] - a[j + 3 * h];
      a[j] = sum + sum2;
      a[j + h] = gap + gap2;
      a[j + 2 * h] = sum - sum2;
      a[j + 3 * h] = gap - gap2;
    }
  }
}

/** @type {(a: Float32Array, h: number) => void} */
function radix2(a, h) {
  const n = a.length;
  for (let i = 0; i < n; i += 2 * h) {
    for (let j = i; j < i + h; j++) {
      const p = a[j];
      const q = a[j + h];
      a[j] = p + q;
      a[j + h] = p - q;
    }
  }
}
