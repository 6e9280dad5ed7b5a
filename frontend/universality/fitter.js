// Fits output weights on request. If several questions arrive during a fit, only the last one is answered.
import { fitWeights } from "./math/fitted.js";
import { isFitted, targetOf } from "./settings.js";

/** @import { Settings } from "./settings.js" */
/** @typedef {{ type: "fit", key: string, settings: Settings }} Question */
/** @typedef {{ type: "fitted", key: string, weights: number[] }} Answer */

/** @param {(answer: Answer | { type: "error", message: string }) => void} post */
export function createFitter(post) {
  /** @type {Question | null} */
  let last = null;
  const answer = () => {
    if (!last) return;
    const { key, settings } = last;
    last = null;
    const { construction, size } = settings;
    if (!isFitted(construction)) return;
    try {
      post({ type: "fitted", key, weights: fitWeights(targetOf(settings), size, construction) });
    } catch (error) {
      post({ type: "error", message: String(error) });
    }
  };
  /** @param {Question | { type: "pause" }} message */
  return (message) => {
    last = message.type === "fit" ? message : null;
    setTimeout(answer, 0);
  };
}
