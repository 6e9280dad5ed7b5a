// The chart of the network over all x*, before and after the step, with the training pair and the probe as handles.
import { chart } from "../kit/chart.js";
import { h } from "../kit/dom.js";
import { handle } from "../kit/handle.js";
import { fixed } from "../kit/number.js";
import { cutMark, cutsOf, RANGE } from "./cuts.js";
import { GRID } from "./observe.js";
import { Y_RANGE } from "./settings.js";

/** @import { Series } from "../kit/chart.js" */
/** @import { Point } from "../kit/handle.js" */
/** @import { Seen } from "./observe.js" */

const FRAME = { width: 560, height: 300, left: 40, right: 12, top: 10, bottom: 40 };
/** @type {Point} */
const STEP = [0.02, 0.04];
/** @type {(Series & { key: "wanted" | "table" | "before" | "after" })[]} */
const LINES = [
  { key: "wanted", label: "target f(x, y, x*)", tone: "exact", dash: "5 4" },
  { key: "table", label: "its table", tone: "law", wide: true, rare: true },
  { key: "before", label: "before the step", tone: "printed" },
  { key: "after", label: "after the step", tone: "distributed" },
];

/** @param {{ onPair(x: number, y: number): void, onProbe(x: number): void }} on */
export function createCurve({ onPair, onProbe }) {
  const { element, svg, space, draw } = chart({
    title: "The network over x*",
    caption: false,
    x: { label: "x* (and x of the training pair)", marks: [0, 0.25, 0.5, 0.75, 1] },
    y: { label: "", marks: [-2, -1, 0, 1] },
    series: LINES,
    frame: FRAME,
    interactive: true,
  });
  const common = { svg, space, x: /** @type {Point} */ ([0, 1]), y: Y_RANGE, step: STEP };
  const pair = handle({ ...common, onMove: ([x, y]) => onPair(x, y) });
  const probe = handle({ ...common, onMove: ([x]) => onProbe(x) });
  const cuts = h("g", { "aria-hidden": "true" });
  svg.append(cuts, pair.element, probe.element);
  element.classList.add("r1-curve");
  return {
    element,
    /** @type {(seen: Seen, settings: { x: number, y: number, probe: number }, words: string) => void} */
    show(shown, { x, y, probe: at }, words) {
      const lines = Object.fromEntries(LINES.map(({ key }) => [key, overGrid(shown[key])]));
      const beyond = LINES.flatMap(({ key, tone }) => cutsOf(lines[key], tone));
      draw({ lines, x: [0, 1], y: RANGE, cursor: { at }, summary: words });
      cuts.replaceChildren(...beyond.flatMap((cut, i) => cutMark(cut, space, beyond.slice(0, i))));
      pair.place({ at: [x, y], name: "Training pair: x across, y up", tone: "distributed" });
      probe.place({
        at: [at, 0],
        shown: [at, RANGE[0]],
        name: "Where to look: x*",
        words: `x* ${fixed(at)}`,
      });
    },
  };
}

/** @type {(values: number[] | null) => Point[]} */
const overGrid = (values) => (values ?? []).map((v, i) => [GRID[i], v]);
