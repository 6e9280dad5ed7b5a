// The pictures that come with a widget: whole numbers, packed as differences from a prediction by neighbouring pixels.

/** Pictures (n, side, side, 3) in whole numbers from 0 to `top`. */
/** @typedef {{ values: Int16Array, side: number, top: number }} Sheet */

/**
 * Undoes `_packed` of retrieval_explorer.py: deflate, low bytes before high ones, zigzag, the residuals of a prediction
 * by the pixels at the left and above, and colours as differences from green.
 *
 * @type {(packed: Uint8Array<ArrayBuffer>, side: number, top: number) => Promise<Sheet>}
 */
export async function unpacked(packed, side, top) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const n = bytes.length / 2;
  const pixels = n / 3;
  const values = new Int16Array(n);
  const plane = new Int16Array(pixels);
  for (let c = 0; c < 3; c++) {
    for (let i = 0; i < pixels; i++) {
      const at = c * pixels + i;
      const word = bytes[at] + 256 * bytes[n + at];
      plane[i] = (word & 1 ? -(word + 1) / 2 : word / 2) + foreseen(plane, i, side);
      values[3 * i + COLOUR[c]] = plane[i] + (c === 0 ? 0 : values[3 * i + COLOUR[0]]);
    }
  }
  return { values, side, top };
}

const COLOUR = [1, 0, 2]; // green, then red minus green and blue minus green

/**
 * The prediction by the pixels at the left, above and diagonally between them (the median edge predictor of JPEG-LS).
 * Pixels outside the picture count as 0.
 *
 * @type {(plane: Int16Array, i: number, side: number) => number}
 */
function foreseen(plane, i, side) {
  const [column, row] = [i % side, Math.floor(i / side) % side];
  const left = column > 0 ? plane[i - 1] : 0;
  const above = row > 0 ? plane[i - side] : 0;
  const corner = column > 0 && row > 0 ? plane[i - side - 1] : 0;
  if (corner >= Math.max(left, above)) return Math.min(left, above);
  if (corner <= Math.min(left, above)) return Math.max(left, above);
  return left + above - corner;
}
