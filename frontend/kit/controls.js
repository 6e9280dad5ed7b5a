// Buttons, switches and choices.
import { h, uid } from "./dom.js";
import { definition } from "./help.js";

/** @import { Attributes, Child } from "./dom.js" */

const ICONS = {
  play: "M4 2.5v11l9-5.5z",
  pause: "M4 2.5h3v11H4zM9 2.5h3v11H9z",
  step: "M3 2.5v11l7-5.5zM11 2.5h2v11h-2z",
  start: "M13 2.5v11L6 8zM3 2.5h2v11H3z",
  reset: "M8 3V.5L4 4l4 3.5V5a4 4 0 1 1-4 4H2a6 6 0 1 0 6-6z",
  undo: "M6 2L1.5 6 6 10V7.2h4a2.4 2.4 0 0 1 0 4.8H5v2h5a4.4 4.4 0 0 0 0-8.8H6z",
  redo: "M10 2l4.5 4L10 10V7.2H6a2.4 2.4 0 0 0 0 4.8h5v2H6a4.4 4.4 0 0 1 0-8.8h4z",
  share: "M8 1l4 4H9v5H7V5H4zM2 8h2v5h8V8h2v7H2z",
  hall: "M1 2h14v9H1zm2 2v5h10V4zM7 11h2v2h3v2H4v-2h3z",
  dice: "M3 2h10a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V3a1 1 0 0 1 1-1zm2 2v2h2V4zm4 5v2h2V9z",
};

/** @param {keyof typeof ICONS} name */
export const icon = (name) =>
  h(
    "svg",
    { viewBox: "0 0 16 16", class: "r1-icon", "aria-hidden": "true" },
    h("path", { d: ICONS[name] }),
  );

/**
 * A button with words, or with an icon and a spoken label.
 *
 * @param {{
 *   label: string,
 *   icon?: keyof typeof ICONS | null,
 *   text?: boolean,
 *   onClick(): void,
 *   title?: string,
 *   [attribute: string]: Attributes[string],
 * }} options
 */
export function button({
  label,
  icon: name = null,
  text = !name,
  onClick,
  title = label,
  ...more
}) {
  const element = h(
    "button",
    {
      type: "button",
      class: "r1-button",
      title,
      "aria-label": text ? null : label,
      onclick: () => onClick(),
      ...more,
    },
    name ? icon(name) : null,
    text ? label : null,
  );
  return element;
}

/**
 * A button that returns to the first question.
 *
 * @param {() => void} onClick
 */
export const resetButton = (onClick) =>
  button({ label: "Reset", icon: "reset", text: true, onClick, "data-name": "reset" });

/**
 * A switch that is on or off.
 *
 * @param {{
 *   label: string,
 *   value: boolean,
 *   onInput(on: boolean): void,
 *   name: string,
 *   title?: string | null,
 *   help?: string | null,
 * }} options
 */
export function toggle({ label, value, onInput, name, title = null, help = title }) {
  const input = h("input", {
    type: "checkbox",
    "data-name": name,
    onchange: () => onInput(input.checked),
  });
  input.checked = value;
  const { attach, className, tip } = definition(help);
  const words = h("span", { class: className }, label);
  const element = h("div", { class: "r1-check" }, h("label", {}, input, words), tip);
  attach(element, words, input);
  return {
    element,
    input,
    get value() {
      return input.checked;
    },
    set value(on) {
      input.checked = on;
    },
  };
}

/**
 * A labelled choice; options are [value, label] pairs.
 *
 * @param {{
 *   label: string,
 *   options: [value: string | number, label: string][],
 *   value: string | number,
 *   onInput(value: string): void,
 *   name: string,
 *   title?: string | null,
 *   help?: string | null,
 * }} options
 */
export function select({ label, options, value, onInput, name, title = null, help = title }) {
  const id = uid();
  const input = h("select", { id, "data-name": name, onchange: () => onInput(input.value) });
  /** @param {[value: string | number, label: string][]} pairs */
  const fill = (pairs) => {
    input.replaceChildren(...pairs.map(([v, text]) => h("option", { value: v }, text)));
  };
  fill(options);
  input.value = String(value);
  const { attach, className, tip } = definition(help);
  const words = h("span", { class: className }, label);
  const element = h("div", { class: "r1-choice" }, h("label", { for: id }, words), input, tip);
  attach(element, words, input);
  return {
    element,
    input,
    /** @type {string | number} */
    get value() {
      return input.value;
    },
    set value(next) {
      input.value = String(next);
    },
    /**
     * Replaces the options. The choice stays if it is among them.
     *
     * @param {[value: string | number, label: string][]} pairs
     * @param {string | number} [next]
     */
    offer(pairs, next = input.value) {
      fill(pairs);
      input.value = String(next);
    },
  };
}

/**
 * A row of buttons of which at most one is pressed: `value` is its key, or null.
 *
 * @template {string} K
 * @param {{
 *   label: string, options: [key: K, words: string][], value: K | null, onInput(key: K | null): void,
 * }} options
 */
export function segments({ label, options, value, onInput }) {
  const buttons = options.map(([key, text]) =>
    h(
      "button",
      { type: "button", class: "r1-segment", onclick: () => pick(key === now ? null : key) },
      text,
    ),
  );
  let now = value;
  const show = () => {
    buttons.forEach((b, i) => {
      b.setAttribute("aria-pressed", String(options[i][0] === now));
    });
  };
  /** @param {K | null} key */
  const pick = (key) => {
    now = key;
    show();
    onInput(key);
  };
  show();
  return {
    element: h("div", { class: "r1-segments", role: "group", "aria-label": label }, buttons),
    /** @type {K | null} */
    get value() {
      return now;
    },
    set value(key) {
      now = key;
      show();
    },
  };
}

/**
 * A titled section of fields.
 *
 * @param {string} title
 * @param {Child} children
 * @param {string} [className]
 */
export function group(title, children, className = "") {
  const id = uid();
  return h(
    "section",
    { class: `r1-group ${className}`, "aria-labelledby": id },
    h("div", { id, class: "r1-title" }, title),
    h("div", { class: "r1-fields" }, children),
  );
}

/**
 * Elements of controls, by their names.
 *
 * @template {Record<string, { element: Element }>} C
 * @param {C} controls
 */
export const elementsOf =
  (controls) =>
  (/** @type {(keyof C)[]} */ ...names) =>
    names.map((name) => controls[name].element);

/**
 * Writes settings into the controls that have their names.
 *
 * @template {Record<string, { value: unknown }>} C
 * @param {C} controls
 * @param {{ [K in keyof C]: C[K]["value"] }} settings
 */
export function fill(controls, settings) {
  for (const name in controls) controls[name].value = settings[name];
}
