/**
 * Shows the widgets of a page from the state saved in it, with no kernel and no other host.
 *
 * Supports only anywidget, which is all that the book uses: a model that is read, written and listened to, and a module
 * with `render`.
 */
/** @import { Model } from "../kit/mount.js" */
/**
 * @typedef {object} Saved A long trait: text, or bytes in base64, stored here or in a script.
 * @prop {string[]} path
 * @prop {"utf-8" | "base64"} encoding
 * @prop {string} [data]
 * @prop {string} [script]
 * @prop {string} [name] The name under which the script stores it.
 */
/** @typedef {{ model_name: string, state: Record<string, any>, buffers?: Saved[] }} Entry */

const STATE = 'script[type="application/vnd.jupyter.widget-state+json"]';
const VIEW = 'script[type="application/vnd.jupyter.widget-view+json"]';

/** @type {Record<Saved["encoding"], (text: string) => string | DataView>} */
const READ = {
  "utf-8": (text) => text,
  base64: (text) =>
    new DataView(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer),
};

/** @type {(name: string) => string | undefined} */
const loaded = (name) => /** @type {any} */ (globalThis).rankoneBytes?.[name];

/**
 * The text that a script of its own stores. A page opened from a folder may run scripts, but not read other files.
 *
 * @type {(script: string, name: string) => Promise<string>}
 */
const fetched = (script, name) =>
  new Promise((resolve, reject) => {
    const tag = document.createElement("script");
    tag.onload = () => resolve(loaded(name) ?? Promise.reject(new Error("not there")));
    tag.onerror = () => reject(new Error("not to be had"));
    tag.src = script;
    document.head.append(tag);
  });

/**
 * The traits of a saved widget. A trait in a script that the page has not loaded is a function that fetches it.
 *
 * @param {Entry} entry
 */
function traits({ state, buffers = [] }) {
  const values = { ...state };
  for (const { path, encoding, data, script = "", name = "" } of buffers) {
    const here = data ?? loaded(name);
    const read = READ[encoding];
    values[path[0]] = here === undefined ? () => fetched(script, name).then(read) : read(here);
  }
  return values;
}

/**
 * A model without a kernel: it stores values, calls the listeners of a value that is set, and ignores messages.
 *
 * @param {Record<string, any>} values
 * @returns {Required<Model>}
 */
function modelOf(values) {
  /** @type {Map<string, Set<Function>>} */
  const listeners = new Map();
  return {
    get: (name) => values[name],
    set(name, value) {
      values[name] = value;
      for (const listener of listeners.get(`change:${name}`) ?? []) listener();
    },
    save_changes() {},
    send() {},
    on(event, listener) {
      listeners.set(event, (listeners.get(event) ?? new Set()).add(listener));
    },
    off: (event, listener) => void listeners.get(event)?.delete(listener),
  };
}

/**
 * Puts a widget before the tag that names it, or shows why it could not start.
 *
 * @param {Record<string, Entry>} entries
 * @param {Element} tag
 */
async function show(entries, tag) {
  const entry = entries[JSON.parse(tag.textContent).model_id];
  if (!entry) return;
  const place = document.createElement("div");
  place.className = "widget-subarea";
  // as high as its still: an explorer is computed when it becomes visible, and must not move the text below
  const still = tag.previousElementSibling;
  if (still instanceof HTMLElement && still.matches(".r1-still"))
    place.style.cssText = still.style.cssText;
  tag.before(place);
  const el = place.appendChild(document.createElement("div"));
  try {
    if (entry.model_name !== "AnyModel") throw new Error(`it is a ${entry.model_name}`);
    const values = traits(entry);
    const source = new Blob([values._esm], { type: "text/javascript" });
    const { default: widget } = await import(URL.createObjectURL(source));
    await widget.render({ model: modelOf(values), el });
  } catch (error) {
    place.textContent = `This widget could not start: ${error instanceof Error ? error.message : error}`;
    place.setAttribute("role", "alert");
    console.error(error);
  }
}

async function start() {
  const states = [...document.querySelectorAll(STATE)];
  if (!states.length) return;
  document.documentElement.dataset.widgets = "on their way";
  for (const { textContent } of states) {
    const { state } = JSON.parse(textContent);
    await Promise.all([...document.querySelectorAll(VIEW)].map((tag) => show(state, tag)));
  }
  document.documentElement.dataset.widgets = "ready";
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
