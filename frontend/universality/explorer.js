// Settings in, one gradient step, pictures out.
import { button } from "../kit/controls.js";
import { h, setText, throttle } from "../kit/dom.js";
import { plot } from "../kit/plot.js";
import { createQuestions } from "../kit/questions.js";
import { createCurve } from "./curve.js";
import { figure, rounded } from "./format.js";
import { observe } from "./observe.js";
import { createPanel } from "./panel.js";
import { PRESETS } from "./presets.js";
import { buildNetwork, networkKey, nextSettings } from "./settings.js";
import { createSlots } from "./slots.js";

const count = (n) => n.toLocaleString("en-GB");
export function createExplorer(initial) {
  let settings = initial;
  let preset = null;
  let network = null;
  let key = null;
  let seen = null;
  const questions = createQuestions(PRESETS, choose);
  const curve = createCurve({
    onPair: (x, y) => change({ x, y }),
    onProbe: (probe) => change({ probe }),
  });
  const slots = createSlots();
  const flow = plot({
    title: "Three channels, layer by layer",
    xLabel: "layer, from φ to the read-out",
    yLabel: "largest entry",
    scale: "log",
    series: [
      { key: "forward", label: "forward: x on its way, before", tone: "exact" },
      { key: "error", label: "written channel: error coming back", tone: "law", dash: "2 3" },
      { key: "written", label: "written channel, after", tone: "distributed", dash: "7 3" },
      { key: "switch", label: "switch θ_b, after", tone: "local", dash: "10 3 2 3" },
    ],
    summary: (values, at) =>
      Object.entries(values)
        .filter(([, line]) => line.length > 0)
        .map(
          ([name, line]) => `${name} ${figure(line[0])} at φ, ${figure(line[at])} at the read-out`,
        )
        .join("; "),
  });
  const facts = h("dl", { class: "r1-facts" });
  const panel = createPanel(settings, change);
  const status = h("p", { class: "r1-status", role: "status", "aria-live": "polite" });
  const say = throttle(() => setText(status, words()), 1200);
  const element = h(
    "div",
    { class: "r1-body r1-universality" },
    questions.element,
    h("div", { class: "r1-stage-block" }, curve.element, status),
    h("div", { class: "r1-side" }, panel.element, h("div", { class: "r1-tools" }, reset())),
    h("div", { class: "r1-chart-block r1-two" }, slots.element, flow.element, facts),
  );

  function reset() {
    return button({ label: "Reset", icon: "reset", text: true, onClick: () => choose(PRESETS[0]) });
  }

  function choose(chosen) {
    preset = chosen.key;
    settings = { ...chosen.set };
    update();
    questions.mark(preset, chosen.ask);
    questions.answer(chosen.after(seen));
  }

  function change(patch) {
    settings = nextSettings(settings, patch);
    update();
    const chosen = PRESETS.find((p) => p.key === preset);
    if (
      chosen &&
      Object.keys(patch).every((name) => ["x", "y", "probe", "profile"].includes(name))
    ) {
      questions.answer(chosen.after(seen));
    } else if (chosen) {
      preset = null;
      questions.mark(null, "Your own setting. Press a question to come back to it.");
    }
  }

  function update() {
    const wanted = networkKey(settings);
    if (wanted !== key) [network, key] = [buildNetwork(settings), wanted];
    seen = observe(network, settings);
    panel.show(settings);
    curve.show(seen, settings, words());
    slots.show(seen.slots, settings);
    const last = seen.flow.forward.length - 1;
    flow.draw({ values: seen.flow, xMax: last, step: last });
    facts.replaceChildren(
      ...rows().map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
    );
    say();
  }

  function words() {
    const { atProbe, start } = seen;
    const { x, y, probe } = settings;
    return (
      `From (${x.toFixed(2)}, ${y.toFixed(2)}): at x* = ${probe.toFixed(2)} the network says ${rounded(start)} before ` +
      `the step and ${rounded(atProbe.output)} after it; the target is ${rounded(atProbe.wanted)}.`
    ).replaceAll(/-(?=\d)/g, "−");
  }

  function rows() {
    const { depth, parameters, start, gap, switchAfter, deviation, tableError, error } = seen;
    return [
      ["Layers of weights", count(depth)],
      ["Parameters, all trained", count(parameters)],
      ["Prediction before, ŷ", rounded(start)],
      ["Error that is sent back, y − ŷ", rounded(gap)],
      [
        "θ_b, before → after",
        switchAfter === null ? "none" : `${figure(settings.switch)} → ${figure(switchAfter)}`,
      ],
      ["After the step, rms off the target", rounded(error)],
      ...(deviation === null
        ? []
        : [
            ["Its table, rms off the target", rounded(tableError)],
            ["After the step, rms off the table", rounded(deviation)],
          ]),
    ];
  }

  return {
    element,
    begin() {
      const same = PRESETS.find(({ set }) => JSON.stringify(set) === JSON.stringify(settings));
      if (same) choose(same);
      else {
        update();
        questions.mark(null, "Press a question, or drag the orange point.");
      }
    },
    /** Read-only: everything on show, for tests and the curious. */
    state: () => {
      const { step, ...shown } = seen;
      return { settings, preset, ...shown };
    },
  };
}
