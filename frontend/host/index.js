/**
 * Shows the widgets of a page from the state saved in it, with no kernel and no other host.
 *
 * Knows anywidget, which is all the book uses: a model that is read, written and listened to, and a module with `render`.
 */
/** @import { Model } from "../kit/mount.js" */
/** @typedef {{ path: string[], data?: string, script?: string, name?: string }} Saved Bytes of a trait, in base64. */
/** @typedef {{ model_name: string, state: Record<string, any>, buffers?: Saved[] }} Entry */

const STATE = 'script[type="application/vnd.jupyter.widget-state+json"]';
const VIEW = 'script[type="application/vnd.jupyter.widget-view+json"]';

/** @param {string} text */
const decoded = (text) =>
  new DataView(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);

/**
 * Bytes that wait in a script of their own: opened from a folder a page may run scripts, and read no other file.
 *
 * @type {(script: string, name: string) => Promise<DataView>}
 */
const fetched = (script, name) =>
  new Promise((resolve, reject) => {
    const tag = document.createElement("script");
    const kept = () => /** @type {any} */ (globalThis).rankoneBytes?.[name];
    tag.onload = () => (kept() ? resolve(decoded(kept())) : reject(new Error("not there")));
    tag.onerror = () => reject(new Error("not to be had"));
    tag.src = script;
    document.head.append(tag);
  });

/**
 * The traits of a saved widget, its bytes among them: those that wait elsewhere as a function that fetches them.
 *
 * @param {Entry} entry
 */
function traits({ state, buffers = [] }) {
  const values = { ...state };
  for (const { path, data, script = "", name = "" } of buffers) {
    values[path[0]] = data === undefined ? () => fetched(script, name) : decoded(data);
  }
  return values;
}

/**
 * A model that nobody answers: it keeps what it is given, tells those who listen, and swallows what it is sent.
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
 * Puts a widget before the tag that names it, or says why it cannot.
 *
 * @param {Record<string, Entry>} entries
 * @param {Element} tag
 */
async function show(entries, tag) {
  const entry = entries[JSON.parse(tag.textContent).model_id];
  if (!entry) return;
  const place = document.createElement("div");
  place.className = "widget-subarea";
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
