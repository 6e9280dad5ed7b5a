// The places of words beside their points: no word on another, and few on a dot.

/** @import { Point } from "./handle.js" */
/** @typedef {{ x: number, y: number, width: number, height: number }} Box */

const LETTER = 8; // pixels, in the type of a drawing's words
const [ABOVE, BELOW] = [12, 4]; // of a line of it, from where it stands
const WIDER = 3; // pixels around a dot that a word had better leave free

/** Offsets to try, in this order, from a point to where a word of a width begins. */
/** @type {((width: number) => Point)[]} */
const PLACES = [
  () => [9, -9],
  () => [9, 18],
  (w) => [-9 - w, -9],
  (w) => [-9 - w, 18],
  (w) => [-w / 2, -14],
  (w) => [-w / 2, 24],
  () => [13, 5],
  (w) => [-13 - w, 5],
];

/** @type {(a: Box, b: Box) => number} */
const overlap = (a, b) =>
  Math.max(0, Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)) *
  Math.max(0, Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y));

/**
 * Places for words beside points, in a square of `size` pixels; `dots` are what they had better not cover. A word's
 * own offset is the first to be tried.
 *
 * @param {{ at: Point, text: string, dx?: number, dy?: number }[]} words
 * @param {Point[]} dots
 * @param {number} size
 * @returns {Point[]}
 */
export function placed(words, dots, size) {
  /** @type {Box[]} */
  const taken = [];
  return words.map(({ at, text, dx, dy }) => {
    const width = LETTER * text.length;
    /** @type {((width: number) => Point)[]} */
    const own = dx === undefined && dy === undefined ? [] : [() => [dx ?? 9, dy ?? -9]];
    const boxes = [...own, ...PLACES].map((place, i) => {
      const [x, y] = kept(at, place(width), width, size);
      const box = { x, y: y - ABOVE, width, height: ABOVE + BELOW };
      return { box, cost: costOf(box, taken, dots) + i };
    });
    const { box } = boxes.reduce((best, other) => (other.cost < best.cost ? other : best));
    taken.push(box);
    return [box.x, box.y + ABOVE];
  });
}

/** @type {(at: Point, by: Point, width: number, size: number) => Point} */
const kept = ([x, y], [dx, dy], width, size) => [
  Math.max(2, Math.min(size - width - 2, x + dx)),
  Math.max(ABOVE, Math.min(size - BELOW, y + dy)),
];

/** @type {(box: Box, taken: Box[], dots: Point[]) => number} */
function costOf(box, taken, dots) {
  const { x, y, width, height } = box;
  const words = taken.reduce((sum, other) => sum + overlap(box, other), 0);
  const on = dots.filter(
    ([px, py]) =>
      px > x - WIDER && px < x + width + WIDER && py > y - WIDER && py < y + height + WIDER,
  );
  return 5 * words + 6 * on.length;
}
