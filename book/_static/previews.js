// Cards that explain a link, a symbol or a computed number, shown where the reader points, focuses or taps.

(() => {
  // in a scope of its own, because some names are the browser's
  const POINT = 150; // milliseconds that a pointer rests before a card opens
  const LEAVE = 300; // milliseconds that it has to reach the card
  const EDGE = 8; // pixels
  const SHOWS =
    ".bd-article :is(a.number, a.internal[href*='#'], span.symbol):not(.headerlink, .r1-try)";
  const SHEET = matchMedia("(max-width: 576px)"); // there a card is a sheet at the bottom
  const { cards: address } = document.currentScript.dataset;
  const root = document.documentElement.dataset.content_root;

  let asked;
  let card;
  let shown = null;
  let wanted = null; // the element for which a card is about to open
  let pointer = "mouse";
  let timer = 0;

  /** The cards of this page, from a script: a page opened from a folder may read no other file. */
  function read() {
    asked ??= new Promise((resolve) => {
      window.previews = resolve;
      const script = document.createElement("script");
      Object.assign(script, { src: address, onerror: () => resolve({}) });
      document.head.append(script);
    });
    return asked;
  }

  const keyOf = ({ dataset, attributes }) =>
    dataset.figure ?? dataset.tex?.split(/\s+/).join(" ") ?? attributes.href.value;

  function make() {
    card = document.createElement("aside");
    card.id = "r1-preview";
    card.className = "bd-article";
    card.tabIndex = -1;
    card.setAttribute("aria-label", "Preview");
    document.body.append(card);
    return card;
  }

  /** Adds the style of formulas, which a page without formulas lacks. */
  function dress() {
    if (
      !card.querySelector("mjx-container") ||
      document.querySelector("link[href*='formulas.css']")
    )
      return;
    const style = document.createElement("link");
    Object.assign(style, { rel: "stylesheet", href: `${root}_static/formulas.css` });
    document.head.append(style);
  }

  async function open(element) {
    const cards = await read();
    const html = cards[keyOf(element)];
    if (!html || element !== wanted) return;
    close();
    card ??= make();
    card.innerHTML = html;
    for (const place of card.querySelectorAll("[data-card]"))
      place.innerHTML = cards[place.dataset.card] ?? "";
    dress();
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: "×", onclick: leave });
    button.setAttribute("aria-label", "Close");
    card.append(button);
    element.removeAttribute("title"); // the browser would show it over the card
    element.setAttribute("aria-describedby", card.id);
    shown = element;
    card.hidden = false;
    place(element);
  }

  /** Places the card under the words, or over them if there is more room. Scrolls the words above a sheet. */
  function place(element) {
    card.style = "";
    if (SHEET.matches) {
      const covered = element.getBoundingClientRect().bottom - card.getBoundingClientRect().top;
      if (covered > 0) scrollBy(0, covered + 4 * EDGE);
      return;
    }
    const lines = [...element.getClientRects()];
    const { left, top } = lines[0];
    const below = innerHeight - lines.at(-1).bottom;
    const over = card.offsetHeight + EDGE > below && top > below;
    card.style.maxHeight = `min(28rem, ${Math.max(over ? top : below, 120) - 2 * EDGE}px)`;
    const from = over ? top - card.offsetHeight - EDGE / 2 : lines.at(-1).bottom + EDGE / 2;
    const widest = document.documentElement.clientWidth - card.offsetWidth - EDGE;
    const start = lines.length > 1 && !over ? lines.at(-1).left : left;
    card.style.left = `${Math.max(EDGE, Math.min(start, widest)) + scrollX}px`;
    card.style.top = `${from + scrollY}px`;
  }

  function close() {
    clearTimeout(timer);
    if (!shown) return;
    shown.removeAttribute("aria-describedby");
    card.hidden = true;
    shown = null;
  }

  /** Closes the card. If the focus was in it, the focus returns to the words. */
  function leave() {
    if (shown && card.contains(document.activeElement)) shown.focus();
    close();
  }

  /** True if the keyboard's focus is in the card or on its words; then a pointer elsewhere does not close it. */
  function keyed() {
    const at = document.activeElement;
    return card?.contains(at) || (at === (shown ?? wanted) && at.matches(":focus-visible"));
  }

  /** Calls `job` for `element` after `time` milliseconds, in place of any job that still waits. */
  function wait(element, time, job) {
    clearTimeout(timer);
    wanted = element;
    timer = setTimeout(job, time);
  }

  function onPoint({ target, pointerType }) {
    if (pointerType === "touch") return;
    const at = card?.contains(target) ? shown : (target.closest?.(SHOWS) ?? null);
    if (at && at === shown) clearTimeout(timer);
    else if (at) wait(at, POINT, () => open(at));
    else if (!keyed()) wait(null, LEAVE, close);
  }

  function onFocus({ target }) {
    if (!card?.contains(target) && target.matches?.(SHOWS) && target.matches(":focus-visible"))
      wait(target, POINT, () => open(target));
  }

  function onLeave({ target, relatedTarget }) {
    const was = target === shown || card?.contains(target);
    if (was && !card.contains(relatedTarget)) close();
    else if (target === wanted) wanted = null;
  }

  /** Arrow down moves into the card, Escape closes it. */
  function onKey(event) {
    if (!shown) return;
    if (event.key === "Escape") leave();
    else if (event.key === "ArrowDown" && document.activeElement === shown) {
      (card.querySelector("a[href]") ?? card).focus();
      event.preventDefault();
    }
  }

  /**
   * A tap opens the card, and a second tap follows the link; a press elsewhere closes the card. A link that another
   * script handles, such as that of a tour, is left to that script.
   */
  function onPress(event) {
    const { target } = event;
    const on = target.closest?.(SHOWS);
    if (card?.contains(target)) {
      if (target.closest("a")) close();
    } else if (on && on !== shown && pointer === "touch" && !event.defaultPrevented) {
      event.preventDefault();
      wanted = on;
      open(on).then(() => shown !== on && on.href && location.assign(on.href));
    } else close();
  }

  document.addEventListener("pointerdown", (event) => (pointer = event.pointerType), true);
  document.addEventListener("pointerover", onPoint);
  document.addEventListener("focusin", onFocus);
  document.addEventListener("focusout", onLeave);
  document.addEventListener("keydown", onKey);
  document.addEventListener("click", onPress);

  /** The symbols that occurred earlier: each symbol is reachable by keyboard only at its first place. */
  const met = new Set();
  for (const symbol of document.querySelectorAll(".bd-article span.symbol")) {
    if (!met.has(symbol.dataset.tex)) symbol.tabIndex = 0;
    met.add(symbol.dataset.tex);
  }
})();
