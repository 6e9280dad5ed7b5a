// The controls: target, construction and size, the pair, and the constants that can be broken.
import { fill, group, select } from "../kit/controls.js";
import { h } from "../kit/dom.js";
import { figures, fixed } from "../kit/number.js";
import { slider } from "../kit/slider.js";
import { CONSTANTS } from "./math/tables.js";
import { TARGETS } from "./math/targets.js";
import { createPencil } from "./pencil.js";
import { CONSTRUCTIONS, OFFSETS, RATIOS, SWITCHES, Y_RANGE } from "./settings.js";

/** @import { Point } from "../kit/handle.js" */
/** @import { TargetName } from "./math/targets.js" */
/** @import { Construction, Patch, Settings } from "./settings.js" */

/** @param {number} v */
const small = (v) => figures(v, 1);
/** @type {(named: Record<string, { label: string }>) => [string, string][]} */
const pairs = (named) => Object.entries(named).map(([key, { label }]) => [key, label]);

/**
 * @param {Settings} settings
 * @param {(patch: Patch) => void} change
 */
export function createPanel(settings, change) {
  /** @type {<K extends keyof Settings>(key: K) => (value: Settings[K]) => void} */
  const set = (key) => (value) => change({ [key]: value });
  const target = select({
    label: "Target f(x, y, x*)",
    options: pairs(TARGETS),
    value: settings.target,
    onInput: (v) => change({ target: /** @type {TargetName} */ (v) }),
    name: "target",
  });
  const construction = select({
    label: "Construction",
    options: pairs(CONSTRUCTIONS),
    value: settings.construction,
    onInput: (v) => change({ construction: /** @type {Construction} */ (v) }),
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
  /** @type {(name: "x" | "y" | "probe", symbol: string, label: string, range: Point) => ReturnType<typeof slider>} */
  const ranged = (name, symbol, label, [min, max]) =>
    slider({
      label,
      symbol,
      min,
      max,
      step: 0.01,
      value: settings[name],
      format: fixed,
      onInput: set(name),
      name,
    });
  const x = ranged("x", "x", "of the pair", [0, 1]);
  const y = ranged("y", "y", "of the pair", Y_RANGE);
  const probe = ranged("probe", "x*", "to look at", [0, 1]);
  /** @type {(name: "ratio" | "offset" | "switch", symbol: string, label: string, values: number[], format: (v: number) => string) => ReturnType<typeof slider>} */
  const listed = (name, symbol, label, values, format) =>
    slider({ label, symbol, values, value: settings[name], format, onInput: set(name), name });
  const ratio = listed("ratio", "α", "of the step", RATIOS, (r) => figures(r * CONSTANTS.alpha, 4));
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
    /** @param {Settings} next */
    show(next) {
      const wanted = CONSTRUCTIONS[next.construction].sizes;
      if (wanted !== sizes) {
        sizes = wanted;
        size.bound({ values: sizes });
      }
      size.value = next.size;
      fill(fields, next);
      theta.disabled = next.construction === "shallow";
      pencil.element.hidden = next.target !== "drawn";
      pencil.show(next.profile);
    },
  };
}
