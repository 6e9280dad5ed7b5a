// Lists the places that define the words, below the search field, while the reader types. Enter opens the search page.

const MOST = 8;

/** Loads the scripts of the search when the reader opens it, so that no page waits for them. */
let scripts;
function loaded() {
  const folder = `${document.documentElement.dataset.content_root}_static/`;
  scripts ??= ["definitions.js", "search.js"].reduce(
    (before, name) =>
      before.then(
        () =>
          new Promise((resolve, reject) => {
            const script = document.createElement("script");
            script.src = folder + name;
            script.onload = resolve;
            script.onerror = reject;
            document.head.append(script);
          }),
      ),
    Promise.resolve(),
  );
  return scripts;
}

/** The box below a form, with the list of answers and the line that says how many there are. */
function placeFor(form) {
  let box = form.nextElementSibling;
  if (!box?.matches(".live-search")) {
    box = document.createElement("div");
    box.className = "live-search";
    box.append(document.createElement("output"), document.createElement("ul"));
    form.after(box);
    for (const part of [form, box]) part.addEventListener("keydown", move);
  }
  return box;
}

function answer(form, field) {
  const box = placeFor(form);
  const found = definitionsOf(field.value, DEFINITIONS);
  const items = found.slice(0, MOST).map(item);
  box.querySelector("ul").replaceChildren(...items);
  const count = found.length > MOST ? `${MOST} of ${found.length}` : `${found.length}`;
  box.querySelector("output").textContent = field.value.trim()
    ? `${count} places define this. Enter searches the text.`
    : "";
}

/** The arrow keys move through the answers. */
function move(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const form = event.currentTarget.closest("form") ?? event.currentTarget.previousElementSibling;
  const stops = [form.querySelector("input"), ...placeFor(form).querySelectorAll("a")];
  const at = stops.indexOf(document.activeElement);
  if (!step || at < 0 || !stops[at + step]) return;
  event.preventDefault();
  stops[at + step].focus();
}

document.addEventListener("focusin", ({ target }) => {
  const form = target.closest?.("form.bd-search");
  if (!form || !target.matches("input[type=search]") || target.dataset.live) return;
  target.dataset.live = "on";
  loaded().then(() => {
    answer(form, target);
    target.addEventListener("input", () => answer(form, target));
  });
});
