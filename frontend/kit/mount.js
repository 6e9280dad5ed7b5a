// An explorer as an anywidget: styled, begun when the reader can see it, and cleaned up at the end.
import { reducedMotion } from "./clock.js";
import { dress } from "./theme.js";

/**
 * The part of an anywidget model that the explorers use. On a page without a kernel no answer comes.
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
 * `begin(play)` draws the first picture, or plays it; `state()` returns everything shown, for tests.
 *
 * @typedef {{ element: HTMLElement, begin(play: boolean): void, state(): object, close?(): void }} Explorer
 */
/** @typedef {HTMLElement & { __rankone_state?: () => object, __rankone_states?: () => Promise<object> }} Place */

/**
 * The default export of a widget's module. A `still` explorer has nothing to play; a `lazy` explorer draws nothing
 * until it is visible.
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
 * A function that writes a value of the page to a trait of the model.
 *
 * @param {Model} model
 * @param {string} name
 */
export const keeper = (model, name) => (/** @type {object} */ value) => {
  model.set?.(name, value);
  model.save_changes?.();
};
