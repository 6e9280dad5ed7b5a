// The memory along the line: the pairs to drag, the reading, the truth, and the errors at stored and at unseen keys.
import { chart } from "../kit/chart.js";
import { h } from "../kit/dom.js";
import { createGrips } from "../kit/grips.js";
import { pathOf } from "../kit/line.js";
import { fixed } from "../kit/number.js";
import { ASKED, TRUE } from "./measure.js";
import { HIGH, REACH } from "./settings.js";

/** @import { Point } from "../kit/handle.js" */
/** @import { Measured } from "./measure.js" */

const FRAME = { width: 480, height: 234, left: 26, right: 6, top: 6, bottom: 30 };
const EDGE = 1.02 * HIGH; // beyond this value a curve is not drawn
const XS = ASKED.line.map(([x]) => x);

/** @param {(i: number, at: Point) => void} onMove */
export function createLine(onMove) {
  const { element, svg, space, under, draw } = chart({
    title: "What is read along the line",
    caption: false,
    x: { label: "key", marks: [-1, -0.5, 0, 0.5, 1] },
    y: { label: "", marks: [-1, 0, 1] },
    series: [
      { key: "truth", label: "the truth", tone: "quiet", dash: "5 4" },
      { key: "read", label: "what is read", tone: "exact", wide: true },
    ],
    frame: FRAME,
    interactive: true,
  });
  const grips = createGrips({
    ...{ svg, space, x: [-REACH, REACH], y: [-HIGH, HIGH], step: [0.02, 0.05] },
    onMove: (id, at) => onMove(Number(id.slice(1)), at),
  });
  const numbers = h("g", { "aria-hidden": "true", class: "r1-numbers" });
  svg.append(numbers, grips.element);
  element.classList.add("r1-line-view");

  return {
    element,
    /** @type {(measured: Measured, chosen: number, veiled: boolean) => void} */
    show({ keys, values, read, curve }, chosen, veiled) {
      const drawn = veiled ? null : curve;
      const lines = { truth: over(TRUE.line), read: drawn ? over(drawn) : [] };
      const summary = drawn
        ? `At the keys, in the order of the pairs: ${Array.from(read ?? [], (v) => fixed(v, 1)).join(", ")}.`
        : "";
      draw({ lines, x: [-REACH, REACH], y: [-HIGH, HIGH], summary });
      under.replaceChildren(
        ...(drawn ? [h("path", { class: "r1-gap r1-law", d: gap(drawn, space.toPixel) })] : []),
        ...(drawn && read ? sticks(keys, values, read, space.toPixel) : []),
      );
      const at = keys.map(([x], i) => /** @type {Point} */ ([x, within(values[i])]));
      grips.show(
        at.map((place, i) => ({
          id: `k${i}`,
          at: place,
          name: `Pair ${i + 1} of ${keys.length}: key across, value up`,
          words: `key ${fixed(place[0])}, value ${fixed(values[i])}`,
          tone: "ink",
          r: i === chosen ? 7 : 5.5,
          group: "pairs",
        })),
      );
      numbers.replaceChildren(
        ...at.map((place, i) => {
          const [x, y] = space.toPixel(place);
          const above = y > 24 && !(read && !veiled && read[i] > values[i]); // on the side without a stick
          return h("text", { x, y: above ? y - 11 : y + 19, "text-anchor": "middle" }, `${i + 1}`);
        }),
      );
    },
  };
}

/** @param {number} v */
const within = (v) => Math.min(HIGH, Math.max(-HIGH, v));

/** @type {(values: ArrayLike<number>) => [number, number | null][]} */
const over = (values) => XS.map((x, i) => [x, Math.abs(values[i]) <= EDGE ? values[i] : null]);

/** The path around the area between the truth and the reading. @type {(curve: ArrayLike<number>, toPixel: (at: Point) => Point) => string} */
function gap(curve, toPixel) {
  const there = XS.map((x, i) => toPixel([x, within(curve[i]) || 0]));
  const back = XS.map((x, i) => toPixel([x, TRUE.line[i]])).reverse();
  return `${pathOf([...there, ...back])}Z`;
}

/** @type {(keys: Point[], values: number[], read: ArrayLike<number>, toPixel: (at: Point) => Point) => SVGElement[]} */
const sticks = (keys, values, read, toPixel) =>
  keys.map(([x], i) => {
    const [[x1, y1], [, y2]] = [
      toPixel([x, within(values[i])]),
      toPixel([x, within(read[i]) || 0]),
    ];
    return h("line", { class: "r1-stick r1-distributed", x1, x2: x1, y1, y2 });
  });
