// E and Ê side by side: shades and level lines, both runs, the tube, and the points that the reader drags.
import { h } from "../kit/dom.js";
import { plane, square } from "../kit/plane.js";
import { captioned } from "../kit/readout.js";
import { isDark } from "../kit/theme.js";
import { tablesOf } from "../math/plane/estimate.js";
import { drawPath, drawTube, ground } from "./ground.js";
import { REACH } from "./settings.js";

/** @import { Point } from "../kit/handle.js" */
/** @import { Scene } from "../kit/plane.js" */
/** @import { Tables } from "../math/plane/estimate.js" */
/** @import { Consequences, Settings } from "./settings.js" */

/**
 * The content on show. `veiled` is true while the reader has yet to predict, because the runs would give the answer.
 *
 * @typedef {{ settings: Settings, shown: Consequences, veiled: boolean }} Now
 */

const REST = 180; // milliseconds without a change after which the picture is drawn finely
const WORK = { coarse: 8e5, fine: 2e7 }; // multiplications for one picture: ticks² × Y
const ENDS = { coarse: [21, 61], fine: [41, 111] }; // fewest and most ticks per axis

/**
 * The plane of E, and that of Ê if `two` is true. `onMove` is called with the place to which the reader has moved the
 * query or the i-th pattern.
 *
 * @param {{ two: boolean, onMove(moved: { query: Point } | { pattern: [number, Point] }): void }} options
 */
export function createPlanes({ two, onMove }) {
  const [first, ...rest] = (two ? ["E", "Ê"] : ["E"]).map((name) => createPlane(name, onMove));
  const all = [first, ...rest];
  let timer = 0;
  let frame = 0;
  /** @type {Now | null} */
  let now = null;
  const keys = { exact: "", copy: "" };
  /** @type {{ key: string, tables: Tables } | null} */
  let latest = null; // the tables of the copy that was drawn last

  /** @type {(settings: Settings, ticks: Float64Array, copy: NonNullable<Consequences["copy"]>) => Float64Array} */
  function estimated({ beta, basis, Y, seed }, ticks, copy) {
    const key = `${beta} ${basis} ${Y} ${seed} ${ticks.length}`;
    if (key !== latest?.key) {
      latest = { key, tables: tablesOf({ ticks, beta, basis, frequencies: copy.frequencies }) };
    }
    return copy.field(ticks, latest.tables);
  }

  /** @param {"coarse" | "fine"} how */
  function paint(how) {
    if (!now) return;
    const { settings, shown } = now;
    const { least } = shown;
    const dark = isDark();
    const { patterns, beta, basis, Y, seed } = settings;
    const key = JSON.stringify([patterns, beta, how, dark]);
    if (key !== keys.exact) {
      const ticks = ticksOf(ENDS[how][1]);
      const energies = shown.exact.field(ticks);
      const field = { energies, n: ticks.length, least, unknown: Number.POSITIVE_INFINITY };
      first.ground.paint(field, dark, how === "fine");
      keys.exact = key;
    }
    const { copy } = shown;
    const other = JSON.stringify([key, basis, Y, seed]);
    if (copy && rest[0] && other !== keys.copy) {
      const [fewest, most] = ENDS[how];
      const ticks = ticksOf(Math.max(fewest, Math.min(most, Math.sqrt(WORK[how] / Y))));
      const energies = estimated(settings, ticks, copy);
      const field = { energies, n: ticks.length, least, unknown: copy.energyOf(copy.floor) };
      rest[0].ground.paint(field, dark, how === "fine");
      keys.copy = other;
    }
    for (const one of all) one.ground.draw((context) => over(context, now, one.element));
  }

  const resized = new ResizeObserver(() => paint("fine"));
  resized.observe(first.ground.element);

  return {
    element: h(
      "div",
      { class: two ? "r1-planes" : "r1-planes r1-single" },
      all.map(({ figure }) => figure),
    ),
    /** @type {(settings: Settings, shown: Consequences, veiled: boolean) => void} */
    show(settings, shown, veiled) {
      now = { settings, shown, veiled };
      for (const one of all) one.plane.show(sceneOf(settings));
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        paint("coarse");
      });
      clearTimeout(timer);
      timer = Number(setTimeout(() => paint("fine"), REST));
    },
    redraw: () => paint("fine"),
    close() {
      resized.disconnect();
      clearTimeout(timer);
      cancelAnimationFrame(frame);
    },
  };
}

/** @param {number} n */
const ticksOf = (n) => {
  const count = Math.floor(n);
  return Float64Array.from({ length: count }, (_, i) => REACH * ((2 * i) / (count - 1) - 1));
};

const SIDE = square(REACH);

/**
 * @param {string} name
 * @param {(moved: { query: Point } | { pattern: [number, Point] }) => void} onMove
 */
function createPlane(name, onMove) {
  const own = plane({
    label: `Landscape of ${name}: the query and the patterns can be moved`,
    reach: REACH,
    onMove(id, at) {
      if (id === "query") onMove({ query: at });
      else onMove({ pattern: [Number(id.slice(1)), at] });
    },
  });
  const under = ground(SIDE.size);
  const element = h("div", { class: "r1-landscape" }, under.element, own.element);
  const words = name === "E" ? "E, from the patterns" : "Ê, from one vector";
  return { plane: own, ground: under, element, figure: captioned(words, element).element };
}

/** @type {(settings: Settings) => Scene} */
function sceneOf({ patterns, query }) {
  return {
    handles: [
      ...patterns.map((at, i) => ({
        id: `p${i}`,
        at,
        name: `Pattern ${i + 1} of ${patterns.length}`,
        tone: "ink",
        r: 6,
        group: "patterns",
      })),
      { id: "query", at: query, name: "Query", tone: "local", r: 8 },
    ],
    texts: [{ at: query, text: "x", tone: "local", dx: 10, dy: -8 }],
  };
}

/** @type {(context: CanvasRenderingContext2D, now: Now | null, place: Element) => void} */
function over(context, now, place) {
  if (!now || now.veiled) return;
  const style = getComputedStyle(place);
  const colour = (/** @type {string} */ name) => style.getPropertyValue(`--r1-${name}`).trim();
  const { runs } = now.shown;
  const pixels = (/** @type {Point[]} */ points) => points.map((p) => SIDE.space.toPixel(p));
  if (now.settings.view === "tube") {
    const wide = 4 * REACH;
    const discs = runs.exact.map((at, t) => ({
      at: SIDE.space.toPixel(at),
      r: SIDE.scale * Math.min(wide, runs.tube[t]),
    }));
    drawTube(context, discs, colour("law"));
  }
  drawPath(context, { colour: colour("exact"), points: pixels(runs.exact) });
  if (runs.copy.length > 0) {
    drawPath(context, { colour: colour("distributed"), points: pixels(runs.copy) }, 1.8);
  }
}
