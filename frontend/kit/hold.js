// The reader's hold on an element: from a press of the pointer or of a key to its release.

const ENDS = ["pointerup", "pointercancel", "keyup", "blur"];

/**
 * `held` is true during a press in `element`; `onRelease()` is called when the press ends.
 *
 * @param {HTMLElement} element
 * @param {() => void} onRelease
 */
export function createHold(element, onRelease) {
  const hold = {
    held: false,
    close() {
      hold.held = false;
      for (const name of ENDS) removeEventListener(name, release, true);
    },
  };

  function press() {
    if (hold.held) return;
    hold.held = true;
    for (const name of ENDS) addEventListener(name, release, true); // the pointer may have left the element
  }

  /** @param {Event} event */
  function release(event) {
    if (event.type === "blur" && event.target !== window) return;
    hold.close();
    onRelease();
  }

  element.addEventListener("pointerdown", press, true);
  element.addEventListener("keydown", press, true);
  return hold;
}
