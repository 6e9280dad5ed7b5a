// The keys' plane and the values' plane: where k*, u, v* and r point, and where every answer goes.
import { h, setText } from "../kit/dom.js";
import { plane } from "../kit/plane.js";
import { dot, eigen2, minus, norm, scaled, times } from "./math/linear.js";
import { isHeld, REACH } from "./settings.js";

const sum = (a, b) => a.map((v, i) => v + b[i]);

/** `on(patch)`: { k }, { v }, { key: [i, at] } or { axis: [i, at] } while the reader drags. */
export function createPlanes(on) {
  const keys = plane({
    label: "Plane of keys: k*, the stored keys and the axes of their cloud can be moved",
    reach: REACH,
    onMove: (id, at) => {
      const [kind, index] = id.split(":");
      if (kind === "k") on({ k: at });
      else on({ [kind]: [Number(index), at] });
    },
  });
  const values = plane({
    label: "Plane of values: v* can be moved",
    reach: REACH,
    onMove: (_, at) => on({ v: at }),
  });
  const [keyNote, valueNote] = [h("span", { class: "r1-muted" }), h("span", { class: "r1-muted" })];
  const element = h(
    "div",
    { class: "r1-planes" },
    figure("Keys", keyNote, keys.element),
    figure("Values", valueNote, values.element),
  );
  return {
    element,
    show(settings, shown) {
      keys.show(keyScene(settings, shown));
      values.show(valueScene(settings, shown));
      setText(keyNote, shown.edit ? "no change on the dashed line" : "no edit");
      const lost = shown.edit ? norm(shown.residual).toFixed(2) : "unchanged";
      setText(valueNote, `Wk → Ŵk for every key; ‖r‖ = ${lost}`);
    },
  };
}

const figure = (title, note, drawn) =>
  h("figure", {}, h("figcaption", {}, h("strong", {}, title), " ", note), drawn);

function keyScene({ keys, k, pairs, used }, { edit, ellipse, axes }) {
  const lines = [{ from: [0, 0], to: k, tone: "exact", head: true, width: 2.4 }];
  const texts = [{ at: k, text: "k*", tone: "exact" }];
  if (edit) {
    const u = scaled(edit.right, 0.9 / norm(edit.right));
    const across = scaled([-u[1], u[0]], 6);
    lines.unshift(
      { from: across, to: scaled(across, -1), tone: "local", dash: "6 4", width: 1.5 },
      ...levelSet(ellipse, k),
    );
    lines.push({ from: k, to: sum(k, u), tone: "local", head: true, width: 2 });
    texts.push({ at: sum(k, u), text: "u", tone: "local" });
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

const visibleAxes = (axes) =>
  axes
    .map((axis, i) => ({ at: inPlane(axis), i, isLonger: norm(axis) >= norm(axes[1 - i]) }))
    .filter(({ at }) => isHeld(at));

/** What is farther out than the plane is drawn on its edge, within reach. */
const inPlane = (at) => scaled(at, Math.min(1, REACH / Math.max(...at.map(Math.abs))));

/** The level set of xᵀC⁻¹x through k: u is at a right angle to it. */
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
    return vectors[0].map((x, j) => a * x + b * vectors[1][j]);
  });
  return [{ points, tone: "quiet", width: 1 }];
}

function valueScene({ keys, k, v, pairs }, { W, edit, residual }) {
  const before = times(W, k);
  const after = edit ? edit.W : W;
  const lines = keys.map((key) => ({
    from: times(W, key),
    to: times(after, key),
    tone: "distributed",
    width: 1.2,
  }));
  lines.push(
    { from: [0, 0], to: before, tone: "exact", head: true, width: 2.4, dash: "5 3" },
    { from: [0, 0], to: v, tone: "exact", head: true, width: 2.4 },
    { from: before, to: sum(before, residual), tone: "local", head: true, width: 2 },
  );
  const dots = [
    ...keys.map((key) => ({ at: times(W, key), tone: "quiet", hollow: true, r: 3.5 })),
    ...keys.map((key) => ({ at: times(after, key), tone: "distributed", r: 3.5 })),
  ];
  const texts = [
    { at: v, text: "v*", tone: "exact" },
    { at: before, text: "Wk*", tone: "exact", dy: 18 },
  ];
  if (norm(residual) > 0.2)
    texts.push({ at: sum(before, scaled(residual, 0.5)), text: "r", tone: "local" });
  pairs.forEach((pair, i) => {
    const now = times(after, pair.k);
    lines.push({ from: pair.v, to: now, tone: "law", width: 2 });
    dots.push({ at: pair.v, tone: "law", hollow: true, r: 5 }, { at: now, tone: "law", r: 3.5 });
    if (norm(minus(pair.v, v)) > 0.2)
      texts.push({ at: pair.v, text: `v${subscript(i + 1)}`, tone: "law" });
  });
  const handles = [{ id: "v", at: v, name: "Value of the edit, v*", tone: "exact", r: 7 }];
  return { lines, dots, handles, texts };
}

export const subscript = (n) => String(n).replace(/\d/g, (d) => "₀₁₂₃₄₅₆₇₈₉"[d]);
