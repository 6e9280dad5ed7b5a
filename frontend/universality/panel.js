// The controls: target, construction and size, the pair, and the constants that can be broken.
import { elementsOf, fill, group, select } from "../kit/controls.js";
import { h } from "../kit/dom.js";
import { fieldsOf } from "../kit/fields.js";
import { figures, fixed } from "../kit/number.js";
import { slider } from "../kit/slider.js";
import { CONSTANTS } from "./math/tables.js";
import { TARGETS } from "./math/targets.js";
import { createPencil } from "./pencil.js";
import { CONSTRUCTIONS, hasSwitch, OFFSETS, RATIOS, SWITCHES, Y_RANGE } from "./settings.js";

/** @import { Point } from "../kit/handle.js" */
/** @import { Patch, Settings } from "./settings.js" */

/** @param {number} v */
const small = (v) => figures(v, 1);
/** @type {<K extends string>(named: Record<K, { label: string }>) => [K, string][]} */
const pairs = (named) =>
  /** @type {(keyof typeof named)[]} */ (Object.keys(named)).map((key) => [key, named[key].label]);

/**
 * @param {Settings} settings
 * @param {(patch: Patch) => void} change
 */
export function createPanel(settings, change) {
  const of = fieldsOf(settings, change);
  /** @type {(name: "x" | "y" | "probe", symbol: string, label: string, range: Point) => ReturnType<typeof slider>} */
  const ranged = (name, symbol, label, [min, max]) =>
    slider({ ...of(name), label, symbol, min, max, step: 0.01, format: fixed });
  let sizes = CONSTRUCTIONS[settings.construction].sizes;
  const fields = {
    target: select({ ...of("target"), label: "Target f(x, y, x*)", options: pairs(TARGETS) }),
    construction: select({
      ...of("construction"),
      label: "Construction",
      options: pairs(CONSTRUCTIONS),
    }),
    size: slider({
      ...of("size"),
      label: "cells an axis, or units of the fit",
      symbol: "J",
      values: sizes,
    }),
    x: ranged("x", "x", "of the pair", [0, 1]),
    y: ranged("y", "y", "of the pair", Y_RANGE),
    probe: ranged("probe", "x*", "to look at", [0, 1]),
    ratio: slider({
      ...of("ratio"),
      label: "of the step",
      symbol: "α",
      values: RATIOS,
      format: (r) => figures(r * CONSTANTS.alpha, 4),
    }),
    offset: slider({
      ...of("offset"),
      label: "in the written channel",
      symbol: "δ",
      values: OFFSETS,
      format: small,
    }),
    switch: slider({
      ...of("switch"),
      label: "before the step",
      symbol: "θ_b",
      values: SWITCHES,
      format: small,
    }),
  };
  const pencil = createPencil({ onChange: (profile) => change({ profile }) });
  const elements = elementsOf(fields);
  const element = h(
    "div",
    { class: "r1-controls" },
    group(
      "What to learn",
      [...elements("target", "construction", "size"), pencil.element],
      "r1-wide",
    ),
    group("From one example", elements("x", "y", "probe")),
    group(
      `What it takes (built for α = ${CONSTANTS.alpha})`,
      elements("ratio", "offset", "switch"),
    ),
  );
  return {
    element,
    /** @param {Settings} next */
    show(next) {
      const wanted = CONSTRUCTIONS[next.construction].sizes;
      if (wanted !== sizes) {
        sizes = wanted;
        fields.size.bound({ values: sizes });
      }
      fill(fields, next);
      fields.switch.disabled = !hasSwitch(next.construction);
      pencil.element.hidden = next.target !== "drawn";
      pencil.show(next.profile);
    },
  };
}
