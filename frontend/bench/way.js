// The slider for the method of writing, with four methods marked on it, and above it the errors at each position.
import { h, setAttributes, setText } from "../kit/dom.js";
import { pathOf } from "../kit/line.js";
import { amount, cleared } from "../kit/number.js";
import { slider } from "../kit/slider.js";
import { MARKS } from "./math/writing.js";
import { POSITIONS, STEP } from "./measure.js";
import { formula, HELP, NAMES, resultOf } from "./words.js";

/** @import { Point } from "../kit/handle.js" */
/** @import { Way } from "./math/writing.js" */
/** @import { Errors, Measured } from "./measure.js" */
/** @import { Settings } from "./settings.js" */

const [WIDE, HIGH] = [300, 60]; // the drawing is stretched to the slider
const TOP = 1.5; // times the error of an empty memory: larger errors are drawn at the edge
/** @type {[name: "stored" | "unseen", tone: string, words: string][]} */
const LINES = [
  ["stored", "distributed", "at stored keys"],
  ["unseen", "law", "at unseen keys"],
];

/** @type {(at: number, value: number) => Point} */
const pixel = (at, value) => [(WIDE * at) / 3, HIGH - 1 - (HIGH - 2) * Math.min(value / TOP, 1)];

/**
 * @param {Settings} settings
 * @param {(way: number) => void} onWay
 */
export function createWay(settings, onWay) {
  let shown = settings;
  const field = slider({
    name: "way",
    label: "how the pairs are written",
    value: settings.way,
    min: 0,
    max: 3,
    step: STEP,
    format: (way) => formula({ ...shown, way }),
    onInput: onWay,
    help: HELP,
  });
  const { input } = field;
  input.addEventListener("keydown", (event) => {
    const turn = { PageUp: 1, PageDown: -1 }[event.key];
    if (!turn) return;
    event.preventDefault();
    event.stopPropagation();
    const next = turn > 0 ? Math.floor(field.value + 1e-9) + 1 : Math.ceil(field.value - 1e-9) - 1;
    onWay(Math.min(3, Math.max(0, next)));
  });

  const paths = LINES.map(([, tone]) => h("path", { class: `r1-line r1-${tone}` }));
  const cursor = h("line", { class: "r1-cursor", y1: 0, y2: HIGH });
  const [, level] = pixel(0, 1);
  const picture = h(
    "svg",
    { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", role: "img" },
    h("line", { class: "r1-empty", x1: 0, x2: WIDE, y1: level, y2: level }),
    MARKS.map(([, at]) => {
      const [x] = pixel(at, 0);
      return h("line", { class: "r1-mark", x1: x, x2: x, y1: 0, y2: HIGH });
    }),
    cursor,
    paths,
  );
  const numbers = LINES.map(() => h("b"));
  const legend = h(
    "p",
    { class: "r1-errors" },
    "Error",
    LINES.map(([, tone, words], i) =>
      h("span", { class: `r1-error r1-${tone}` }, h("i"), words, " ", numbers[i]),
    ),
    h("span", { class: "r1-muted" }, "dotted: unseen, answer 0"),
  );
  const marks = MARKS.map(([way, at]) => ({ way, at, ...markOf(way, () => onWay(at)) }));
  const row = h(
    "div",
    { class: "r1-marks", role: "group", "aria-label": "Ways to write" },
    marks.map(({ element }) => element),
  );
  input.before(h("div", { class: "r1-along" }, picture));
  input.after(row);
  field.element.classList.add("r1-way");

  return {
    element: field.element,
    legend,
    /** @type {(settings: Settings, measured: Measured, veiled: boolean) => void} */
    show(next, { along, empty, errors }, veiled) {
      const isOther = next.rounds !== shown.rounds || next.omega !== shown.omega;
      shown = next;
      field.value = next.way;
      if (isOther) field.bound({ min: 0, max: 3, step: STEP }); // the formula changes at the same place
      const [x] = pixel(next.way, 0);
      setAttributes(cursor, { x1: x, x2: x });
      picture.classList.toggle("r1-veiled", veiled);
      legend.classList.toggle("r1-veiled", veiled);
      LINES.forEach(([name, , words], i) => {
        paths[i].setAttribute("d", pathOf(points(along, name, empty)));
        setText(numbers[i], errorText(errors?.[name]));
        if (i === 0) picture.setAttribute("aria-label", summary(next, errors, words));
      });
      for (const { way, at, element, result } of marks) {
        element.setAttribute("aria-pressed", String(Math.abs(next.way - at) < 1e-9));
        setText(result, resultOf(way, next));
      }
    },
  };
}

/** @type {(way: Way, onClick: () => void) => { element: HTMLElement, result: HTMLElement }} */
function markOf(way, onClick) {
  const result = h("span", { class: "r1-result" });
  const attributes = { type: "button", class: "r1-mark-button", "data-way": way };
  return { element: h("button", { ...attributes, onclick: onClick }, NAMES[way], result), result };
}

/** @type {(along: (Errors | null)[], name: "stored" | "unseen", empty: number) => (Point | null)[]} */
const points = (along, name, empty) =>
  along.map((errors, i) => {
    const value = errors?.[name];
    return value === undefined || !Number.isFinite(value)
      ? null
      : pixel(POSITIONS[i], value / empty);
  });

/** @type {(settings: Settings, errors: Errors | null, words: string) => string} */
const summary = (settings, errors, words) =>
  errors
    ? `Errors along the slider. Here, ${formula(settings)}: ${errorText(errors.stored)} ${words}, ${errorText(errors.unseen)} at unseen keys.`
    : "Errors along the slider. Here there is no X.";

/** @param {number | undefined} error */
const errorText = (error) => amount(cleared(error ?? null), 2);
