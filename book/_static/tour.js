// Shows a tour one card at a time. The cards are the items of a list in the page, and set the explorer above the list.

const OPTION = "tour-right"; // the class of a guess's right option
const OUTLINED = "tour-outlined"; // the class of the parts that a card mentions
const places = new WeakMap(); // for each tour, the card at which the reader left it

/** The explorer that a tour sets; null until its widget has started. */
const explorerOf = (tour) => document.querySelector(`[data-explorer="${tour.dataset.tour}"]`);

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

const button = (label, onclick, more = {}) =>
  element("button", { type: "button", onclick, ...more }, label);

/** Sets an explorer by the event of a new address, without an entry in the reader's history. */
function set(link) {
  if (link?.hash) dispatchEvent(new HashChangeEvent("hashchange", { newURL: link.href }));
}

/**
 * The parts of a card: its text, the options of its guess, and the answer, which is all that follows the options, or a
 * quotation and all that follows it. Parts are copies, so that the list stays whole.
 */
function partsOf(item) {
  const [text, answer] = [element("div"), element("div", { class: "tour-answer" })];
  const copy = item.cloneNode(true);
  const options = [...copy.querySelectorAll(".tour-guess > li")];
  let into = text;
  for (const part of [...copy.childNodes]) {
    if (part.tagName === "BLOCKQUOTE") into = answer;
    if (part.classList?.contains("tour-guess")) into = answer;
    else into.append(part);
  }
  return { text, options, answer };
}

/** Starts a tour, or continues where the reader left it. In the end the focus returns to `opener`. */
function walk(tour, opener) {
  const items = [...tour.querySelectorAll(":scope > ol > li")];
  const explorer = explorerOf(tour);
  let at = 0;
  let reveal = null; // shows the answer, while it is hidden
  let watcher = null; // watches the explorer's answer
  const place = element("p", { class: "tour-place" });
  const card = element("div", { class: "tour-card", "aria-live": "polite" });
  const back = button("Back", () => show(at - 1));
  const again = button("Start again", restart, { class: "tour-again" });
  const next = button("Next", () => (reveal ? reveal() : show(at + 1)), { class: "tour-next" });
  const dock = element(
    "section",
    { class: "tour-dock", "aria-label": "Tour", onkeydown },
    card,
    element("footer", {}, back, element("div", { class: "tour-where" }, place, again), next),
    button("✕", close, { class: "tour-leave", "aria-label": "Leave the tour" }),
  );

  function label() {
    next.textContent = reveal ? "Show me" : at < items.length - 1 ? "Next" : "Done";
  }

  function show(number) {
    if (number < 0) return;
    if (number >= items.length) {
      places.delete(tour);
      close();
      return;
    }
    at = number;
    places.set(tour, at);
    const { text, options, answer } = partsOf(items[at]);
    place.textContent = `${at + 1} of ${items.length}`;
    back.disabled = at === 0;
    again.hidden = at === 0;
    reveal = null;
    watcher?.disconnect();
    card.replaceChildren(text);
    if (answer.hasChildNodes()) ask(options, answer);
    if (at === items.length - 1) card.append(told());
    label();
    card.scrollTop = 0;
    outline();
    set(text.querySelector("a.r1-try") ?? lastBefore(at));
  }

  /** The last link before a card: the setting for a card without a link. */
  function lastBefore(number) {
    return items
      .slice(0, number)
      .flatMap((item) => [...item.querySelectorAll("a.r1-try")])
      .at(-1);
  }

  function restart() {
    show(0);
    next.focus({ preventScroll: true });
  }

  function outline() {
    for (const part of explorer.querySelectorAll(`.${OUTLINED}`)) part.classList.remove(OUTLINED);
    for (const { dataset } of card.querySelectorAll(".tour-at[data-at]"))
      for (const part of explorer.querySelectorAll(dataset.at)) part.classList.add(OUTLINED);
  }

  /** A copy of the explorer's answer to the reader. The last card sets a task, and would cover the answer itself. */
  function told() {
    const words = element("p", { class: "tour-told" });
    const found = explorer.querySelector(".r1-found");
    const copy = () => {
      words.textContent = found.textContent;
    };
    watcher = new MutationObserver(copy);
    if (found) watcher.observe(found, { childList: true, subtree: true });
    return words;
  }

  /** Adds the options. When the reader chooses one or asks for the answer, it appears and the explorer is set. */
  function ask(options, answer) {
    const verdict = element("strong");
    const buttons = options.map((option) =>
      button(option.textContent.trim(), () => {
        if (!reveal) return;
        const right = option.classList.contains(OPTION);
        verdict.textContent = right ? "✓ Right. " : "✗ Not this time. ";
        reveal();
      }),
    );
    reveal = () => {
      reveal = null;
      buttons.forEach((one, i) => {
        one.disabled = true;
        one.classList.toggle("tour-is-right", options[i].classList.contains(OPTION));
      });
      (answer.querySelector("p") ?? answer).prepend(verdict);
      card.append(answer);
      outline();
      card.scrollTop = card.scrollHeight;
      label();
      next.focus({ preventScroll: true });
      set(answer.querySelector("a.r1-try"));
    };
    if (buttons.length > 0)
      card.append(
        element("div", { class: "tour-options", role: "group", "aria-label": "Guess" }, ...buttons),
      );
  }

  function onkeydown(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") close();
    else if (event.key === "ArrowRight") next.click();
    else if (event.key === "ArrowLeft") back.click();
    else return;
    event.preventDefault();
  }

  function close() {
    watcher?.disconnect();
    card.replaceChildren();
    outline();
    dock.remove();
    document.documentElement.classList.remove("on-tour");
    opener.focus({ preventScroll: true });
  }

  document.querySelector(".tour-dock")?.remove();
  document.documentElement.classList.add("on-tour");
  document.body.append(dock);
  show(places.get(tour) ?? 0);
  next.focus({ preventScroll: true });
}

for (const tour of document.querySelectorAll("details.tour")) {
  const summary = tour.querySelector("summary");
  summary.addEventListener("click", (event) => {
    if (!explorerOf(tour) || tour.open) return; // without an explorer the list unfolds
    event.preventDefault();
    walk(tour, summary);
  });
  for (const link of tour.id ? document.querySelectorAll(`.bd-article a[href="#${tour.id}"]`) : [])
    link.addEventListener("click", (event) => {
      if (!explorerOf(tour)) {
        tour.open = true;
        return;
      }
      event.preventDefault();
      walk(tour, link);
    });
}
