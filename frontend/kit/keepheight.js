// What is read changes its height with its words: what stands below stays where it was.

/**
 * Keeps a part as high as it has been at its width.
 *
 * @param {HTMLElement} part
 */
export function keepHeight(part) {
  let [width, kept] = [0, 0];
  new ResizeObserver(() => {
    const box = part.getBoundingClientRect();
    if (box.width !== width) {
      part.style.minHeight = "";
      [width, kept] = [box.width, 0];
    } else if (box.height > kept) {
      kept = box.height;
      part.style.minHeight = `${kept}px`;
    }
  }).observe(part);
}
