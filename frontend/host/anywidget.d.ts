declare module "anywidget" {
  import type * as base from "@jupyter-widgets/base";

  /** anywidget's classes, made on those of the host's ipywidgets; build.mjs makes this the default export. */
  export default function define(widgets: typeof base): {
    AnyModel: typeof base.DOMWidgetModel;
    AnyView: typeof base.DOMWidgetView;
  };
}
