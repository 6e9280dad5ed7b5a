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

const STATE = 'script[type="application/vnd.jupyter.widget-state+json"]';
const VIEW = 'script[type="application/vnd.jupyter.widget-view+json"]';

const modules = {
  "@jupyter-widgets/base": base,
  "@jupyter-widgets/controls": controls,
  anywidget: defineAnyWidget(base),
};

class PageManager extends ManagerBase {
  async loadClass(className, moduleName) {
    const found = modules[moduleName]?.[className];
    if (!found) throw new Error(`This page cannot show the widget ${moduleName}.${className}.`);
    return found;
  }

  /** There is no kernel to hear of: a comm that swallows what it is sent. */
  async _create_comm(_target, id) {
    const nothing = () => "";
    return { comm_id: id, on_close: nothing, on_msg: nothing, open: nothing, send: nothing };
  }

  async _get_comm_info() {
    return {};
  }
}

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
    place.textContent = `This widget could not start: ${error.message ?? error}`;
    place.setAttribute("role", "alert");
    console.error(error);
  }
}

async function start() {
  const states = [...document.querySelectorAll(STATE)];
  if (!states.length) return;
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
