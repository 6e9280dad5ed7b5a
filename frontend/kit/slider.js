// A labelled range input: linear, logarithmic, or over a list of values.
import { h, setText, uid } from "./dom.js";
import { definition } from "./help.js";

const POSITIONS = 200; // stops of a logarithmic slider
/** @type {(v: number, n: number) => number} */
const digits = (v, n) => Number(v.toPrecision(n));

/**
 * From `min` to `max` by `step`, or by equal ratios where the scale is "log"; or one of `values`.
 *
 * @typedef {{
 *   min?: number, max?: number, step?: number, scale?: "linear" | "log", values?: number[],
 * }} Range
 */

/** @param {Range} range */
function scaleOf({ min = 0, max = 1, step = 1, scale = "linear", values }) {
  if (values) {
    /** @param {number} v */
    const nearest = (v) =>
      values.reduce((b, w, i) => (Math.abs(w - v) < Math.abs(values[b] - v) ? i : b), 0);
    return stops(values.length - 1, (p) => values[p], nearest);
  }
  if (scale === "linear") {
    return {
      ...stops(
        max,
        (p) => digits(p, 6),
        (v) => v,
      ),
      min,
      step,
    };
  }
  const ratio = Math.log(max / min) / POSITIONS;
  return stops(
    POSITIONS,
    (p) => digits(min * Math.exp(p * ratio), 2),
    (v) => Math.round(Math.log(v / min) / ratio),
  );
}

/** @type {(max: number, value: (p: number) => number, position: (v: number) => number) => { min: number, max: number, step: number, value(p: number): number, position(v: number): number }} */
const stops = (max, value, position) => ({ min: 0, max, step: 1, value, position });

/**
 * Logarithmic sliders stop at two significant digits; `value` may be set to anything between. `help` (or `title`)
 * defines what the label names. `effect` says, under the right end of the track, what a larger value does; with `marked`
 * there is room for marks instead.
 *
 * @param {{
 *   label: string,
 *   symbol?: string | null,
 *   value: number,
 *   format?(v: number): string,
 *   onInput(v: number): void,
 *   title?: string | null,
 *   help?: string | null,
 *   name: string,
 *   marked?: boolean,
 *   effect?: string | null,
 * } & Range} options
 */
export function slider({
  label,
  symbol = null,
  value,
  format = String,
  onInput,
  title = null,
  help = title,
  name,
  marked = false,
  effect = null,
  ...range
}) {
  const id = uid();
  let scale = scaleOf(range);
  const output = h("output", { class: "r1-value", for: id });
  const input = h("input", { id, type: "range", class: "r1-range", "data-name": name });
  const { attach, className, tip } = definition(help);
  const words = h("span", { class: className }, symbol ? [h("i", {}, symbol), ` ${label}`] : label);
  const marks = marked ? { low: markOf("low"), high: markOf("high") } : null;
  const element = h(
    "div",
    { class: "r1-field" },
    h("label", { for: id }, words),
    output,
    input,
    marks ? h("div", { class: "r1-stops" }, marks.low.parts, marks.high.parts) : null,
    effect
      ? h("div", { class: "r1-stops" }, h("span", { class: "r1-effect" }, `${effect} →`))
      : null,
    tip,
  );
  attach(element, words, input);
  let current = value;
  const show = () => {
    setText(output, format(current));
    input.setAttribute("aria-valuetext", format(current));
    const share = (Number(input.value) - scale.min) / (scale.max - scale.min || 1);
    input.style.setProperty("--r1-share", `${100 * share}%`);
  };
  const place = () => {
    const { min, max, step } = scale;
    Object.assign(input, { min, max, step });
    input.value = String(scale.position(current));
    show();
  };
  /** @param {number} v */
  const take = (v) => {
    current = v;
    place();
    onInput(v);
  };
  input.addEventListener("input", () => {
    current = scale.value(Number(input.value));
    show();
    onInput(current);
  });
  let taken = 0; // share of the track under which the words of the low mark end
  /**
   * A tick under the track, a strip over what is marked, and words beside the tick. A press sets the
   * slider to the tick; `why(stop)` describes it. It is no button: between two tracks there is no room for a target, and
   * the track itself is there for keys and fingers.
   *
   * @param {"low" | "high"} side
   */
  function markOf(side) {
    let stop = 0;
    const onclick = () => {
      take(stop);
      input.focus({ preventScroll: true }); // keys go on from there
    };
    const tick = h("span", { class: `r1-stop r1-${side}`, hidden: true, onclick });
    const reach = h("span", { class: `r1-reach r1-${side}`, hidden: true });
    return {
      parts: [reach, tick],
      /** @type {(at: number | null, words: string, why: (stop: string) => string) => void} */
      show(at, words, why) {
        tick.hidden = reach.hidden = at === null;
        if (side === "low") taken = 0;
        if (at === null) return;
        const position = scale.position(at);
        stop = scale.value(position);
        tick.title = why(format(stop));
        const share = (position - scale.min) / (scale.max - scale.min || 1);
        for (const part of [tick, reach]) part.style.setProperty("--r1-share", String(share));
        if (side === "low") taken = share;
        // the words stand on the side where there is room for them
        const before = side === "low" ? share > 0.5 : share > 0.88 && taken < share - 0.12;
        tick.classList.toggle("r1-before", before);
        setText(tick, words);
      },
    };
  }

  place();
  return {
    element,
    input,
    /** @type {number} */
    get value() {
      return current;
    },
    set value(next) {
      if (next === current) return; // rounding must not pull the thumb back while it is held
      current = next;
      place();
    },
    /**
     * New bounds, the value kept where it is.
     *
     * @param {Range} next
     */
    bound(next) {
      Object.assign(range, next);
      scale = scaleOf(range);
      place();
    },
    /**
     * Marks what lies below (`low`) or above (`high`) the stop nearest to `at`; null takes the mark away.
     *
     * @type {(side: "low" | "high", at: number | null, words: string, why: (stop: string) => string) => void}
     */
    mark(side, at, words, why) {
      marks?.[side].show(at, words, why);
    },
    /** @param {boolean} off */
    set disabled(off) {
      input.disabled = off;
      element.classList.toggle("r1-off", off);
    },
  };
}
