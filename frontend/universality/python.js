// The step on show as a Python script, with the calls of the package that build this network and take this step.
import { HEAD, literal, script } from "../kit/python.js";
import { CONSTANTS } from "./math/tables.js";
import { hasSwitch, isFitted } from "./settings.js";

/** @import { TargetName } from "./math/targets.js" */
/** @import { Settings } from "./settings.js" */

/** @type {Record<TargetName, string>} */
const TARGETS = {
  sine: "y * np.sin(2 * np.pi * (x_star - x))",
  neighbour: "np.where(abs(x_star - x) < 0.25, y, 0.0)",
  bump: "np.sin(3 * y) * np.exp(-8 * (x_star - x) ** 2) + 0.3 * x_star",
  drawn: "y * np.interp(x_star - x, np.linspace(-1, 1, len(profile)), profile)",
};

/**
 * A script that computes `before` and `after`, the network over x_star, and `look`, the network at the probe before and
 * after the step.
 *
 * @param {Settings} settings
 */
export function python({ target, profile, construction, size, x, y, probe, ratio, ...settings }) {
  const number = isFitted(construction) ? "units" : "cells";
  const build = (/** @type {string} */ more) =>
    `ro.universal_learner(f, construction=${literal(construction)}, ${number}=${size}${more})`;
  const broken = changed(settings, construction);
  const margin = construction === "two_layers" ? ["margin=4.0"] : [];
  const given = `constants=ro.universality.Constants(${[...margin, ...broken].join(", ")})`;
  return script(
    broken.length > 0 && isFitted(construction) && "import dataclasses\n",
    HEAD,
    target === "drawn" && `profile = ${literal(profile)}`,
    "",
    "def f(x, y, x_star):",
    `    return ${TARGETS[target]}`,
    "",
    `network = ${build(broken.length === 0 || isFitted(construction) ? "" : `, ${given}`)}`,
    ...(broken.length > 0 && isFitted(construction)
      ? [
          "fitted = network.layers[-1]  # fitted before the constants change",
          `network = ${build(`, ${given}`)}`,
          "network = dataclasses.replace(network, layers=(*network.layers[:-1], fitted))",
        ]
      : []),
    `taught = ro.adapt(network, ${x}, ${y}, alpha=${ratio} * network.alpha)  # one gradient step on one pair`,
    "x_star = (np.arange(200) + 0.2) / 200",
    "before, after = ro.predict(network, x_star), ro.predict(taught, x_star)",
    `look = [float(ro.predict(one, ${probe})) for one in (network, taught)]`,
    "error = float(np.sqrt(np.mean((after - np.array([f(" +
      `${x}, ${y}, at) for at in x_star])) ** 2)))`,
    `print(f"At x* = ${probe} the network says {look[0]:.3g} before the step and {look[1]:.3g} after it.")`,
    'print(f"Error after the step, rms: {error:.3g}")',
  );
}

/** @type {(settings: { offset: number, switch: number }, construction: Settings["construction"]) => string[]} */
const changed = ({ offset, switch: theta }, construction) => [
  ...(offset === CONSTANTS.offset ? [] : [`offset=${offset}`]),
  ...(theta === CONSTANTS.switch || !hasSwitch(construction) ? [] : [`switch=${theta}`]),
];
