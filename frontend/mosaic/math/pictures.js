// The pictures as the site sends them: code points, and 16 × 16 pixels of one bit each.

/** The code points, and the pixels of all pictures: eight pixels per byte, the leftmost in the highest bit. */
/** @typedef {{ codes: Uint32Array, pixels: Uint8Array<ArrayBuffer> }} Pictures */

export const SIDE = 16;
export const D = SIDE * SIDE;
export const BYTES = D / 8; // bytes per picture
export const UNIT = 1 / SIDE; // value of an inked pixel in a pattern, so that the cube has the diameter 1
const CODE = 4; // bytes per code point

/**
 * The pictures that `packed_characters` of characters.py has packed.
 *
 * @param {Uint8Array<ArrayBuffer>} packed
 * @returns {Promise<Pictures>}
 */
export async function unpacked(packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const n = bytes.length / (CODE + BYTES);
  const view = new DataView(bytes.buffer);
  const codes = Uint32Array.from({ length: n }, (_, i) => view.getUint32(CODE * i, true));
  return { codes, pixels: bytes.slice(CODE * n) };
}

/**
 * The first pictures, followed by the others.
 *
 * @type {(first: Pictures, others: Pictures) => Pictures}
 */
export function joined(first, others) {
  const codes = new Uint32Array(first.codes.length + others.codes.length);
  const pixels = new Uint8Array(BYTES * codes.length);
  codes.set(first.codes);
  codes.set(others.codes, first.codes.length);
  pixels.set(first.pixels);
  pixels.set(others.pixels, first.pixels.length);
  return { codes, pixels };
}

/**
 * One picture as zeros and ones.
 *
 * @type {(pixels: Uint8Array, index: number) => Float32Array}
 */
export const bitsOf = (pixels, index) =>
  Float32Array.from(
    { length: D },
    (_, i) => (pixels[BYTES * index + (i >> 3)] >> (7 - (i & 7))) & 1,
  );
