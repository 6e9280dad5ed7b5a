// The opened machine shows, level by level, what the vector does with the current state. It replaces the two memories.
import { reducedMotion } from "../kit/clock.js";
import { button } from "../kit/controls.js";
import { h, setText } from "../kit/dom.js";
import { count } from "../kit/number.js";
import { createLevels, italic } from "./machinelevels.js";
import { LEVELS, OTHER_BASIS, sentenceOf, WAITING } from "./machinewords.js";

/** @import { Look } from "./machinestates.js" */
/** @import { Context } from "./machinewords.js" */

const MOTION = { duration: 260, easing: "ease-out" };

/**
 * `look(frequency)` asks for the step on show, taken apart. `context()` describes the memory, or returns null if its
 * features are not sincos. `take(first)` takes the next step, or goes back to the first. `changed(level)` is called
 * with each new level, −1 when the machine closes.
 *
 * @param {{
 *   look(frequency: number): Promise<Look | null>,
 *   context(): Context | null,
 *   take(first: boolean): void,
 *   changed(level: number): void,
 * }} on
 */
export function createMachine(on) {
  let level = -1; // closed
  let frequency = 0;
  let [asking, again] = [false, false];
  /** @type {Look | null} */
  let shown = null;
  const levels = createLevels({ inner: () => enter(level + 1), take: on.take });
  const crumbs = h("ol", { class: "r1-crumbs" });
  const words = h("p", { class: "r1-machine-words" });
  const which = h("span", { class: "r1-value" });
  const body = h(
    "div",
    { class: "r1-machine-body" },
    levels.map(({ element }) => element),
  );
  /** @type {(label: string, text: string, onclick: () => void) => HTMLElement} */
  const small = (label, text, onclick) =>
    h(
      "button",
      { type: "button", class: "r1-button", title: label, "aria-label": label, onclick },
      text,
    );
  const element = h(
    "section",
    {
      ...{ class: "r1-machine", hidden: true, tabindex: 0, role: "group", onkeydown },
      "aria-label":
        "Inside the vector. Enter goes in, Escape goes out, arrow keys choose a frequency.",
    },
    h(
      "header",
      {},
      h("nav", { "aria-label": "Levels" }, crumbs),
      h(
        "div",
        { class: "r1-bar" },
        small("Frequency before", "‹", () => choose(frequency - 1)),
        which,
        small("Next frequency", "›", () => choose(frequency + 1)),
      ),
    ),
    words,
    body,
  );
  const opener = button({
    label: "Look inside",
    title: "See what the vector does with a picture, level by level",
    "data-name": "machine",
    onClick: () => enter(0),
  });

  /**
   * Goes to a level; −1 closes the machine. The focus moves too, unless `focus` is false and it was elsewhere.
   *
   * @type {(next: number, focus?: boolean) => void}
   */
  function enter(next, focus = true) {
    const to = Math.min(next, levels.length - 1);
    if (to === level) return;
    const from = level;
    const follows = focus || element.contains(document.activeElement);
    const around =
      from < 0 ? opener.getBoundingClientRect() : boxOf(Math.min(from, Math.max(to, 0)));
    level = to;
    element.hidden = level < 0;
    element.dataset.level = String(level);
    levels.forEach((one, i) => {
      one.element.hidden = i !== level;
    });
    showCrumbs();
    on.changed(level);
    if (level < 0) {
      if (follows) opener.focus({ preventScroll: true });
      return;
    }
    if (follows) element.focus({ preventScroll: true });
    if (shown) draw(shown);
    refresh();
    if (from < 0 && follows) element.scrollIntoView({ block: "nearest" });
    move(around, to > from);
  }

  /** The place of the button that leads further in from a level. @param {number} i */
  const boxOf = (i) => levels[i].door.getBoundingClientRect();

  /**
   * Animates the new level: it grows out of the part that was opened, or on the way out shrinks around that part.
   *
   * @type {(around: DOMRect, inwards: boolean) => void}
   */
  function move(around, inwards) {
    if (reducedMotion()) return;
    const box = body.getBoundingClientRect();
    const part = inwards ? around : boxOf(level);
    const [x, y] = [part.x + part.width / 2 - box.x, part.y + part.height / 2 - box.y];
    body.style.transformOrigin = `${x}px ${y}px`;
    const begin = { transform: `scale(${inwards ? 0.3 : 1.8})`, opacity: 0 };
    body.animate([begin, { transform: "none", opacity: 1 }], MOTION);
    if (inwards) levels[level].enter?.();
  }

  /** Draws the way out and the numbered levels: a reader sees how many there are, and which one is open. */
  function showCrumbs() {
    /** @type {(label: string, text: string, to: number) => HTMLElement} */
    const crumb = (label, text, to) =>
      h(
        "button",
        {
          type: "button",
          class: "r1-crumb",
          title: label,
          "aria-label": label,
          onclick: () => enter(to),
        },
        text,
      );
    const levelCrumbs = LEVELS.map((name, i) =>
      i === level
        ? h("span", { class: "r1-crumb", "aria-current": "step" }, String(i + 1))
        : crumb(`Level ${i + 1}: ${name}`, String(i + 1), i),
    );
    crumbs.replaceChildren(
      ...[
        crumb("Back to the pictures", "← Back", -1),
        ...levelCrumbs,
        h("strong", {}, LEVELS[level]),
      ].map((part) => h("li", {}, part)),
    );
  }

  /** @param {number} next */
  function choose(next) {
    const { Y } = on.context() ?? { Y: 1 };
    frequency = (next + Y) % Y;
    refresh();
  }

  /** Asks for the step on show. While an answer is due, the next question waits. */
  async function refresh() {
    if (level < 0) return;
    again = asking;
    if (asking) return;
    asking = true;
    const context = on.context();
    if (context) frequency = Math.min(frequency, context.Y - 1);
    const look = context && (await on.look(frequency));
    asking = false;
    if (level < 0) return;
    if (!context || (!look && !shown)) {
      body.hidden = true;
      setText(words, context ? WAITING : OTHER_BASIS);
      if (!context) shown = null;
    } else if (look) draw(look);
    if (again) refresh();
  }

  /** @param {Look} look */
  function draw(look) {
    const context = on.context();
    if (!context || look.phases.length !== context.K) return;
    shown = look;
    body.hidden = false;
    setText(which, `frequency ${count(look.frequency + 1)}`);
    words.replaceChildren(...italic(sentenceOf(level, look, context)));
    levels[level].draw(look, context);
  }

  /** @param {KeyboardEvent} event */
  function onkeydown(event) {
    const isOwn = event.target instanceof Element && !event.target.closest("button, a");
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") enter(level - 1);
    else if (event.key === "Enter" && isOwn) levels[level].door.click();
    else if (event.key === "ArrowRight" || event.key === "ArrowDown") choose(frequency + 1);
    else if (event.key === "ArrowLeft" || event.key === "ArrowUp") choose(frequency - 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return {
    element,
    opener,
    refresh,
    /** Goes to a level, or closes at −1, without taking the focus from elsewhere. @param {number} to */
    go: (to) => enter(to, false),
    get isOpen() {
      return level >= 0;
    },
    /** The level, frequency and look on show, for tests. */
    state: () => ({ level, frequency, look: shown }),
  };
}
