// Back, play or pause, step, and a timeline to scrub.
import { button, icon } from "./controls.js";
import { h, setText, uid } from "./dom.js";

/** `on`: { start(), toggle(), step(), scrub(step) }. */
export function playback(on) {
  const id = uid();
  const play = button({
    label: "Play",
    icon: "play",
    onClick: () => on.toggle(),
    class: "r1-button r1-main",
  });
  const scrubber = h("input", {
    id,
    type: "range",
    class: "r1-range r1-scrub",
    min: 0,
    step: 1,
    "data-name": "scrub",
    "aria-label": "Step shown",
    oninput: () => on.scrub(Number(scrubber.value)),
  });
  const output = h("output", { class: "r1-value r1-steps", for: id });
  const element = h(
    "div",
    { class: "r1-playback", role: "group", "aria-label": "Playback" },
    button({ label: "Back to the start", icon: "start", onClick: () => on.start() }),
    play,
    button({ label: "One step", icon: "step", onClick: () => on.step() }),
    scrubber,
    output,
  );
  return {
    element,
    /** The step shown, of how many, or in other `words`; what is computed so far is the filled part. */
    show({ step, computed, steps, playing, words = `step ${step} / ${steps}` }) {
      scrubber.max = steps;
      scrubber.value = step;
      scrubber.setAttribute("aria-valuetext", words.replace("/", "of"));
      scrubber.style.setProperty("--r1-share", `${(100 * step) / steps}%`);
      scrubber.style.setProperty("--r1-computed", `${(100 * computed) / steps}%`);
      setText(output, words);
      const label = playing ? "Pause" : "Play";
      if (play.getAttribute("aria-label") === label) return;
      play.setAttribute("aria-label", label);
      play.title = label;
      play.replaceChildren(icon(playing ? "pause" : "play"));
    },
  };
}
