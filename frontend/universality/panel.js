// The reader's controls: the target, the construction and its size, the pair, and the constants of the construction.
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
    target: select({
      ...of("target"),
      label: "Target f(x, y, x*)",
      options: pairs(TARGETS),
      help: "What the network is to say at x* once it has taken one step on (x, y).",
    }),
    construction: select({
      ...of("construction"),
      label: "Construction",
      options: pairs(CONSTRUCTIONS),
      help: "How the network is built before the step. The first two hold a table of J² cells; in the others least squares gives the output weights.",
    }),
    size: slider({
      ...of("size"),
      label: "cells per axis, or readers",
      values: sizes,
      help: "Cells on each axis of the table; without a table the readers, units that are inactive until the step.",
    }),
    ratio: slider({
      ...of("ratio"),
      label: "step size",
      symbol: "α",
      values: RATIOS,
      format: (r) => figures(r * CONSTANTS.alpha, 4),
      help: `Size of the one gradient step. The weights were built for ${CONSTANTS.alpha}.`,
    }),
    offset: slider({
      ...of("offset"),
      label: "slots, before the step",
      symbol: "δ",
      values: OFFSETS,
      format: small,
      help: "Value of the units that the step writes, the slots, before it. At 0 their ReLUs stand on their kink and pass no gradient.",
    }),
    switch: slider({
      ...of("switch"),
      label: "switch, before the step",
      symbol: "θ_b",
      values: SWITCHES,
      format: small,
      help: "A trained number, nearly 0 before the step. Once it is clearly positive, x* is looked up in the table. At 0 it gets no gradient.",
    }),
    x: ranged("x", "x", "of the pair", [0, 1]),
    y: ranged("y", "y", "of the pair", Y_RANGE),
    probe: ranged("probe", "x*", "to look at", [0, 1]),
  };
  const pencil = createPencil({ onChange: (profile) => change({ profile }) });
  const elements = elementsOf(fields);
  return {
    first: [
      ...elements("target"),
      pencil.element,
      ...elements("construction", "size", "ratio", "offset", "switch"),
    ],
    rest: h("div", { class: "r1-controls" }, group("The pair", elements("x", "y", "probe"))),
    /** @param {Settings} next */
    show(next) {
      const offered = CONSTRUCTIONS[next.construction].sizes;
      if (offered !== sizes) {
        sizes = offered;
        fields.size.bound({ values: sizes });
      }
      fill(fields, next);
      fields.switch.disabled = !hasSwitch(next.construction);
      pencil.element.hidden = next.target !== "drawn";
      pencil.show(next.profile);
    },
  };
}
