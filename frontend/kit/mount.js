// An explorer as an anywidget: dressed, begun when the reader can see it, and cleaned up after.
import { reducedMotion } from "./clock.js";
import { dress } from "./theme.js";

/**
 * The part of an anywidget model that the explorers use; on a page without a kernel nobody answers it.
 *
 * @typedef {{
 *   get(name: string): any,
 *   set?(name: string, value: unknown): void,
 *   save_changes?(): void,
 *   send(content: object, callbacks?: unknown, buffers?: ArrayBufferLike[]): void,
 *   on?(event: string, listener: (content: any, buffers: DataView[]) => void): void,
 *   off?(event: string, listener: (content: any, buffers: DataView[]) => void): void,
 * }} Model
 */
/**
 * `begin(play)` draws the first picture, or plays it; `state()` is everything on show, for tests and the curious.
 *
 * @typedef {{ element: HTMLElement, begin(play: boolean): void, state(): object, close?(): void }} Explorer
 */
/** @typedef {HTMLElement & { __rankone_state?: () => object, __rankone_states?: () => Promise<object> }} Place */

/**
 * What a widget's module exports. A `still` explorer has nothing to play; a `lazy` one draws nothing until it is seen.
 *
 * @param {string} css
 * @param {(model: Model, el: Place) => Explorer} create
 * @param {{ still?: boolean, lazy?: boolean }} [how]
 */
export const mount = (css, create, { still = false, lazy = false } = {}) => ({
  /** @param {{ model: Model, el: Place }} place */
  render({ model, el }) {
    const undress = dress(el, css);
    const explorer = create(model, el);
    el.append(explorer.element);
    el.__rankone_state = explorer.state;
    if (!lazy) explorer.begin(false);
    const watcher = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      watcher.disconnect();
      if (lazy || !reducedMotion()) explorer.begin(true);
    });
    if (!still) watcher.observe(el);
    return () => {
      watcher.disconnect();
      explorer.close?.();
      undress();
    };
  },
});

/**
 * Keeps a trait of the model at what the page shows.
 *
 * @param {Model} model
 * @param {string} name
 */
export const keeper = (model, name) => (/** @type {object} */ value) => {
  model.set?.(name, value);
  model.save_changes?.();
};
