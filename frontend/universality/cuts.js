// The places where a line leaves the chart of the network over x*, and the marks there.
import { h } from "../kit/dom.js";
import { figures } from "../kit/number.js";

/** @import { Point, Space } from "../kit/handle.js" */

/**
 * The ends of the chart's vertical axis.
 *
 * @type {Point}
 */
export const RANGE = [-2.7, 1.8];

/** @typedef {{ at: number, value: number, tone: string }} Cut */

/**
 * The cuts of a line that leaves the chart: its highest point if that is above, and its lowest if that is below.
 *
 * @type {(line: Point[], tone: string) => Cut[]}
 */
export function cutsOf(line, tone) {
  const far = (/** @type {(v: number) => number} */ out) =>
    line.reduce((most, point) => (out(point[1]) > out(most[1]) ? point : most), [0, 0]);
  const [[xHigh, high], [xLow, low]] = [far((v) => v), far((v) => -v)];
  return [
    ...(high > RANGE[1] ? [{ at: xHigh, value: high, tone }] : []),
    ...(low < RANGE[0] ? [{ at: xLow, value: low, tone }] : []),
  ];
}

const CLOSE = 0.2; // along x*: values of cuts this close would overlap
const LINE = 12; // height of a value, in pixels

/**
 * A triangle at the edge of the chart, and the extreme value of the line, clear of the values of `others`.
 *
 * @type {(cut: Cut, space: Space, others: Cut[]) => SVGElement[]}
 */
export function cutMark({ at, value, tone }, space, others) {
  const up = value > 0 ? 1 : -1;
  const near = others.filter((cut) => cut.value * up > 0 && Math.abs(cut.at - at) < CLOSE).length;
  const [x, y] = space.toPixel([at, value > 0 ? RANGE[1] : RANGE[0]]);
  const left = at < 0.85;
  return [
    h("path", { class: `r1-cut r1-${tone}`, d: `M${x.toFixed(1)} ${y}l-5 ${8 * up}h10Z` }),
    h(
      "text",
      {
        x: left ? x + 9 : x - 9,
        y: y + (up > 0 ? 10 : -3) + up * LINE * near,
        class: `r1-plane-text r1-${tone}`,
        "text-anchor": left ? "start" : "end",
      },
      figures(value, 2),
    ),
  ];
}
