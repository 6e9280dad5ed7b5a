// A lecture on paper: each question with a picture of its final state, and its answer.
import { h } from "./dom.js";
import { pictureOf } from "./picture.js";

/** @import { Preset } from "./presets.js" */

const MOMENT = 50; // milliseconds between two checks for an answer
const PATIENCE = 8000; // milliseconds to wait for an answer
const REST = 300; // milliseconds after which drawings that are coarse or delayed during motion are final

/** @param {number} milliseconds */
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/**
 * @template {object} S
 * @template F
 * @param {{
 *   presets: Preset<S, F>[],
 *   name: string,
 *   stage: HTMLElement,
 *   exhibit(preset: Preset<S, F>): void,
 *   findings(): F | null,
 * }} own
 */
export async function handout({ presets, name, stage, exhibit, findings }) {
  const root = /** @type {HTMLElement} */ (stage.closest(".r1"));
  const theme = root.dataset.r1Theme;
  root.dataset.r1Theme = "light"; // as paper is
  root.style.setProperty("--r1-ground", "#fff");
  const parts = [];
  for (const preset of presets) {
    exhibit(preset);
    let results = findings();
    for (let waited = 0; results === null && waited < PATIENCE; waited += MOMENT) {
      await pause(MOMENT);
      results = findings();
    }
    await pause(REST);
    parts.push(
      part(preset, await pictureOf([stage]), results === null ? "" : preset.after(results)),
    );
  }
  root.dataset.r1Theme = theme;
  root.style.removeProperty("--r1-ground");
  const title = h("h1", {}, document.title.split("—")[0].trim() || name);
  return h("div", { class: "r1-handout" }, title, h("p", {}, location.href), parts);
}

/** @type {(preset: Preset<any, any>, picture: HTMLCanvasElement, answer: string) => HTMLElement} */
const part = ({ name, ask }, picture, answer) =>
  h(
    "section",
    {},
    h("h2", {}, name),
    h("p", { class: "r1-handout-ask" }, ask),
    h("img", { src: picture.toDataURL(), alt: `The explorer at the end of “${name}”` }),
    h("p", {}, answer),
  );

/**
 * Prints a sheet in place of the page.
 *
 * @param {HTMLElement} sheet
 */
export function printSheet(sheet) {
  document.querySelector(".r1-handout")?.remove();
  document.body.append(sheet);
  const clear = () => sheet.remove();
  window.addEventListener("afterprint", clear, { once: true });
  window.print();
}
