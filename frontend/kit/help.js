// The definition of a label: screen readers read it with the field, and hovering, a tap or focus by keys opens it.
import { h, uid } from "./dom.js";

const PAUSE = 100; // milliseconds that the pointer rests on the label before the definition opens
const WAY = 250; // milliseconds for the pointer's way from the label to the definition
const EDGE = 6; // pixels left free beside a definition

/**
 * The definition of a label: the class that underlines the label, the element with the definition, and `attach`, which
 * connects both to a field. Without a text there is no definition.
 *
 * @param {string | null | undefined} text
 */
export function definition(text) {
  const id = uid();
  const tip = text
    ? h("span", { id, class: "r1-definition", role: "tooltip", hidden: true }, text)
    : null;
  /** @type {HTMLElement | null} */
  let place = null;
  const closeByKey = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape") close();
  };
  // A press on the definition closes it only at the click: otherwise a finger's click would go to the part below.
  const closeByPress = (/** @type {PointerEvent} */ event) => {
    if (!(event.target instanceof Node && tip?.contains(event.target))) close();
  };
  tip?.addEventListener("click", close);

  function open() {
    if (!tip || !place) return;
    clearTimeout(leaving); // on touch, pointerleave comes before the click
    tip.hidden = false;
    tip.style.translate = "";
    tip.classList.remove("r1-above");
    const isLow = tip.getBoundingClientRect().bottom + EDGE > innerHeight;
    tip.classList.toggle("r1-above", isLow);
    const edge = place.closest(".r1-body")?.getBoundingClientRect().right ?? innerWidth;
    const over = tip.getBoundingClientRect().right + EDGE - Math.min(edge, innerWidth);
    if (over > 0) tip.style.translate = `${-over}px`;
    document.addEventListener("keydown", closeByKey);
    document.addEventListener("pointerdown", closeByPress);
  }

  let resting = 0;
  let leaving = 0;
  function close() {
    clearTimeout(resting);
    clearTimeout(leaving);
    if (tip) tip.hidden = true;
    document.removeEventListener("keydown", closeByKey);
    document.removeEventListener("pointerdown", closeByPress);
  }

  return {
    /** The class of a label that has a definition, else null. */
    className: tip ? "r1-term" : null,
    tip,
    /**
     * @param {HTMLElement} element The field, which contains the definition.
     * @param {HTMLElement} label
     * @param {HTMLElement} input
     */
    attach(element, label, input) {
      if (!tip) return;
      place = element;
      input.setAttribute("aria-describedby", id);
      label.addEventListener("pointerenter", () => {
        resting = Number(setTimeout(open, PAUSE));
      });
      label.addEventListener("click", open);
      element.addEventListener("pointerleave", () => {
        clearTimeout(resting);
        leaving = Number(setTimeout(close, WAY));
      });
      element.addEventListener("pointerenter", () => clearTimeout(leaving));
      input.addEventListener("focus", () => input.matches(":focus-visible") && open());
      input.addEventListener("blur", close);
      input.addEventListener("input", close);
    },
  };
}
