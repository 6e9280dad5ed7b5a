// Questions to a live kernel, and its answers. On a page without a kernel, no answer comes.

/** @import { Model } from "./mount.js" */
/** @typedef {{ content: any, buffers: DataView[] }} Answer */

/**
 * Wraps an anywidget model: `ask(kind, content, buffers)` resolves with { content, buffers }, or rejects when
 * the kernel reports an error or does not answer within `patience`.
 *
 * @param {Model} model
 */
export function kernelLink(model) {
  /** @type {Map<string, { resolve(answer: Answer): void, reject(error: unknown): void, timer: ReturnType<typeof setTimeout> }>} */
  const waiting = new Map();
  /** @type {(content: any, buffers: DataView[]) => void} */
  const receive = (content, buffers) => {
    const question = waiting.get(content?.id);
    if (!question) return;
    waiting.delete(content.id);
    clearTimeout(question.timer);
    if (content.error) question.reject(new Error(content.error));
    else question.resolve({ content, buffers });
  };
  model.on?.("msg:custom", receive);
  return {
    /**
     * @param {string} kind
     * @param {object} [content]
     * @param {ArrayBufferLike[]} [buffers]
     * @param {number} [patience] Milliseconds.
     * @returns {Promise<Answer>}
     */
    ask(kind, content = {}, buffers = [], patience = 600_000) {
      return new Promise((resolve, reject) => {
        const id = Math.random().toString(36).slice(2);
        const timer = setTimeout(() => {
          waiting.delete(id);
          reject(new Error("No answer from the kernel."));
        }, patience);
        waiting.set(id, { resolve, reject, timer });
        try {
          model.send({ id, kind, ...content }, undefined, buffers);
        } catch (error) {
          clearTimeout(timer);
          waiting.delete(id);
          reject(error);
        }
      });
    },
    close() {
      for (const { timer } of waiting.values()) clearTimeout(timer);
      waiting.clear();
      model.off?.("msg:custom", receive);
    },
  };
}
