// A tour, one card at a time: the items of a list in the page, each of which sets the explorer above it.

const OPTION = "tour-right"; // of a guess, the class of the right one
const OUTLINED = "tour-outlined"; // the class of what a card speaks of
const places = new WeakMap(); // of each tour, the card at which it was left

/** The explorer that a tour sets: it stands on the page once its widget has started. */
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

/** An explorer reads this event as it reads a new address; the reader's history gets no entry from it. */
function set(link) {
  if (link?.hash) dispatchEvent(new HashChangeEvent("hashchange", { newURL: link.href }));
}

/**
 * What a card holds: text, then the options of a guess and the answer, where it asks for one; or a quotation, the answer
 * to a task. Cards are copies, and the list stays whole.
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

/** Starts a tour, or goes on where it was left; the focus comes back to `opener`. */
function walk(tour, opener) {
  const items = [...tour.querySelectorAll(":scope > ol > li")];
  const explorer = explorerOf(tour);
  let at = 0;
  let reveal = null; // shows the answer, while it is hidden
  let watcher = null; // of what the explorer says
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

  /** What a card finds that sets nothing itself. */
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

  /** What the explorer says to what the reader does there: the last card sets a task, and covers these words. */
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

  /** The answer comes, and the explorer is set, once the reader has chosen or wants to be shown. */
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
