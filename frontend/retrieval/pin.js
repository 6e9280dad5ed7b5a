// The state that the reader has pinned, to compare later states with it.
import { button } from "../kit/controls.js";
import { count, figures } from "../kit/number.js";

/** @import { End } from "./actor.js" */
/** @import { Both } from "./report.js" */
/** @import { Settings } from "./settings.js" */

/** @typedef {{ settings: Settings, bytes: Uint8ClampedArray, trace: number[][], words: string }} Pinned */

/**
 * `now()` returns what is on show, or null if there is nothing; `changed(pinned)` is called with the pinned state, or
 * with null.
 *
 * @param {{ now(): { settings: Settings, end: End, both: Both } | null, changed(pinned: Pinned | null): void }} own
 */
export function createPin({ now, changed }) {
  const pin = { pinned: /** @type {Pinned | null} */ (null) };
  const element = button({
    label: "Pin",
    title: "Keeps these answers on show beside the next ones",
    "aria-pressed": "false",
    "data-name": "pin",
    onClick() {
      const shown = pin.pinned ? null : now();
      pin.pinned = shown && pinnedOf(shown);
      element.setAttribute("aria-pressed", String(pin.pinned !== null));
      element.textContent = pin.pinned ? "Unpin" : "Pin";
      changed(pin.pinned);
    },
  });
  return Object.assign(pin, { element });
}

/** @type {(shown: { settings: Settings, end: End, both: Both }) => Pinned} */
function pinnedOf({ settings, end, both }) {
  const set = `β ${figures(settings.beta)}, Y ${count(settings.Y)}, K ${count(settings.K)}`;
  const [exact, distributed] = [both.exact.error, both.distributed.error];
  const words = `${set}: error ${figures(exact, 2)} (exact), ${figures(distributed, 2)} (distributed)`;
  return { settings, bytes: end.frame.bytes, trace: end.trace, words };
}
