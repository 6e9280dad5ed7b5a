// Joins the controls, the mathematics and the pictures of the memory bench.
import { h } from "../kit/dom.js";
import { createFrame } from "../kit/explorer.js";
import { keyHelp, onKeys } from "../kit/keys.js";
import { amount, cleared, count, figures } from "../kit/number.js";
import { facts } from "../kit/readout.js";
import { onTheme } from "../kit/theme.js";
import { createLine } from "./line.js";
import { createMatrix } from "./matrix.js";
import { measure } from "./measure.js";
import { createPanel } from "./panel.js";
import { createPlanes } from "./planes.js";
import { PRESETS } from "./presets.js";
import { python } from "./python.js";
import { admits, moved, nextSettings, settingsFrom, withOffset } from "./settings.js";
import { createWay } from "./way.js";
import { here } from "./words.js";

/** @import { Frame } from "../kit/explorer.js" */
/** @import { Point } from "../kit/handle.js" */
/** @import { Explorer } from "../kit/mount.js" */
/** @import { Measured } from "./measure.js" */
/** @import { Found } from "./presets.js" */
/** @import { Patch, Settings } from "./settings.js" */

const NONE =
  "There is no X here: keys are too close for this kernel, or too few features distinguish them.";
/** @type {[string, string][]} */
const KEYS = [
  ["arrow keys", "move it, with Shift five times as far"],
  ["Page Down", "the next pair"],
  ["r", "reset"],
];
const SLIDER = "On the slider, Page Up and Page Down go from one method of writing to the next.";

/**
 * @param {object} given The settings that differ from the defaults.
 * @returns {Explorer}
 */
export function createExplorer(given) {
  const initial = Object.keys(given).length ? settingsFrom(given) : PRESETS[0].set;
  let shown = measure(initial);
  let chosen = -1; // the pair that was touched last, -1 for none
  /** @type {Frame<Settings, Patch, Found>} */
  const frame = createFrame({
    name: "bench",
    settings: initial,
    presets: PRESETS,
    next: nextSettings,
    admits,
    stands: ({ count }) => count === undefined, // the questions name the number of pairs
    update,
    findings: () => ({ ...shown, Y: frame.settings.Y, divide: frame.settings.divide }),
    words,
    patience: 400,
    python,
    data: () => table(shown),
  });
  /** @type {(i: number, at: Point) => void} */
  const onMove = (i, at) => frame.change({ pairs: moved(frame.settings, i, at) });
  const line = createLine(onMove);
  const planes = createPlanes(onMove);
  const way = createWay(initial, (at) => frame.change({ way: at }));
  const matrix = createMatrix();
  const bill = facts();
  const panel = createPanel(initial, frame.change, (off) =>
    frame.change({ pairs: withOffset(frame.settings, Math.max(chosen, 0), off) }),
  );
  const pictures = h("div", { class: "r1-bench-pictures" }, line.element, planes.element);
  let unwatch = /** @type {(() => void) | null} */ (null);

  pictures.addEventListener("focusin", ({ target }) => {
    const id = target instanceof Element ? target.getAttribute("data-handle") : null;
    if (!id) return;
    chosen = Number(id.slice(1));
    panel.show(frame.settings, chosen);
  });

  function update() {
    const { settings, pending } = frame;
    shown = measure(settings);
    chosen = Math.min(chosen, settings.pairs.length - 1);
    panel.show(settings, chosen);
    way.show(settings, shown, pending);
    matrix.show(shown.seen, shown.largest);
    bill.show(rows(settings, shown));
    draw();
    for (const part of [matrix, bill]) part.element.classList.toggle("r1-veiled", pending);
    frame.settle(false);
  }

  function draw() {
    const isFlat = frame.settings.view === "line";
    line.element.hidden = !isFlat;
    planes.element.hidden = isFlat;
    (isFlat ? line : planes).show(shown, chosen, frame.pending);
  }

  function words() {
    if (frame.pending) return "The reading is drawn once you have guessed.";
    return shown.X ? here(frame.settings) : NONE;
  }

  const laid = frame.lay({
    className: "r1-bench",
    stage: [pictures, way.legend, way.element, frame.status],
    controls: panel.first,
    readouts: [matrix.element, bill.element],
    more: [h("div", { class: "r1-fields" }, panel.more), keyHelp("a pair", KEYS, [SLIDER])],
    onkeydown: onKeys({ r: frame.reset }),
    state: () => {
      const { field, S, ...rest } = shown;
      return { ...rest, curve: Array.from(rest.curve ?? []), read: Array.from(rest.read ?? []) };
    },
    close: () => unwatch?.(),
  });
  return {
    ...laid,
    begin(play) {
      laid.begin(play);
      unwatch ??= onTheme(laid.element, draw);
    },
  };
}

/** @type {(settings: Settings, shown: Measured) => [string, string][]} */
function rows({ view, Y, divide, way }, { keys, largest, rho, bound, condition, cost, law }) {
  const each = view === "line" ? 2 : 3;
  const ones = divide && way > 0 ? 1 : 0; // written at once they are all 1, and are not stored
  const numbers = Y ? 2 * Y * (divide ? 2 : 1) : keys.length * (each + ones);
  /** @type {[string, string][]} */
  const all = [
    ["Largest interference", amount(cleared(largest), 2)],
    ["Largest sum of overlaps, ρ", amount(rho, 2)],
    [
      "Written values, at once − exact, at most",
      rho < 1 && !divide ? `${figures(bound, 2)} of the largest value` : "no bound",
    ],
    ["Condition of S", condition < 1e12 ? amount(condition, 2) : "above 10¹²"],
    ["Stored, in float32", `${count(4 * numbers)} bytes`],
  ];
  if (!Y) return all;
  return [
    ...all,
    ["Error from the features", amount(cost, 2)],
    ["… predicted (divided, at once)", law === null ? "does not apply" : amount(law, 2)],
  ];
}

/** @param {Measured} shown */
function table({ keys, values, read }) {
  return {
    columns: ["pair", "x", "y", "stored", "read"],
    rows: keys.map(([x, y], i) => [i + 1, x, y, values[i], read ? read[i] : null]),
  };
}
