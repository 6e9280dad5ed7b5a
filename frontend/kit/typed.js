// A labelled number that is typed: 1000000, 1e6 or 1,000,000.
import { h, setText, uid } from "./dom.js";
import { count, figures } from "./number.js";

/**
 * The number that a text stands for, or null: "1e9", "1 000 000" and "1,000,000" are numbers.
 *
 * @param {string} text
 */
export function parsed(text) {
  const plain = text.replace(/[\s,_']/g, "");
  const value = Number(plain);
  return plain !== "" && Number.isFinite(value) ? value : null;
}

/**
 * A field that calls `onInput` with each whole number between `min` and `max` as it is typed, and says what is wrong
 * with any other text.
 *
 * @param {{
 *   label: string,
 *   symbol?: string,
 *   value: number,
 *   min: number,
 *   max: number,
 *   format?(v: number): string,
 *   onInput(v: number): void,
 *   name: string,
 * }} options
 */
export function typed({ label, symbol, value, min, max, format = count, onInput, name }) {
  const [id, fault] = [uid(), uid()];
  const input = h("input", {
    id,
    type: "text",
    inputmode: "decimal",
    autocomplete: "off",
    class: "r1-typed",
    "data-name": name,
    "aria-describedby": fault,
  });
  const wrong = h("span", { id: fault, class: "r1-wrong", role: "status" });
  const words = symbol ? [h("i", {}, symbol), ` ${label}`] : [label];
  const element = h("div", { class: "r1-choice" }, h("label", { for: id }, words), input, wrong);
  let current = value;
  input.value = format(value);
  input.addEventListener("input", () => {
    const next = parsed(input.value);
    const fits = next !== null && Number.isInteger(next) && next >= min && next <= max;
    input.setAttribute("aria-invalid", String(!fits));
    setText(wrong, fits ? "" : `A whole number from ${figures(min)} to ${figures(max)}`);
    if (!fits) return;
    current = next;
    onInput(next);
  });
  input.addEventListener("change", () => {
    input.value = format(current);
    input.setAttribute("aria-invalid", "false");
    setText(wrong, "");
  });
  return {
    element,
    input,
    /** @type {number} */
    get value() {
      return current;
    },
    set value(next) {
      if (next === current) return; // the text being typed is not reformatted
      current = next;
      input.value = format(next);
      input.setAttribute("aria-invalid", "false");
      setText(wrong, "");
    },
  };
}
