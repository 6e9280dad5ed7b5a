// Lecture mode: an explorer question by question, with a guess before each answer. Keys alone are enough to control it.
import { inOrder, lectureIn } from "./address.js";
import { button } from "./controls.js";
import { h, setText } from "./dom.js";
import { handout, printSheet } from "./handout.js";

/** @import { Asking } from "./asking.js" */
/** @import { Preset } from "./presets.js" */

const OWN_ARROWS = "input, select, textarea, [role=slider], [role=menuitem]";
const KEYS =
  "→ and ← or Page Down and Page Up: next and back; 1 to 3: a guess; f: full screen; Esc: leave";

/**
 * `choose(preset)` poses a question; `exhibit(preset)` shows its final state at once, without a step in the history.
 *
 * @template {object} S
 * @template F
 * @param {{
 *   element: HTMLElement,
 *   stage: HTMLElement,
 *   name: string,
 *   presets: Preset<S, F>[],
 *   asking: Asking<S, F>,
 *   choose(preset: Preset<S, F>): void,
 *   exhibit(preset: Preset<S, F>): void,
 *   findings(): F | null,
 * }} own
 */
export function createLecture({ element, presets, asking, choose, ...own }) {
  let order = presets;
  let at = 0;
  const mark = document.createComment("an explorer in lecture mode");
  const where = h("span", { class: "r1-where", role: "status" });
  /** @type {(label: string, name: string, onClick: () => void, title?: string) => HTMLButtonElement} */
  const press = (label, name, onClick, title = label) =>
    button({ label, title, onClick, "data-hall": name });
  const bar = h(
    "div",
    { class: "r1-hall-bar" },
    press("←", "back", () => pose(at - 1), "Back"),
    where,
    press("→", "on", on, "Next: the answer, then the next question"),
    h("span", { class: "r1-hall-keys" }, KEYS),
    press("Full screen", "full", toggleFull),
    press("Print a handout", "print", () => void print()),
    press("Leave", "leave", leave),
  );
  const page = h("div", { class: "r1-hall-page", tabindex: -1 });
  const dialog = h("dialog", { class: "r1-hall", "aria-label": "Lecture" }, page);
  dialog.addEventListener("close", leave);

  /** @param {number} next */
  function pose(next) {
    if (next < 0 || next >= order.length) return;
    at = next;
    choose(order[at]);
    tell();
    page.focus();
  }

  const tell = () => setText(where, `Question ${at + 1} of ${order.length}`);

  /** Shows the answer if the question still waits for a guess, else poses the next question. */
  function on() {
    if (asking.asked) asking.decide(null);
    else pose(at + 1);
    page.focus();
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const target = /** @type {Element} */ (event.target);
    if ((event.ctrlKey || event.metaKey) && event.key === "p")
      return take(event, () => void print());
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") return take(event, leave);
    if (event.key === "PageDown") return take(event, on);
    if (event.key === "PageUp") return take(event, () => pose(at - 1));
    if (target.matches(OWN_ARROWS)) return;
    if (event.key === "ArrowRight") return take(event, on);
    if (event.key === "ArrowLeft") return take(event, () => pose(at - 1));
    if (event.key === "f") return take(event, toggleFull);
    const guess = asking.preset?.predict?.options[Number(event.key) - 1];
    if (guess && asking.asked) take(event, () => asking.decide(guess[0]));
  }

  /** @type {(event: Event, action: () => void) => void} */
  function take(event, action) {
    event.preventDefault();
    event.stopPropagation();
    action();
  }

  function toggleFull() {
    if (document.fullscreenElement) void document.exitFullscreen();
    else page.requestFullscreen?.().catch(() => {}); // where this is not allowed, the dialog fills the page
  }

  /** Leaves the lecture when full screen ends, because Escape in full screen sends no key event. */
  const onFull = () => {
    if (!document.fullscreenElement) leave();
  };

  /** @param {string[]} [keys] Keys of the questions, in order; all questions if no key is known. */
  function open(keys = []) {
    if (dialog.open) return;
    const root = /** @type {HTMLElement} */ (element.parentElement);
    order = inOrder(presets, keys);
    root.style.minHeight = `${root.offsetHeight}px`; // the page below does not move
    element.replaceWith(mark);
    page.replaceChildren(element, bar);
    root.append(dialog);
    document.addEventListener("keydown", onKey, true);
    document.addEventListener("fullscreenchange", onFull);
    dialog.showModal();
    pose(0);
  }

  function leave() {
    if (!mark.isConnected) return;
    document.removeEventListener("keydown", onKey, true);
    document.removeEventListener("fullscreenchange", onFull);
    if (document.fullscreenElement) void document.exitFullscreen();
    const root = /** @type {HTMLElement} */ (dialog.parentElement);
    mark.replaceWith(element);
    dialog.close();
    dialog.remove();
    root.style.minHeight = "";
    /** @type {HTMLElement | null} */ (element.querySelector("[data-name=hall]"))?.focus();
  }

  async function print() {
    setText(where, "Drawing the handout …");
    const sheet = await handout({ ...own, presets: order });
    pose(at);
    printSheet(sheet);
  }

  return {
    /** Opens the lecture from its button, in full screen if the page may. */
    start() {
      open();
      toggleFull();
    },
    /** Opens the lecture that the page's address requests, if any. */
    read() {
      const keys = lectureIn(location.search, own.name);
      if (keys) open(keys);
    },
    close: leave,
  };
}
