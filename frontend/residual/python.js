// The model on show as a Python script, with the calls of the package that draw these examples and fit this model.
import { HEAD, literal, script } from "../kit/python.js";
import * as random from "../math/random.js";
import { drawPlane, fitPlane } from "./math/sets.js";

/** @import { Settings } from "./settings.js" */

/** @param {Settings} settings */
export const python = (settings) =>
  ({ line: onLine, plane: inPlane, waves: onCircle })[settings.view](settings);

/**
 * A script that computes X, y, theta, residuals; and base, correction and model at the places x along the first axis.
 *
 * @param {Settings} settings
 */
const onLine = ({ seed, n, d, L, k, sigma, noise }) =>
  script(
    HEAD,
    "from rankone.theory.linear_resmem import constrained_erm",
    k === 1 && L <= 1 && "from rankone.theory.resmem_rates import noisy_risk",
    "",
    `points, noise = jax.random.split(jax.random.key(${seed}))`,
    `X = np.asarray(jax.random.normal(points, (${n}, ${d + 2}), "float32"), float)  # uniform in a ball:`,
    `X = ${d + 2} ** 0.5 * X[:, :${d}] / np.linalg.norm(X, axis=1, keepdims=True)  # drop two coordinates`,
    `y = X[:, 0] + ${noise} ** 0.5 * np.asarray(jax.random.normal(noise, (${n},), "float32"), float)`,
    L > 0
      ? `theta = np.asarray(constrained_erm(X, y, ${L}).theta)  # the base: least squares, ‖θ‖ ≤ ${L}`
      : `theta = np.zeros(${d})  # a base of no capacity`,
    "residuals = y - X @ theta",
    `memory = ro.ResMem(k=${k}, sigma=${sigma}).fit_residuals(X, residuals[:, None])`,
    `x = ${d + 2} ** 0.5 * np.linspace(-1, 1, 161)  # along the first axis`,
    `queries = np.stack([x, *np.zeros((${d - 1}, 161))], 1)`,
    "base = queries @ theta",
    "correction = np.asarray(memory.correction(queries))[:, 0]",
    "model = base + correction",
    'print(f"Mean squared error along the first axis: {((model - x) ** 2).mean():.2g}")',
    k === 1 &&
      L <= 1 &&
      `print(f"base + 1 neighbour, law: {float(noisy_risk(${n}, ${d}, ${L}, ${noise})):.2g}")`,
  );

/**
 * A script that computes X, y, residuals; base, correction and model at the places x around the circle; and both laws.
 *
 * @param {Settings} settings
 */
const onCircle = ({ seed, n, k, sigma, frequency, learns }) =>
  script(
    HEAD,
    "from rankone.theory.residual_energy import mode_risk",
    "",
    "smooth = lambda x: np.sin(2 * np.pi * x)",
    `rough = lambda x: np.sin(2 * np.pi * ${frequency} * x) / 2`,
    `X = np.asarray(jax.random.uniform(jax.random.key(${seed}), (${n},), "float32"), float)`,
    "y = smooth(X) + rough(X)",
    `residuals = y - ${learns}(X)`,
    "around = np.concatenate([X - 1, X, X + 1])[:, None]  # the points once more at either side",
    `memory = ro.ResMem(k=${Math.min(k, n)}, sigma=${sigma}).fit_residuals(around, np.tile(residuals, 3)[:, None])`,
    "x = np.linspace(0, 1, 401)",
    `base = ${learns}(x)`,
    "correction = np.asarray(memory.correction(x[:, None]))[:, 0]",
    "model = base + correction",
    "error = ((model - smooth(x) - rough(x)) ** 2).mean()",
    'print(f"Mean squared error around the circle: {error:.2g}")',
    `laws = {"smooth": mode_risk(${n}, 1, ${frequency}) / 8, "rough": mode_risk(${n}, 1, 1) / 2}`,
    "for part, law in laws.items():",
    '    print(f"base knows the {part} wave: base + 1 neighbour, law: {float(law):.2g}")',
  );

/**
 * A script that computes X, y, w, residuals; base and model on a grid of the square; and `wrong`, the fraction of wrong
 * answers on the grid.
 *
 * @param {Settings} settings
 */
function inPlane(settings) {
  const { seed, n, k, sigma, flips, L } = settings;
  const { w } = fitPlane(drawPlane(random.key(seed), n), settings);
  return script(
    HEAD,
    "",
    `points, order = jax.random.split(jax.random.key(${seed}))`,
    `X = 2 * np.asarray(jax.random.uniform(points, (${n}, 2), "float32"), float) - 1`,
    "above = lambda x, y: y > 0.55 * np.sin(np.pi * x)  # the true classes",
    `flipped = np.asarray(jax.random.uniform(order, (${n},), "float32")) < ${flips}`,
    "y = (above(*X.T) ^ flipped).astype(int)",
    `w = np.array(${literal(w)})  # the base: logistic regression, ‖w‖ ≤ 14 · ${L}`,
    "",
    "def p(x, y):",
    "    powers = 1, x, y, x * x, x * y, y * y, x**3, x * x * y, x * y * y, y**3",
    "    score = sum(v * power for v, power in zip(w, powers))",
    "    return np.stack([1 / (1 + np.exp(score)), 1 / (1 + np.exp(-score))], 1)",
    "",
    "residuals = y - p(*X.T)[:, 1]",
    `memory = ro.ResMem(k=${k}, sigma=${sigma}).fit(X, p(*X.T), y)`,
    "side = (2 * np.arange(72) + 1) / 72 - 1",
    "grid = np.array([(x, -y) for y in side for x in side])",
    "base = p(*grid.T)",
    "model = np.asarray(memory.predict(grid, base))[:, 1]",
    "wrong = ((model > 0.5) != above(*grid.T)).mean()",
    'print(f"Base + memory: {100 * wrong:.1f} % of the square wrong")',
  );
}
