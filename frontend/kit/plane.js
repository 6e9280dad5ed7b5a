// A plane with arrows, dots and handles that are dragged, or moved with the arrow keys.
import { h } from "./dom.js";

const SIZE = 320;
const STEP = 0.05;
const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/**
 * plane({ label, reach, onMove }): coordinates run from −reach to reach; `onMove(id, [x, y])` while a handle moves.
 * show({ lines, dots, handles, texts }):
 *   lines   { from, to, tone, head, dash, width } or { points, … } for a closed curve
 *   dots    { at, r, tone, hollow, title }
 *   handles { id, at, name, tone, r, group }: handles of a group share one tab stop; Page Up and Down go through it
 *   texts   { at, text, tone }
 */
export function plane({ label, reach, onMove }) {
  const scale = SIZE / (2 * reach);
  const px = ([x, y]) => [SIZE / 2 + scale * x, SIZE / 2 - scale * y];
  const drawing = h("g", { "aria-hidden": "true" });
  const marks = h("g", { "aria-hidden": "true", class: "r1-plane-marks" });
  const grips = h("g", {});
  const svg = h(
    "svg",
    { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "r1-plane", role: "group", "aria-label": label },
    grid(reach, px),
    drawing,
    grips,
    marks,
  );
  const held = new Map();
  const inside = (v) => Math.min(reach, Math.max(-reach, v));
  const move = (id, [x, y]) => onMove(id, [inside(x), inside(y)]);

  function toPlane(event) {
    const point = new DOMPoint(event.clientX, event.clientY);
    const { x, y } = point.matrixTransform(svg.getScreenCTM().inverse());
    return [(x - SIZE / 2) / scale, (SIZE / 2 - y) / scale];
  }

  function make(id) {
    const hit = h("circle", { r: 15, class: "r1-hit" });
    const dot = h("circle", { class: "r1-grip-dot" });
    const element = h("g", { role: "slider", class: "r1-grip" }, hit, dot);
    element.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      element.focus();
      element.setPointerCapture(event.pointerId);
    });
    element.addEventListener("pointermove", (event) => {
      if (element.hasPointerCapture(event.pointerId)) move(id, toPlane(event));
    });
    element.addEventListener("keydown", (event) => onKey(event, id));
    const grip = { element, dot };
    held.set(id, grip);
    return grip;
  }

  function onKey(event, id) {
    const { group, at } = held.get(id);
    const turn = { PageDown: 1, PageUp: -1 }[event.key];
    if (turn && group) {
      const ids = [...held.keys()].filter((other) => held.get(other).group === group);
      const next = ids[(ids.indexOf(id) + turn + ids.length) % ids.length];
      for (const other of ids) held.get(other).element.tabIndex = other === next ? 0 : -1;
      held.get(next).element.focus();
    } else if (ARROWS[event.key]) {
      const by = event.shiftKey ? 5 * STEP : STEP;
      const [dx, dy] = ARROWS[event.key];
      move(id, [at[0] + by * dx, at[1] + by * dy]);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function showHandles(handles) {
    const wanted = new Set(handles.map(({ id }) => id));
    for (const [id, { element }] of held) {
      if (!wanted.has(id)) {
        element.remove();
        held.delete(id);
      }
    }
    const grouped = new Set();
    for (const { id, at, name, tone, r = 6, group } of handles) {
      const grip = held.get(id) ?? make(id);
      Object.assign(grip, { at, group });
      if (!grip.element.parentNode) {
        grip.element.tabIndex = group && grouped.has(group) ? -1 : 0;
        grips.append(grip.element);
      }
      if (group) grouped.add(group);
      const [x, y] = px(at);
      const words = `x ${at[0].toFixed(2)}, y ${at[1].toFixed(2)}`.replaceAll("-", "−");
      for (const [attribute, value] of Object.entries({
        transform: `translate(${x.toFixed(2)} ${y.toFixed(2)})`,
        class: `r1-grip r1-${tone}`,
        "data-handle": id,
        "aria-label": name,
        "aria-valuemin": -reach,
        "aria-valuemax": reach,
        "aria-valuenow": at[0].toFixed(2),
        "aria-valuetext": words,
      })) {
        grip.element.setAttribute(attribute, value);
      }
      grip.dot.setAttribute("r", r);
    }
  }

  return {
    element: svg,
    show({ lines = [], dots = [], handles = [], texts = [] }) {
      drawing.replaceChildren(...lines.flatMap((line) => strokes(line, px)), ...dots.map(disc));
      marks.replaceChildren(...texts.map(word));
      showHandles(handles);
    },
  };

  function disc({ at, r = 3.5, tone, hollow = false }) {
    const [cx, cy] = px(at);
    return h("circle", { cx, cy, r, class: `r1-disc r1-${tone}${hollow ? " r1-hollow" : ""}` });
  }

  function word({ at, text, tone, dx = 9, dy = -9 }) {
    const [x, y] = px(at);
    const place = { x: Math.min(SIZE - 26, x + dx), y: Math.max(12, y + dy) };
    return h("text", { ...place, class: `r1-plane-text r1-${tone}` }, text);
  }
}

function strokes({ from, to, points, tone, head = false, dash = null, width = null }, px) {
  const style = {
    class: `r1-line r1-${tone}`,
    "stroke-dasharray": dash,
    style: width && `stroke-width:${width}`,
  };
  if (points) {
    const d = points
      .map((p) =>
        px(p)
          .map((v) => v.toFixed(1))
          .join(" "),
      )
      .join("L");
    return [h("path", { ...style, d: `M${d}Z` })];
  }
  const [[x1, y1], [x2, y2]] = [px(from), px(to)];
  const made = [h("line", { ...style, x1, y1, x2, y2 })];
  const length = Math.hypot(x2 - x1, y2 - y1);
  if (head && length > 4) {
    const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
    const size = Math.min(9, length);
    const corner = (side) =>
      `${x2 - size * ux + side * 0.45 * size * uy} ${y2 - size * uy - side * 0.45 * size * ux}`;
    made.push(
      h("path", { class: `r1-head r1-${tone}`, d: `M${x2} ${y2}L${corner(1)}L${corner(-1)}Z` }),
    );
  }
  return made;
}

function grid(reach, px) {
  const whole = Array.from({ length: 2 * Math.floor(reach) + 1 }, (_, i) => i - Math.floor(reach));
  const lines = whole.flatMap((v) => {
    const [[x1, y1], [x2, y2]] = [px([v, -reach]), px([v, reach])];
    const [[x3, y3], [x4, y4]] = [px([-reach, v]), px([reach, v])];
    const style = v === 0 ? "r1-origin" : null;
    return [
      h("line", { x1, y1, x2, y2, class: style }),
      h("line", { x1: x3, y1: y3, x2: x4, y2: y4, class: style }),
    ];
  });
  return h("g", { class: "r1-axes", "aria-hidden": "true" }, lines);
}
