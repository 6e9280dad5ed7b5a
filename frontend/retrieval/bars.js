// The noise of the vector and the limit of the noise for a run, as two bars on one axis: the vector finds the picture
// if the bar of the limit is longer.
import { h, setText } from "../kit/dom.js";
import { definition } from "../kit/help.js";
import { bounded } from "../kit/number.js";
import { strength, strengthsOf, unknownOf, whereOf } from "./strengths.js";

/** @import { Foresight } from "./math/phase.js" */
/** @import { Ready, Settings } from "./settings.js" */
/** @import { Strengths } from "./strengths.js" */

const MOST = 1.5; // the end of the axis, which begins at 0; larger values run off it
const NAMES = { limit: "noise limit", noise: "noise" };
const HELP = {
  limit:
    "The strongest noise with which a run from this query still finds the picture; the orange line marks the noise on this bar. A large β lowers it, because a stored picture then counts only if the query is close to it. It is 0 where even the exact memory fails.",
  noise:
    "How steep the noise of T is, over all pixels that may change together and per distance 1/√β; level 5 of “Look inside” adds it up. All K pictures share one T, and a reading averages over Y frequencies: the noise grows as √K and falls as 1/√Y.",
};

/** The end of a value's bar, as a fraction of the axis. @param {number} v */
const shareOf = (v) => bounded(v / MOST, 0, 1);

export function createBars() {
  const element = h("div", { class: "r1-bars", role: "img" });
  /** @type {Strengths | null} */
  let shown = null;
  const verdict = h("p", { class: "r1-muted" });
  /** @param {"limit" | "noise"} name */
  const row = (name) => {
    const { attach, className, tip } = definition(HELP[name]);
    const words = h("span", { class: className }, NAMES[name]);
    const number = h("span", { class: "r1-value" });
    const bar = h("span", { class: "r1-strength" });
    const track = h("span", { class: "r1-track" }, bar);
    const line = h("div", { class: `r1-field r1-of-${name}` }, words, track, number, tip);
    attach(line, words, line);
    element.append(line);
    /** @type {(v: number | undefined, otherwise: string) => void} */
    return (v, otherwise) => {
      bar.style.width = `${100 * shareOf(v ?? 0)}%`;
      bar.classList.toggle("r1-off-axis", (v ?? 0) > MOST);
      setText(number, v === undefined ? otherwise : strength(v));
    };
  };
  const [noise, limit] = [row("noise"), row("limit")];
  element.append(verdict);

  /** @type {(strengths: Strengths | null, words: string, otherwise?: string) => void} */
  function draw(strengths, words, otherwise = "–") {
    shown = strengths;
    noise(strengths?.noise, otherwise);
    limit(strengths?.limit, otherwise);
    element.style.setProperty("--r1-noise", `${100 * shareOf(strengths?.noise ?? 0)}%`);
    element.classList.toggle("r1-unknown", !strengths);
    setText(verdict, words);
    const numbers = strengths
      ? `Noise ${strength(strengths.noise)}, limit ${strength(strengths.limit)}`
      : "Noise and its limit";
    element.setAttribute("aria-label", `${numbers}. ${words}`);
  }

  return {
    element,
    /** Hides both bars until the reader has made a prediction. */
    wait: () => draw(null, "Shown after your guess.", "?"),
    /** The strengths on show, or null. */
    get strengths() {
      return shown;
    },
    /** @type {(settings: Settings, ready: Ready, foresight: Foresight) => void} */
    show(settings, ready, foresight) {
      const strengths = strengthsOf(settings, ready, foresight);
      if (strengths) draw(strengths, whereOf(strengths, ready.isStored));
      else draw(null, unknownOf(settings, ready.freedom));
    },
  };
}
