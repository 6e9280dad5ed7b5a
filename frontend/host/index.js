/**
 * Shows the widgets of a page from the state saved in it, with no kernel and no other host.
 *
 * Knows ipywidgets 8 and anywidget, which is all the book uses; `jslink` works, `Output` does not.
 */
import * as base from "@jupyter-widgets/base";
import { ManagerBase } from "@jupyter-widgets/base-manager";
import * as controls from "@jupyter-widgets/controls";
import { MessageLoop } from "@lumino/messaging";
import { Widget } from "@lumino/widgets";
import defineAnyWidget from "anywidget";
import styles from "./host.css?inline";

/** @import { IClassicComm, WidgetModel, WidgetView } from "@jupyter-widgets/base" */

const STATE = 'script[type="application/vnd.jupyter.widget-state+json"]';
const VIEW = 'script[type="application/vnd.jupyter.widget-view+json"]';

/** @type {Record<string, Record<string, unknown>>} */
const modules = {
  "@jupyter-widgets/base": base,
  "@jupyter-widgets/controls": controls,
  anywidget: defineAnyWidget(base),
};

class PageManager extends ManagerBase {
  /**
   * @param {string} className
   * @param {string} moduleName
   */
  async loadClass(className, moduleName) {
    const found = modules[moduleName]?.[className];
    if (!found) throw new Error(`This page cannot show the widget ${moduleName}.${className}.`);
    return /** @type {typeof WidgetModel | typeof WidgetView} */ (found);
  }

  /**
   * There is no kernel to hear of: a comm that swallows what it is sent.
   *
   * @param {string} target_name
   * @param {string} [comm_id]
   * @returns {Promise<IClassicComm>}
   */
  async _create_comm(target_name, comm_id = "") {
    const silent = () => "";
    const calls = { open: silent, send: silent, close: silent, on_msg: silent, on_close: silent };
    return { target_name, comm_id, ...calls };
  }

  async _get_comm_info() {
    return {};
  }
}

/**
 * Puts the view of a model before the tag that names it, or says why it cannot.
 *
 * @param {PageManager} manager
 * @param {WidgetModel[]} models
 * @param {Element} tag
 */
async function show(manager, models, tag) {
  const { model_id: id } = JSON.parse(tag.textContent);
  const model = models.find((each) => each.model_id === id);
  if (!model) return;
  const place = document.createElement("div");
  place.className = "widget-subarea";
  tag.before(place);
  try {
    const view = await manager.create_view(model);
    Widget.attach(view.luminoWidget, place);
    window.addEventListener("resize", () =>
      MessageLoop.postMessage(view.luminoWidget, Widget.ResizeMessage.UnknownSize),
    );
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
  document.head.appendChild(document.createElement("style")).textContent = styles;
  for (const state of states) {
    const manager = new PageManager();
    const models = await manager.set_state(JSON.parse(state.textContent));
    await Promise.all(
      [...document.querySelectorAll(VIEW)].map((tag) => show(manager, models, tag)),
    );
  }
  document.documentElement.dataset.widgets = "ready";
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
