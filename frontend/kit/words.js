// The places of words beside their points, chosen so that words seldom overlap each other or cover a dot.

/** @import { Point } from "./handle.js" */
/** @typedef {{ x: number, y: number, width: number, height: number }} Box */

const LETTER = 8; // pixels per letter, in the font of a drawing's words
const [ABOVE, BELOW] = [12, 4]; // pixels of a line of words above and below its baseline
const WIDER = 3; // pixels around a dot that a word should leave free

/** Offsets from a point to the start of a word of a given width; an earlier offset costs less. */
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
 * Places for words beside points, in a square of `size` pixels; words should not cover the `dots`. A word's own offset
 * comes before the others.
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
      const [x, y] = confined(at, place(width), width, size);
      const box = { x, y: y - ABOVE, width, height: ABOVE + BELOW };
      return { box, cost: costOf(box, taken, dots) + i };
    });
    const { box } = boxes.reduce((best, other) => (other.cost < best.cost ? other : best));
    taken.push(box);
    return [box.x, box.y + ABOVE];
  });
}

/** @type {(at: Point, by: Point, width: number, size: number) => Point} */
const confined = ([x, y], [dx, dy], width, size) => [
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
