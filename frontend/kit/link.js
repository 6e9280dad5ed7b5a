// Between an explorer and the page's address: read when it comes, written while the reader changes settings.
import { decode } from "./address.js";
import { reducedMotion } from "./clock.js";
import { h, throttle } from "./dom.js";

/** @import { Request } from "./address.js" */

const PAUSE = 400; // milliseconds between two writings: browsers take no more than three a second for long
const MOMENT = 50; // milliseconds between two looks for the page

/** Whether the page is one of the book's, whose address an explorer may write: its host says so. */
export const inBook = () => document.documentElement.dataset.widgets !== undefined;

/**
 * `arrive(request)` takes what an address asks for, `address()` is that of what is on show. A page's first explorer of
 * a name has its addresses; the others are left alone.
 *
 * @param {{
 *   element: HTMLElement, name: string, arrive(request: Request): void, address(): string, stand?(): void,
 * }} own `stand` is called once, when the explorer stands in its page.
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

  /** A link in the text leads here also where the address is its own already. */
  const onClick = (/** @type {MouseEvent} */ event) => {
    const link = event.target instanceof Element && event.target.closest("a[href*='#r1:']");
    if (!(link instanceof HTMLAnchorElement) || decode(link.hash)?.name !== name) return;
    origin = link;
    if (link.hash === location.hash) read();
  };

  /** By the event's own address: a write that was waiting may have taken its place by now, and is then made good. */
  const onHash = (/** @type {HashChangeEvent} */ event) => read(new URL(event.newURL).hash);

  let waiting = 0;
  /** Reads the address once the explorer stands in its page. */
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
