// The keys' plane and the values' plane: where k*, u, v* and r point, and where every answer goes.
import { h } from "../kit/dom.js";
import { figures, subscript } from "../kit/number.js";
import { plane } from "../kit/plane.js";
import { captioned } from "../kit/readout.js";
import { dot, eigen2, minus, norm, plus, scaled, times } from "../math/linear.js";
import { isHeld, REACH } from "./settings.js";

/** @import { Point } from "../kit/handle.js" */
/** @import { Matrix, Vector } from "../math/linear.js" */
/** @import { Scene } from "../kit/plane.js" */
/** @import { Consequences, Settings } from "./settings.js" */

/** @type {(v: Vector) => Point} */
const point = ([x, y]) => [x, y];
/** @type {(A: Matrix, x: Point) => Point} */
const mapped = (A, x) => point(times(A, x));

/**
 * The two planes. `on` is called when the reader drags k*, v*, the i-th key or the end of the i-th axis.
 *
 * @param {(moved: { k: Point } | { v: Point } | { key: [number, Point] } | { axis: [number, Point] }) => void} on
 */
export function createPlanes(on) {
  const keys = plane({
    label: "Plane of keys: k*, the stored keys and the axes of their cloud can be moved",
    reach: REACH,
    onMove: (id, at) => {
      const [kind, index] = id.split(":");
      if (kind === "k") on({ k: at });
      else if (kind === "key") on({ key: [Number(index), at] });
      else on({ axis: [Number(index), at] });
    },
  });
  const values = plane({
    label: "Plane of values: v* can be moved",
    reach: REACH,
    onMove: (_, at) => on({ v: at }),
  });
  const first = captioned("Keys", keys.element);
  const second = captioned("Values", values.element);
  return {
    element: h("div", { class: "r1-planes" }, first.element, second.element),
    /** @type {(settings: Settings, shown: Consequences, axes: Point[]) => void} */
    show(settings, shown, axes) {
      keys.show(keyScene(settings, shown, axes));
      values.show(valueScene(settings, shown));
      first.note(shown.edit ? "no change on the dashed line" : "");
      second.note(noteOf(settings, shown));
    },
  };
}

/** @type {(settings: Settings, shown: Consequences) => string} */
function noteOf({ keys }, { edit, residual }) {
  if (!edit) return "Wk for every key";
  const gone = keys.filter((key) => Math.max(...mapped(edit.W, key).map(Math.abs)) > REACH).length;
  const beyond = gone === 0 ? "" : `; ${gone} beyond the edge`;
  return `Wk → Ŵk; ‖r‖ = ${figures(norm(residual))}${beyond}`;
}

/** @type {(settings: Settings, shown: Consequences, axes: Point[]) => Scene} */
function keyScene({ keys, k, pairs, used }, { edit, ellipse }, axes) {
  /** @type {Required<Scene>["lines"]} */
  const lines = [{ from: [0, 0], to: k, tone: "exact", head: true, width: 2.4 }];
  /** @type {Required<Scene>["texts"]} */
  const texts = [{ at: k, text: "k*", tone: "exact" }];
  if (edit) {
    const u = point(scaled(edit.right, 0.9 / norm(edit.right)));
    /** @type {Point} */
    const across = scaled([-u[1], u[0]], 6);
    lines.unshift(
      {
        from: across,
        to: scaled(across, -1),
        tone: "local",
        dash: "6 4",
        width: 1.5,
        endless: true,
      },
      ...levelSet(ellipse, k),
    );
    lines.push({ from: k, to: plus(k, u), tone: "local", head: true, width: 2 });
    texts.push({ at: plus(k, u), text: "u", tone: "local" });
  }
  const handles = [
    ...keys.map((at, i) => ({
      id: `key:${i}`,
      at,
      name: `Key ${i + 1} of ${keys.length}${i < used ? "" : ", not in C"}`,
      tone: i < used ? "quiet" : "faint",
      r: 4.5,
      group: "keys",
    })),
    ...visibleAxes(axes).map(({ at, i, isLonger }) => ({
      id: `axis:${i}`,
      at,
      name: `${isLonger ? "Long" : "Short"} axis of the cloud`,
      tone: "law",
      r: 5,
    })),
    { id: "k", at: k, name: "Key of the edit, k*", tone: "exact", r: 7 },
  ];
  const dots = pairs.map((pair) => ({ at: pair.k, tone: "exact", hollow: true, r: 5 }));
  pairs.forEach((pair, i) => {
    if (norm(minus(pair.k, k)) < 0.2) return;
    texts.push({ at: pair.k, text: `k${subscript(i + 1)}`, tone: "exact" });
  });
  return { lines, dots, handles, texts };
}

/** @param {Point[]} axes */
const visibleAxes = (axes) =>
  axes
    .map((axis, i) => ({ at: inPlane(axis), i, isLonger: norm(axis) >= norm(axes[1 - i]) }))
    .filter(({ at }) => isHeld(at));

/**
 * The point, or, if it lies outside the plane, the point on its edge in the same direction, so that it can be dragged.
 *
 * @param {Point} at
 */
const inPlane = (at) => scaled(at, Math.min(1, REACH / Math.max(...at.map(Math.abs))));

/**
 * The level set of xᵀC⁻¹x through k, where u is perpendicular to it.
 *
 * @type {(C: Matrix, k: Point) => Required<Scene>["lines"]}
 */
function levelSet(C, k) {
  const { values, vectors } = eigen2(C);
  if (values[1] <= 1e-9 * values[0]) return [];
  const s = vectors.reduce((total, vector, i) => total + dot(vector, k) ** 2 / values[i], 0);
  const radii = values.map((value) => Math.sqrt(s * value));
  const points = Array.from({ length: 90 }, (_, i) => {
    const [a, b] = [
      Math.cos((i * Math.PI) / 45) * radii[0],
      Math.sin((i * Math.PI) / 45) * radii[1],
    ];
    return plus(scaled(vectors[0], a), scaled(vectors[1], b));
  });
  return [{ points, tone: "quiet", width: 1 }];
}

/** @type {(settings: Settings, shown: Consequences) => Scene} */
function valueScene({ keys, k, v, pairs }, { W, edit, residual: lost }) {
  const before = mapped(W, k);
  const residual = point(lost);
  const after = edit ? edit.W : W;
  /** @type {Required<Scene>["lines"]} */
  const lines = keys.map((key) => ({
    from: mapped(W, key),
    to: mapped(after, key),
    tone: "distributed",
    width: 1.2,
  }));
  lines.push(
    { from: [0, 0], to: before, tone: "exact", head: true, width: 2.4, dash: "5 3" },
    { from: [0, 0], to: v, tone: "exact", head: true, width: 2.4 },
    { from: before, to: plus(before, residual), tone: "local", head: true, width: 2 },
  );
  /** @type {Required<Scene>["dots"]} */
  const dots = [
    ...keys.map((key) => ({ at: mapped(W, key), tone: "quiet", hollow: true, r: 3.5 })),
    ...(edit ? keys : []).map((key) => ({ at: mapped(after, key), tone: "distributed", r: 3.5 })),
  ];
  /** @type {Required<Scene>["texts"]} */
  const texts = [
    { at: v, text: "v*", tone: "exact" },
    { at: before, text: "Wk*", tone: "exact" },
  ];
  if (norm(residual) > 0.2)
    texts.push({ at: plus(before, scaled(residual, 0.5)), text: "r", tone: "local" });
  pairs.forEach((pair, i) => {
    const now = mapped(after, pair.k);
    lines.push({ from: pair.v, to: now, tone: "law", width: 2 });
    dots.push({ at: pair.v, tone: "law", hollow: true, r: 5 }, { at: now, tone: "law", r: 3.5 });
    if (norm(minus(pair.v, v)) > 0.2)
      texts.push({ at: pair.v, text: `v${subscript(i + 1)}`, tone: "law" });
  });
  const handles = [{ id: "v", at: v, name: "Value of the edit, v*", tone: "exact", r: 7 }];
  return { lines, dots, handles, texts };
}
