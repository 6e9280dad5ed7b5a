// The history of the settings, for undo and redo; all changes of one gesture are one step.

const MOST = 200; // steps back
const PAUSE = 1000; // milliseconds after which a key on the same field begins a new step

/**
 * @template T
 * @param {number} [most]
 */
export function createHistory(most = MOST) {
  /** @type {T[]} */
  let past = [];
  /** @type {T[]} */
  let future = [];
  let gesture = -1;
  return {
    get canUndo() {
      return past.length > 0;
    },
    get canRedo() {
      return future.length > 0;
    },
    /**
     * Records the state before a change by a gesture. All changes of a gesture are one step.
     *
     * @param {T} before
     * @param {number} by
     */
    record(before, by) {
      if (by === gesture && past.length) return;
      gesture = by;
      past = [...past.slice(1 - most), before];
      future = [];
    },
    /** @type {(now: T) => T | null} */
    undo(now) {
      const before = past.pop();
      if (before === undefined) return null;
      future.push(now);
      gesture = -1;
      return before;
    },
    /** @type {(now: T) => T | null} */
    redo(now) {
      const after = future.pop();
      if (after === undefined) return null;
      past.push(now);
      gesture = -1;
      return after;
    },
  };
}

/**
 * Numbers the gestures in an element: a press of the pointer up to the next press, or keys in a row on one field.
 * Returns a function that gives the current number.
 *
 * @param {HTMLElement} element
 */
export function gesturesIn(element) {
  let gesture = 0;
  let last = { target: /** @type {EventTarget | null} */ (null), key: "", time: 0 };
  const listen = (/** @type {Event} */ event) => {
    const { target, timeStamp: time } = event;
    const key = event instanceof KeyboardEvent ? event.key : "";
    const goesOn = key !== "" && last.key !== "" && target === last.target;
    if (!goesOn || time - last.time > PAUSE) gesture += 1;
    last = { target, key, time };
  };
  for (const kind of ["pointerdown", "keydown"]) element.addEventListener(kind, listen, true);
  return () => gesture;
}
