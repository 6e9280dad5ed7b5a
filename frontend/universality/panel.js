// The controls: target, construction and size, the pair, and the constants that can be broken.
import { group, select } from "../kit/controls.js";
import { h } from "../kit/dom.js";
import { slider } from "../kit/slider.js";
import { figure } from "./format.js";
import { CONSTANTS } from "./math/tables.js";
import { TARGETS } from "./math/targets.js";
import { createPencil } from "./pencil.js";
import { CONSTRUCTIONS, OFFSETS, RATIOS, SWITCHES, Y_RANGE } from "./settings.js";

const small = (v) => figure(v, 1);
const two = (v) => v.toFixed(2).replace("-", "−");
const pairs = (named) => Object.entries(named).map(([key, { label }]) => [key, label]);

export function createPanel(settings, change) {
  const set = (key) => (value) => change({ [key]: value });
  const target = select({
    label: "Target f(x, y, x*)",
    options: pairs(TARGETS),
    value: settings.target,
    onInput: set("target"),
    name: "target",
  });
  const construction = select({
    label: "Construction",
    options: pairs(CONSTRUCTIONS),
    value: settings.construction,
    onInput: set("construction"),
    name: "construction",
  });
  let sizes = CONSTRUCTIONS[settings.construction].sizes;
  const size = slider({
    label: "cells an axis, or units of the fit",
    symbol: "J",
    values: sizes,
    value: settings.size,
    onInput: set("size"),
    name: "size",
  });
  const ranged = (name, symbol, label, [min, max]) =>
    slider({
      label,
      symbol,
      min,
      max,
      step: 0.01,
      value: settings[name],
      format: two,
      onInput: set(name),
      name,
    });
  const x = ranged("x", "x", "of the pair", [0, 1]);
  const y = ranged("y", "y", "of the pair", Y_RANGE);
  const probe = ranged("probe", "x*", "to look at", [0, 1]);
  const listed = (name, symbol, label, values, format) =>
    slider({ label, symbol, values, value: settings[name], format, onInput: set(name), name });
  const ratio = listed("ratio", "α", "of the step", RATIOS, (r) =>
    Number((r * CONSTANTS.alpha).toPrecision(4)),
  );
  const offset = listed("offset", "δ", "in the written channel", OFFSETS, small);
  const theta = listed("switch", "θ_b", "before the step", SWITCHES, small);
  const pencil = createPencil({ onChange: set("profile") });
  const fields = { target, construction, x, y, probe, ratio, offset, switch: theta };
  const element = h(
    "div",
    { class: "r1-controls" },
    group(
      "What to learn",
      [target.element, construction.element, size.element, pencil.element],
      "r1-wide",
    ),
    group("From one example", [x.element, y.element, probe.element]),
    group(`What it takes (built for α = ${CONSTANTS.alpha})`, [
      ratio.element,
      offset.element,
      theta.element,
    ]),
  );
  return {
    element,
    show(next) {
      const wanted = CONSTRUCTIONS[next.construction].sizes;
      if (wanted !== sizes) {
        sizes = wanted;
        size.bound({ values: sizes });
      }
      size.value = next.size;
      for (const [name, field] of Object.entries(fields)) field.value = next[name];
      theta.disabled = next.construction === "shallow";
      pencil.element.hidden = next.target !== "drawn";
      pencil.show(next.profile);
    },
  };
}
