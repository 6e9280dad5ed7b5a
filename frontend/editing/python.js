// The edit on show as Python code: the calls of the package that make the same edit.
import { arrayOf, HEAD, literal, script } from "../kit/python.js";

/** @import { Settings } from "./settings.js" */

/**
 * The script defines W (before the edit), after (Ŵ) and interference (at each key).
 *
 * @param {Settings} settings
 */
export function python({ keys, used, W, k, v, geometry, ridge, beta, pairs, order }) {
  const edit = call(geometry, ridge);
  const written = order.map((i) => `    (${arrayOf(pairs[i].k)}, ${arrayOf(pairs[i].v)}),`);
  const own = geometry !== "identity" && beta > 0;
  const writes = order.length > 0 && [
    "writes = [  # in the order they were written",
    ...written,
    "]",
    "for k, v in writes:",
    `    W = ${edit}.apply(W)`,
    own && `    K = np.column_stack([K, ${literal(beta)} ** 0.5 * k])  # adds βkkᵀ to C`,
  ];
  return script(
    HEAD,
    `W = ${arrayOf(W)}`,
    `keys = ${arrayOf(keys)}  # one in each row`,
    `K = ${behind(keys.length, used)}`,
    ...(writes || []),
    `k, v = ${arrayOf(k)}, ${arrayOf(v)}`,
    `edit = ${edit}`,
    "after = edit.apply(W)",
    "change = np.linalg.norm((after - W) @ keys.T, axis=0)  # how far each key's answer moves",
    'print("The edited matrix:", after, sep="\\n")',
    'print("Change at each key:", change.round(3))',
    'print(f"Interference, the sum of their squares: {(change**2).sum():.3g}")',
  );
}

/** @type {(n: number, used: number) => string} */
const behind = (n, used) =>
  used === n ? "keys.T" : `keys[:${used}].T * (${n} / ${used}) ** 0.5  # these stand for all`;

/** @type {(geometry: string, ridge: number) => string} */
function call(geometry, ridge) {
  if (geometry === "pinv") return "ro.editing.pseudo_inverse_edit(W, K, k, v)";
  if (geometry === "identity") return "ro.rank_one_edit(W, np.eye(2), k, v)";
  return `ro.rank_one_edit(W, K @ K.T, k, v${ridge > 0 ? `, ridge=${literal(ridge)}` : ""})`;
}
