// A labelled range input: linear, logarithmic, or over a list of values.
import { h, setText, uid } from "./dom.js";
import { definition } from "./help.js";

const POSITIONS = 200; // equal parts of a logarithmic slider's track
/** @type {(v: number, n: number) => number} */
const digits = (v, n) => Number(v.toPrecision(n));

/**
 * From `min` to `max` by `step` or, with the scale "log", by equal ratios; or one of `values`.
 *
 * @typedef {{
 *   min?: number, max?: number, step?: number, scale?: "linear" | "log", values?: number[],
 * }} Range
 */

/**
 * The name of a part of the track, and its description, given the stop that a press on the name sets.
 *
 * @typedef {{ word: string, why(stop: string): string }} Stretch
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
 * defines what the label names. `effect` says, under the right end of the track, what a larger value does; `stretches`
 * names parts of the track instead.
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
 *   stretches?: { low: Stretch, between: Stretch, high: Stretch } | null,
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
  stretches = null,
  effect = null,
  ...range
}) {
  const id = uid();
  let scale = scaleOf(range);
  const output = h("output", { class: "r1-value", for: id });
  const input = h("input", { id, type: "range", class: "r1-range", "data-name": name });
  const { attach, className, tip } = definition(help);
  const words = h("span", { class: className }, symbol ? [h("i", {}, symbol), ` ${label}`] : label);
  const named = stretches && {
    low: stretchOf(stretches.low, "low"),
    between: stretchOf(stretches.between, "between"),
    high: stretchOf(stretches.high, "high"),
  };
  const element = h(
    "div",
    { class: "r1-field" },
    h("label", { for: id }, words),
    output,
    input,
    named
      ? h("div", { class: "r1-stops" }, named.low.band, named.between.band, named.high.band)
      : null,
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
  /**
   * The name of a stretch of the track, under the track. A press on the name sets the slider into the stretch. The name
   * is not a button, because two tracks have no room for a target between them; keys and fingers can use the track.
   *
   * @param {Stretch} stretch
   * @param {"low" | "between" | "high"} side
   */
  function stretchOf({ word, why }, side) {
    let stop = 0;
    const onclick = () => {
      take(stop);
      input.focus({ preventScroll: true }); // keys go on from there
    };
    const band = h("span", { class: `r1-stretch r1-${side}`, hidden: true, onclick }, word);
    /** @param {number} position */
    const share = (position) => String((position - scale.min) / (scale.max - scale.min || 1));
    return {
      band,
      /** Takes the stretch's first and last position, and that of a press; null hides it. @type {(at: [number, number, number] | null) => void} */
      show(at) {
        band.hidden = at === null;
        if (at === null) return;
        stop = scale.value(at[2]);
        band.title = why(format(stop));
        band.style.setProperty("--r1-from", share(at[0]));
        band.style.setProperty("--r1-to", share(at[1]));
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
      if (next === current) return; // rounding must not pull the thumb back during a drag
      current = next;
      place();
    },
    /**
     * Sets new bounds without changing the value.
     *
     * @param {Range} next
     */
    bound(next) {
      Object.assign(range, next);
      scale = scaleOf(range);
      place();
    },
    /**
     * Names the stretches of the track: up to `low`, from `high` on, and between them if there is such a stretch. Null
     * is a border that is not known; its two stretches have no name.
     *
     * @type {(low: number | null, high: number | null) => void}
     */
    stretch(low, high) {
      if (!named) return;
      const { min, max } = scale;
      const from = low === null ? min : scale.position(low);
      const to = high === null ? max : Math.max(from, scale.position(high));
      const middle = Math.round((from + to) / 2);
      named.low.show(low === null || from <= min ? null : [min, from, from]);
      named.high.show(high === null || to >= max ? null : [to, max, to]);
      named.between.show(low === null || high === null || to <= from ? null : [from, to, middle]);
    },
    /** @param {boolean} off */
    set disabled(off) {
      input.disabled = off;
      element.classList.toggle("r1-off", off);
    },
  };
}
