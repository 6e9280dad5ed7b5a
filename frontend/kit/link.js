// Connects an explorer and the page's address: reads a new address, and writes it while the reader changes settings.
import { decode } from "./address.js";
import { reducedMotion } from "./clock.js";
import { h, throttle } from "./dom.js";

/** @import { Request } from "./address.js" */

const PAUSE = 400; // milliseconds between two writes: browsers allow about three per second in the long run
const MOMENT = 50; // milliseconds between two checks that the explorer is in its page

/** True if the page belongs to the book, as the book's host marks it: an explorer may then write the address. */
export const inBook = () => document.documentElement.dataset.widgets !== undefined;

/**
 * `arrive(request)` applies the request of an address; `address()` is the address of the current state. If explorers of
 * a page have the same name, only the first reads and writes addresses.
 *
 * @param {{
 *   element: HTMLElement, name: string, arrive(request: Request): void, address(): string, stand?(): void,
 * }} own `stand` is called once, when the explorer is in its page, if it is the first of its name.
 */
export function createLink({ element, name, arrive, address, stand }) {
  /** @type {HTMLAnchorElement | null} */
  let origin = null;
  element.dataset.explorer = name;
  const isFirst = () => document.querySelector(`[data-explorer="${name}"]`) === element;
  const back = h("button", { type: "button", class: "r1-button r1-return", hidden: true, onclick });
  back.append("↩ Back to the text");

  function onclick() {
    back.hidden = true;
    origin?.scrollIntoView({ block: "center", behavior: reducedMotion() ? "auto" : "smooth" });
    origin?.focus({ preventScroll: true });
  }

  function read(hash = location.hash) {
    const request = decode(hash);
    if (request?.name !== name || !isFirst()) return;
    arrive(request);
    if (hash !== location.hash) write();
    back.hidden = !origin?.isConnected;
    element.scrollIntoView({ block: "start", behavior: reducedMotion() ? "auto" : "smooth" });
  }

  /** Remembers the link. Reads its address if the page has it already, because no hashchange event follows then. */
  const onClick = (/** @type {MouseEvent} */ event) => {
    const link = event.target instanceof Element && event.target.closest("a[href*='#r1:']");
    if (!(link instanceof HTMLAnchorElement) || decode(link.hash)?.name !== name) return;
    origin = link;
    if (link.hash === location.hash) read();
  };

  /** Reads the event's address: a delayed write may have replaced the page's, which `read` then corrects. */
  const onHash = (/** @type {HashChangeEvent} */ event) => read(new URL(event.newURL).hash);

  let waiting = 0;
  /** Reads the address once the explorer is in its page. */
  function start() {
    if (element.isConnected) {
      read();
      if (isFirst()) stand?.();
    } else waiting = Number(setTimeout(start, MOMENT));
  }

  window.addEventListener("hashchange", onHash);
  document.addEventListener("click", onClick);
  start();
  const write = throttle(() => {
    if (inBook() && element.isConnected && isFirst())
      window.history.replaceState(window.history.state, "", address());
  }, PAUSE);
  return {
    back,
    write,
    close() {
      clearTimeout(waiting);
      window.removeEventListener("hashchange", onHash);
      document.removeEventListener("click", onClick);
    },
  };
}
