// Parts of a page that keep their height while their words change, so that the parts below them do not move.

/**
 * Keeps a part at the greatest height that it has had at its current width.
 *
 * @param {HTMLElement} part
 */
export function keepHeight(part) {
  let [width, height] = [0, 0];
  new ResizeObserver(() => {
    const box = part.getBoundingClientRect();
    if (box.width !== width) {
      part.style.minHeight = "";
      [width, height] = [box.width, 0];
    } else if (box.height > height) {
      height = box.height;
      part.style.minHeight = `${height}px`;
    }
  }).observe(part);
}

/**
 * Stops `element` from growing while a pointer is down in `within`: the parts below would move under the finger.
 *
 * @param {HTMLElement} element
 * @param {HTMLElement} within
 */
export function holdWhileDragged(element, within) {
  within.addEventListener("pointerdown", () => {
    element.style.maxHeight = `${element.offsetHeight}px`;
    element.style.overflow = "hidden";
    const done = new AbortController();
    const release = () => {
      element.style.maxHeight = "";
      element.style.overflow = "";
      done.abort();
    };
    for (const end of ["pointerup", "pointercancel"])
      document.addEventListener(end, release, { signal: done.signal });
  });
}
