// The stage, from left to right: the query, and the walls of the exact and of the distributed memory, each above the
// memory's answer.
import { h, setText } from "../kit/dom.js";
import { picture } from "../kit/imagewell.js";
import { count, percent } from "../kit/number.js";
import { D, SIDE, UNIT } from "./math/pictures.js";
import { createWall, sheetOf } from "./wall.js";
import { named, rounded, several, verdict, weighed } from "./words.js";

/** @import { Pictures } from "./math/pictures.js" */
/** @import { Frame } from "./math/run.js" */
/** @import { Ready, Settings } from "./settings.js" */

const TRACKS = /** @type {const} */ (["exact", "distributed"]);
const TITLES = { exact: "Exact memory", distributed: "Distributed memory" };
const KEYS = "Press a picture to make it the query, or move with the arrow keys.";

/**
 * The grey levels of a state as RGB bytes; ink is black.
 *
 * @param {Float32Array} x
 */
function bytesOf(x) {
  const bytes = new Uint8ClampedArray(3 * D);
  for (let i = 0; i < D; i++) bytes.fill(255 * (1 - x[i] / UNIT), 3 * i, 3 * i + 3);
  return bytes;
}

/** @param {"exact" | "distributed"} track */
function panel(track, /** @type {(index: number) => void} */ onPick) {
  const wall = createWall({ tone: track, onPick });
  const state = picture({ label: `Answer of the ${track} memory`, size: SIDE });
  const holds = h("span", { class: "r1-muted" });
  const judged = h("span", { class: "r1-verdict" });
  const note = h("span", { class: "r1-muted" });
  const heading = h("strong", { class: `r1-ink-${track}` }, TITLES[track]);
  const element = h(
    "figure",
    { class: `r1-panel r1-of-${track}` },
    h("div", { class: "r1-over-wall" }, heading, holds),
    wall.canvas,
    h("figcaption", {}, state.canvas, h("span", { class: "r1-words" }, judged, note)),
  );
  return { element, wall, state, holds, judged, note };
}

/** @param {{ pick(index: number): void }} on */
export function createStage(on) {
  const query = picture({ label: "Query", size: SIDE });
  const asked = h("span", { class: "r1-words" });
  const panels = {
    exact: panel("exact", on.pick),
    distributed: panel("distributed", on.pick),
  };
  const place = h("div", { class: "r1-damage" });
  /** @type {Pictures | null} */
  let pictures = null;
  let sheetFor = "";
  /** @type {{ settings: Settings, ready: Ready } | null} */
  let now = null;

  function refreshSheet() {
    if (!pictures || !now) return;
    const ink = getComputedStyle(query.canvas).getPropertyValue("--r1-ink").trim();
    const key = `${now.settings.K} ${ink}`;
    if (key === sheetFor) return;
    sheetFor = key;
    const sheet = sheetOf(pictures.pixels, now.settings.K, ink);
    for (const track of TRACKS) panels[track].wall.paper(sheet);
  }

  /** @type {(track: "exact" | "distributed", judged: string, note: string) => void} */
  function say(track, judged, note) {
    const { judged: line, note: below, state, wall } = panels[track];
    setText(line, judged);
    line.classList.toggle("r1-wrong", judged.startsWith("✗"));
    setText(below, note);
    state.say(`Answer of the ${track} memory: ${judged}, ${note}`);
    if (!now) return;
    const { settings, ready } = now;
    wall.say(
      `Wall of ${several(settings.K, "picture")} of the ${track} memory. Query: ${named(ready.code)}. ${note}. ${KEYS}`,
    );
  }

  const stage = {
    element: h(
      "div",
      { class: "r1-walls" },
      h(
        "figure",
        { class: "r1-panel r1-of-query" },
        h("div", { class: "r1-over-wall" }, h("strong", {}, "Query")),
        query.canvas,
        h("figcaption", {}, asked),
        place,
      ),
      panels.exact.element,
      panels.distributed.element,
    ),
    /** @param {boolean} on True while something that will be shown is still being computed. */
    busy: (on) => stage.element.setAttribute("aria-busy", String(on)),
    /** The element into which the explorer puts the control of the damage. */
    place,
    /** @param {Pictures} given */
    open(given) {
      pictures = given;
      sheetFor = "";
    },
    /**
     * Shows the query and the captions, before the first step.
     *
     * @param {Settings} settings
     * @param {Ready} ready
     */
    setQuery(settings, ready) {
      now = { settings, ready };
      query.show(bytesOf(ready.config.query));
      query.say(`Query: ${named(ready.code)}, damaged`);
      setText(asked, named(ready.code));
      setText(panels.exact.holds, `a list of ${several(settings.K, "picture")}`);
      setText(
        panels.distributed.holds,
        `Y = ${count(settings.Y)}; needed: ${count(rounded(ready.law.needed))}`,
      );
      refreshSheet();
      for (const track of TRACKS) panels[track].wall.aim(settings.K, settings.target);
    },
    /**
     * Shows one step of one memory. `sure` is true at its last step, where a verdict replaces "on its way".
     *
     * @param {"exact" | "distributed"} track
     * @param {Frame} frame
     * @param {boolean} sure
     */
    show(track, frame, sure) {
      if (!now) return;
      const { settings, ready } = now;
      const { K, target } = settings;
      panels[track].state.show(bytesOf(frame.x));
      panels[track].wall.show({ K, target, weights: frame.weights });
      const words = sure ? verdict(frame, settings, ready.freedom) : "on its way";
      say(track, words, weighed(frame, target));
    },
    /**
     * Shows the query and an unlit wall, for a memory that has no frames yet.
     *
     * @type {(track: "exact" | "distributed", judged: string, note: string) => void}
     */
    wait(track, judged, note) {
      if (!now) return;
      const { settings, ready } = now;
      panels[track].state.show(bytesOf(ready.config.query));
      panels[track].wall.show({ K: settings.K, target: settings.target, weights: null });
      say(track, judged, note);
    },
    /** @param {number} share The fraction of the blocks of T that are written. */
    writing: (share) =>
      stage.wait("distributed", "being written", `${percent(share)} of the vector is written`),
    /** Redraws both walls in the current colours and at the current size. */
    redraw() {
      refreshSheet();
      for (const track of TRACKS) panels[track].wall.draw();
    },
  };
  return stage;
}
