// "Run in JAX": the same run, computed by the package in a live kernel, on its accelerator.
import { button } from "../kit/controls.js";
import { h, setText } from "../kit/dom.js";
import { picture } from "../kit/imagewell.js";
import { kernelLink } from "../kit/messages.js";
import { fixed } from "../kit/number.js";
import { toBytes } from "../math/patterns.js";

/** @import { Model } from "../kit/mount.js" */
/** @import { Ready, Settings } from "./settings.js" */

const GREETING = 4000; // milliseconds in which a live kernel answers

/**
 * `current()` returns the settings on show; the result is drawn beside the button.
 *
 * @param {Model} model
 * @param {() => { settings: Settings, ready: Ready }} current
 */
export function createJaxRun(model, current) {
  const link = kernelLink(model);
  const result = picture({ label: "Result of the run in JAX", size: 32 });
  const energy = h("span", { class: "r1-muted" });
  const panel = h(
    "figure",
    { class: "r1-of-jax", hidden: true },
    result.canvas,
    h("figcaption", {}, h("strong", {}, "In JAX"), energy),
  );
  const run = button({ label: "Run in JAX", onClick: start, disabled: true, "data-name": "jax" });
  const words = h(
    "span",
    { class: "r1-muted", role: "status" },
    "Needs a live kernel: open this chapter in Colab or JupyterLab.",
  );
  let live = false;
  link.ask("hello", {}, [], GREETING).then(
    ({ content }) => {
      live = true;
      run.disabled = false;
      setText(words, `Runs in this kernel, on ${content.device}.`);
    },
    () => {},
  );

  async function start() {
    const { settings, ready } = current();
    const { query, free } = ready.config;
    const { beta, Y, eta, steps, basis, seed } = settings;
    const patterns = new Float32Array(ready.patterns.length * query.length);
    ready.patterns.forEach((pattern, i) => {
      patterns.set(pattern, i * query.length);
    });
    const clamp = free ? Uint8Array.from(free, (f) => 1 - f) : new Uint8Array(query.length);
    run.disabled = true;
    setText(words, "Running in the kernel…");
    try {
      const question = { beta, Y, eta, steps, basis, seed, K: ready.patterns.length };
      const buffers = [patterns.buffer, query.buffer.slice(0), clamp.buffer];
      const { content, buffers: answer } = await link.ask("run", question, buffers);
      if (current().ready !== ready)
        return setText(words, "The settings changed while it ran: run it again.");
      const view = answer[0];
      const x = new Float32Array(
        view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength),
      );
      result.show(toBytes(x, new Uint8ClampedArray(3 * settings.size ** 2)));
      setText(energy, ` energy ${fixed(content.energy, 4)}`);
      panel.hidden = false;
      setText(words, `${content.steps} steps in ${fixed(content.seconds)} s on ${content.device}.`);
    } catch (error) {
      setText(words, `The kernel answered: ${error instanceof Error ? error.message : error}`);
    } finally {
      run.disabled = !live;
    }
  }

  return {
    element: h("div", { class: "r1-jax" }, run, words, panel),
    forget() {
      panel.hidden = true;
    },
    close: link.close,
  };
}
