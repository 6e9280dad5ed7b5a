// The row under the pictures: playback, speed, reset; and the keys that do the same.
import { button, select } from "../kit/controls.js";
import { h } from "../kit/dom.js";
import { playback } from "../kit/playback.js";

const SPEEDS = [
  ["10", "10 a second"],
  ["30", "30 a second"],
  ["60", "60 a second"],
  ["240", "240 a second"],
  ["1e9", "at once"],
];
const KEYS = [
  ["k", "play or pause"],
  ["l", "one step on"],
  ["j", "one step back"],
  ["0", "back to the start"],
  ["r", "reset everything"],
];

/** `on`: { start(), toggle(), step(), scrub(step), speed(v), reset() }. */
export function createTransport(on) {
  const bar = playback(on);
  const speed = select({
    label: "Speed",
    name: "speed",
    options: SPEEDS,
    value: "60",
    onInput: (v) => on.speed(Number(v)),
  });
  const again = button({
    label: "Reset",
    icon: "reset",
    text: true,
    onClick: on.reset,
    "data-name": "reset",
  });
  return {
    element: h("div", { class: "r1-bar" }, bar.element, speed.element, again),
    show: bar.show,
    set speed(v) {
      speed.value = String(v);
    },
  };
}

/** A keydown listener for the same actions; fields and the painted canvas keep their own keys. */
export function shortcuts(on) {
  const actions = { k: on.toggle, l: on.step, j: on.back, 0: on.start, r: on.reset };
  return (event) => {
    if (event.target.matches("input, select, textarea, [role=application]")) return;
    if (event.ctrlKey || event.metaKey || event.altKey || !actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  };
}

export function help() {
  const keys = KEYS.flatMap(([key, what]) => [h("kbd", {}, key), ` ${what}; `]);
  return h(
    "details",
    { class: "r1-help" },
    h("summary", {}, "Keys"),
    h(
      "p",
      {},
      "With the focus on any button: ",
      keys,
      "in the grid of pictures, arrow keys move and space stores.",
    ),
    h(
      "p",
      {},
      "On the query: arrow keys move the brush, space paints, or restores if Restore is pressed.",
    ),
  );
}
