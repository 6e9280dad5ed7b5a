// A figure of one idea: a chart, its controls, and the numbers to read off it.
import { within } from "../kit/address.js";
import { chart } from "../kit/chart.js";
import { h } from "../kit/dom.js";
import { createFrame, posed } from "../kit/explorer.js";
import { facts } from "../kit/readout.js";

/** @import { Rules } from "../kit/address.js" */
/** @import { Data, Drawing, Series } from "../kit/chart.js" */
/** @import { Table } from "../kit/export.js" */
/** @import { Frame, Preset } from "../kit/explorer.js" */
/** @import { Explorer } from "../kit/mount.js" */

/** The drawing of the chart, a sentence that states its content, and the numbers beside it. */
/** @typedef {{ drawing: Drawing, words: string, rows?: [string, string][], found?: number }} Shown */
/** @typedef {ReturnType<typeof chart>} Chart */
/** @typedef {{ element: Element, value: any }} Control */
/**
 * `rules` define what an address may set. `fields(settings, change)` returns the controls by the names of the
 * settings. `after(chart)` prepares drawing beyond the chart's series, and returns a function that draws it for given
 * settings.
 *
 * @template {object} S
 * @typedef {{
 *   name: string,
 *   defaults: S,
 *   rules: Rules,
 *   questions: Preset<Partial<S>, Shown>[],
 *   chart: { title: string, x: Parameters<typeof chart>[0]["x"], y: Parameters<typeof chart>[0]["y"], series: Series[], interactive?: boolean },
 *   next?(settings: S): S,
 *   fields(settings: S, change: (patch: Partial<S>) => void): Record<string, Control>,
 *   show(settings: S): Shown,
 *   after?(drawn: Chart, change: (patch: Partial<S>) => void): (settings: S) => void,
 *   python?(settings: S): string,
 * }} Sketch
 */

const FRAME = { width: 520, height: 259, left: 52, right: 14, top: 12, bottom: 43 };

/**
 * @template {object} S
 * @param {Sketch<S>} sketch
 * @param {Partial<S>} given
 * @returns {Explorer}
 */
export function createSketch(sketch, given) {
  const settle = (/** @type {Partial<S>} */ patch) => next({ ...sketch.defaults, ...given }, patch);
  /** @type {(settings: S, patch: Partial<S>) => S} */
  const next = (settings, patch) => {
    const all = { ...settings, ...patch };
    return sketch.next ? sketch.next(all) : all;
  };
  const initial = settle({});
  let shown = sketch.show(initial);
  /** @type {Frame<S, Partial<S>, Shown>} */
  const frame = createFrame({
    name: sketch.name,
    settings: initial,
    presets: posed(sketch.questions, settle),
    next,
    admits: (name, value) =>
      Object.values(sketch.rules).some((group) => name in group) &&
      within(sketch.rules)(name, value),
    stands: () => true,
    update,
    findings: () => shown,
    words: () => shown.words,
    python: sketch.python,
    data: () => table(shown.drawing.lines),
    patience: 900,
  });
  const drawn = chart({ ...sketch.chart, frame: FRAME });
  const readout = facts();
  const fields = sketch.fields(initial, frame.change);
  const more = sketch.after?.(drawn, frame.change);

  function update() {
    const { settings } = frame;
    shown = sketch.show(settings);
    for (const [name, field] of Object.entries(fields)) {
      field.value = settings[/** @type {keyof S} */ (name)];
    }
    drawn.draw({ ...shown.drawing, summary: shown.words });
    readout.show(frame.pending ? [] : (shown.rows ?? []));
    more?.(settings);
    frame.settle(false);
  }

  return frame.lay({
    className: "r1-sketch",
    stage: [drawn.element],
    controls: Object.values(fields).map(({ element }) => element),
    readouts: [h("div", {}, readout.element)],
    state: () => ({ words: shown.words, rows: shown.rows, lines: shown.drawing.lines }),
  });
}

/**
 * The points of all lines in one table, one line below the other.
 *
 * @param {Record<string, Data>} lines
 * @returns {Table}
 */
function table(lines) {
  const rows = Object.entries(lines).flatMap(([name, line]) => line.map(([x, y]) => [name, x, y]));
  return { columns: ["line", "x", "y"], rows };
}
