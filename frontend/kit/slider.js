// A labelled range input: linear, logarithmic, or over a list of values.
import { h, setText, uid } from "./dom.js";

const POSITIONS = 200; // stops of a logarithmic slider
const digits = (v, n) => Number(v.toPrecision(n));

function scaleOf({ min, max, step = 1, scale = "linear", values = null }) {
  if (values) {
    const nearest = (v) =>
      values.reduce((b, w, i) => (Math.abs(w - v) < Math.abs(values[b] - v) ? i : b), 0);
    return { min: 0, max: values.length - 1, step: 1, value: (p) => values[p], position: nearest };
  }
  if (scale === "linear") return { min, max, step, value: (p) => digits(p, 6), position: (v) => v };
  const ratio = Math.log(max / min) / POSITIONS;
  return {
    min: 0,
    max: POSITIONS,
    step: 1,
    value: (p) => digits(min * Math.exp(p * ratio), 2),
    position: (v) => Math.round(Math.log(v / min) / ratio),
  };
}

/**
 * slider({ label, symbol, min, max, step, scale, value, format, onInput, title }).
 * Logarithmic sliders stop at two significant digits; `value` may be set to anything between.
 */
export function slider({
  label,
  symbol = null,
  value,
  format = String,
  onInput,
  title = null,
  name,
  ...range
}) {
  const id = uid();
  let scale = scaleOf(range);
  const output = h("output", { class: "r1-value", for: id });
  const input = h("input", { id, type: "range", class: "r1-range", "data-name": name });
  const element = h(
    "div",
    { class: "r1-field", title },
    h("label", { for: id }, symbol ? [h("i", {}, symbol), ` ${label}`] : label),
    output,
    input,
  );
  let current = value;
  const show = () => {
    setText(output, format(current));
    input.setAttribute("aria-valuetext", format(current));
    const share = (input.value - scale.min) / (scale.max - scale.min || 1);
    input.style.setProperty("--r1-share", `${100 * share}%`);
  };
  const place = () => {
    Object.assign(input, { min: scale.min, max: scale.max, step: scale.step });
    input.value = scale.position(current);
    show();
  };
  input.addEventListener("input", () => {
    current = scale.value(Number(input.value));
    show();
    onInput(current);
  });
  place();
  return {
    element,
    input,
    get value() {
      return current;
    },
    set value(next) {
      if (next === current) return; // rounding must not pull the thumb back while it is held
      current = next;
      place();
    },
    /** New bounds, the value kept where it is. */
    bound(next) {
      Object.assign(range, next);
      scale = scaleOf(range);
      place();
    },
    set disabled(off) {
      input.disabled = off;
      element.classList.toggle("r1-off", off);
    },
  };
}
