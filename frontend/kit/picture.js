// Parts of the page as a picture: their canvases, drawings and words, at their places in the page.

const SCALE = 2; // pixels of the picture per pixel of the page
const MARGIN = 12;
const LINE = 18; // height in pixels of a line of words under the parts
const STYLES = [
  "display",
  "visibility",
  "opacity",
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "stroke-linejoin",
  "stroke-linecap",
  "paint-order",
  "font-style",
  "font-weight",
  "font-size",
  "font-family",
  "text-anchor",
  "dominant-baseline",
  "image-rendering",
];
const WORDS =
  "figcaption, .r1-matrix span, .r1-facts dt, .r1-facts dd, .r1-legend li, .r1-operator, .r1-errors, .r1-marks button, .r1-bar-name, .r1-bar-value, .r1-memory p, .r1-map-key";
const FILLS = ".r1-bar-fill, .r1-error i";

/**
 * A copy of a drawing that looks the same: its computed styles are written into it.
 *
 * @param {SVGSVGElement} svg
 */
export function styledCopy(svg) {
  const copy = /** @type {SVGSVGElement} */ (svg.cloneNode(true));
  const [own, others] = [
    [svg, ...svg.querySelectorAll("*")],
    [copy, ...copy.querySelectorAll("*")],
  ];
  own.forEach((element, i) => {
    const style = getComputedStyle(element);
    const text = STYLES.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";");
    others[i].setAttribute("style", text);
  });
  const { width, height } = svg.getBoundingClientRect();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  return copy;
}

/**
 * @param {SVGSVGElement} svg
 * @returns {Promise<HTMLImageElement>}
 */
async function imageOf(svg) {
  const image = new Image();
  const text = new XMLSerializer().serializeToString(styledCopy(svg));
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  return image;
}

/** @param {Element} element */
const isSeen = (element) => {
  const { width, height } = element.getBoundingClientRect();
  return width > 0 && height > 0;
};

/** @param {Element} element */
const isDrawn = (element) => isSeen(element) && !element.closest("button:not(.r1-tile), .r1-chip");

/**
 * The box of what a part shows. The space that it leaves free is not in its picture.
 *
 * @param {HTMLElement} part
 */
function frameOf(part) {
  const drawings = [...part.querySelectorAll(`canvas, svg, ${FILLS}`)].filter(isDrawn);
  const words = [...part.querySelectorAll(WORDS)].filter(isSeen);
  const boxes = [...drawings, ...words].map((element) => element.getBoundingClientRect());
  const own = isSeen(part) ? part.getBoundingClientRect() : null; // null if only its children have boxes
  const left = Math.max(own?.left ?? 0, Math.min(...boxes.map((box) => box.left)));
  const top = Math.max(own?.top ?? -Infinity, Math.min(...boxes.map((box) => box.top)));
  const right = Math.min(own?.right ?? Infinity, Math.max(...boxes.map((box) => box.right)));
  const bottom = Math.min(own?.bottom ?? Infinity, Math.max(...boxes.map((box) => box.bottom)));
  return new DOMRect(left, top, right - left, bottom - top);
}

/**
 * A picture of parts, one below another, with lines of words under them, such as the settings.
 *
 * @param {HTMLElement[]} parts
 * @param {string[]} [lines]
 * @returns {Promise<HTMLCanvasElement>}
 */
export async function pictureOf(parts, lines = []) {
  const frames = parts.map(frameOf);
  const wide = Math.max(...frames.map(({ width }) => width));
  const high = frames.reduce((sum, { height }) => sum + height + MARGIN, MARGIN);
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil((wide + 2 * MARGIN) * SCALE);
  canvas.height = Math.ceil((high + LINE * lines.length) * SCALE);
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const style = getComputedStyle(parts[0]);
  context.fillStyle = style.getPropertyValue("--r1-ground").trim() || "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  let top = MARGIN;
  for (const [i, { x, y, height }] of frames.entries()) {
    context.setTransform(SCALE, 0, 0, SCALE, (MARGIN - x) * SCALE, (top - y) * SCALE);
    await drawPart(context, parts[i]);
    top += height + MARGIN;
  }
  context.setTransform(SCALE, 0, 0, SCALE, MARGIN * SCALE, top * SCALE);
  const { color, fontFamily } = style;
  Object.assign(context, { font: `12px ${fontFamily}`, fillStyle: color, textBaseline: "top" });
  lines.forEach((line, i) => {
    context.fillText(line, 0, LINE * i, wide);
  });
  return canvas;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {HTMLElement} part
 */
async function drawPart(context, part) {
  for (const element of part.querySelectorAll("canvas, svg")) {
    if (!isDrawn(element)) continue;
    const { x, y, width, height } = element.getBoundingClientRect();
    const { imageRendering, opacity } = getComputedStyle(element);
    const image = element instanceof SVGSVGElement ? await imageOf(element) : element;
    context.imageSmoothingEnabled = imageRendering !== "pixelated";
    context.globalAlpha = Number(opacity);
    context.drawImage(/** @type {CanvasImageSource} */ (image), x, y, width, height);
  }
  context.globalAlpha = 1;
  for (const element of part.querySelectorAll(FILLS)) {
    const { x, y, width, height } = element.getBoundingClientRect();
    context.fillStyle = getComputedStyle(element).backgroundColor;
    context.fillRect(x, y, width, height);
  }
  for (const element of part.querySelectorAll(WORDS)) if (isSeen(element)) write(context, element);
}

/**
 * Writes the words of an element, node by node and line by line, where the page shows them.
 *
 * @param {CanvasRenderingContext2D} context
 * @param {Element} element
 */
function write(context, element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const style = getComputedStyle(/** @type {Element} */ (node.parentElement));
    const { fontStyle, fontWeight, fontSize, fontFamily } = style; // `font` is empty if a variant is set
    const font = `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
    Object.assign(context, { font, fillStyle: style.color, textBaseline: "middle" });
    for (const { text, x, y } of linesOf(/** @type {Text} */ (node))) context.fillText(text, x, y);
  }
}

/** @param {Text} node */
function linesOf(node) {
  /** @type {{ text: string, x: number, y: number }[]} */
  const lines = [];
  const range = document.createRange();
  for (const { 0: word, index } of node.data.matchAll(/\S+\s*/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.trimEnd().length);
    const { x, y, height } = range.getBoundingClientRect();
    const middle = y + height / 2;
    const last = lines.at(-1);
    if (last && Math.abs(last.y - middle) < 2) last.text += word;
    else lines.push({ text: word, x, y: middle });
  }
  return lines.map((line) => ({ ...line, text: line.text.replace(/\s+/g, " ") }));
}
