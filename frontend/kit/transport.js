// The row under what moves: playback, speed, reset; and the keys that do the same.
import { button, select } from "./controls.js";
import { h } from "./dom.js";
import { playback } from "./playback.js";
import { AT_ONCE, defaultSpeed } from "./player.js";

const SPEEDS = [
  [10, "10 a second"],
  [30, "30 a second"],
  [60, "60 a second"],
  [240, "240 a second"],
  [AT_ONCE, "at once"],
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
    value: defaultSpeed(),
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
      speed.value = v;
    },
  };
}

/** A keydown listener for the same actions; fields and drawings that listen keep their own keys. */
export function shortcuts(on) {
  const actions = { k: on.toggle, l: on.step, j: on.back, 0: on.start, r: on.reset };
  return (event) => {
    if (event.target.matches("input, select, textarea, [role=application]")) return;
    if (event.ctrlKey || event.metaKey || event.altKey || !actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  };
}

/** What the keys do; `more` are lines of the widget's own. */
export function help(...more) {
  const keys = KEYS.flatMap(([key, what], i) => [
    h("kbd", {}, key),
    ` ${what}${i + 1 < KEYS.length ? "; " : "."}`,
  ]);
  return h(
    "details",
    { class: "r1-help" },
    h("summary", {}, "Keys"),
    h("p", {}, "With the focus on any button: ", keys),
    more.map((line) => h("p", {}, line)),
  );
}
