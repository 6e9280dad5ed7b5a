/**
 * Gathers the boxes of a long formula into runs. A narrow page breaks the formula between runs.
 *
 * MathJax 4 breaks lines too, but needs the width when it typesets a formula, and the build does not know the reader's
 * width. At 640 pixels, version 4.1.3 leaves 79 of the book's 219 displayed formulas too wide for a phone of 390
 * pixels; these runs leave one. MathJax 4 could typeset in the page, with 256 kB more of script (gzipped). Its boxes
 * take 17 % more bytes.
 */

const codes = (text) => new Set(text.split(" "));
const RELATIONS = codes(
  "3A 3C 3D 3E 2190 2192 2194 21A6 21D2 21D4 2208 221D 223C 2243 2245 2248 2254 2260 2261 2264 2265 226A 226B 2282 2286 27F9 27FA 2AAF 2AB0",
);
const OPENING = codes("28 5B 7B 2308 230A 27E8");
const CLOSING = codes("29 5D 7D 2309 230B 27E9");
const BARS = codes("7C 2016 2223 2225"); // open and close alike
const COMMA = "2C";
const DOTS = "22EF";
const SCRIPTS = new Set(["mjx-msup", "mjx-msub", "mjx-msubsup"]);
const FACTORS = new Set(["mjx-mfrac", "mjx-munder", "mjx-munderover"]); // brackets after a power count too
const WRAPPERS = new Set(["mjx-mrow", "mjx-TeXAtom"]);
const THICK = "4"; // the space around a relation
const MEDIUM = "3"; // the space around the signs of a sum
const QUAD = 0.9; // em

/** The code of the character that a box draws, without its scripts; undefined if it draws anything else. */
function code(adaptor, box) {
  let drawn = box;
  while (SCRIPTS.has(adaptor.kind(drawn)) || wraps(adaptor, drawn))
    drawn = adaptor.firstChild(drawn);
  return /\bmjx-c([0-9A-F]+)/.exec(adaptor.getAttribute(drawn, "class") ?? "")?.[1];
}

/** True if a box only wraps one other box. TeX wraps a bar after a relation in this way. */
const wraps = (adaptor, box) =>
  WRAPPERS.has(adaptor.kind(box)) && adaptor.childNodes(box).length === 1;

/** The boxes, each with its depth in brackets and its kind. `lone` are brackets without a partner here. */
function marks(adaptor, boxes, lone = new Set()) {
  const open = [];
  const found = [];
  for (const [i, box] of boxes.entries()) {
    const sign = lone.has(i) ? undefined : code(adaptor, box);
    const bar = BARS.has(sign) && sign;
    const closes = CLOSING.has(sign) || (bar && open.at(-1)?.sign === bar);
    if (closes) open.pop();
    const opens = OPENING.has(sign) || (bar && !closes);
    const space = adaptor.getAttribute(box, "space");
    const after = boxes[i + 1] && adaptor.getAttribute(boxes[i + 1], "space");
    const width = Number.parseFloat(adaptor.getStyle(box, "width")) || 0;
    const last = boxes[i - 1];
    found.push({
      box,
      depth: open.length,
      quad: adaptor.kind(box) === "mjx-mspace" && width > QUAD,
      relation: RELATIONS.has(sign) || (space === THICK && after === THICK),
      sign: space === MEDIUM && after === MEDIUM,
      comma: sign === COMMA,
      opens,
      factor:
        FACTORS.has(adaptor.kind(box)) ||
        (opens && last && (SCRIPTS.has(adaptor.kind(last)) || code(adaptor, last) === DOTS)),
    });
    if (opens) open.push({ sign, i });
  }
  if (open.length) return marks(adaptor, boxes, new Set([...lone, ...open.map(({ i }) => i)]));
  return found;
}

/** True between two factors outside of brackets. */
const factors = (a, b) => depth(a, b) < 1 && b.factor && !(a.opens || a.sign || a.relation);

/** Kinds of places, the best first: true if a line may end between a and b. If `late`, lines end with relations. */
const PLACES = [
  ({ quad }) => quad,
  (a, b, late) => depth(a, b) < 1 && (late ? a : b).relation,
  (a, b, late) => depth(a, b) < 1 && parts(a, b, late),
  factors,
  ...[2, 3, 4, Infinity].map((most) => (a, b, late) => depth(a, b) < most && parts(a, b, late)),
];
/** At places before it a formula breaks as a paragraph does; from it on, only where a part fits in no line. */
const BROKEN = PLACES.indexOf(factors);
const depth = (a, b) => Math.min(a.depth, b.depth);
const parts = (a, b, late) => a.comma || (late ? a : b).relation || (late ? a : b).sign;

/** Marked boxes, split at places of one kind. */
function part(marked, place, late) {
  const lines = [[]];
  for (const [i, one] of marked.entries()) {
    if (i && place(marked[i - 1], one, late)) lines.push([]);
    lines.at(-1).push(one);
  }
  return lines;
}

/** Runs of marked boxes, split at the best places; a run that has worse places consists of runs itself. */
function gather(adaptor, marked, late, from = 0) {
  for (const [level, place] of PLACES.entries()) {
    const lines = level < from ? [] : part(marked, place, late);
    if (lines.length < 2) continue;
    const runs = lines.map((line) => {
      const inner = gather(adaptor, line, late, level + 1);
      const flows = inner.level < BROKEN ? { class: "flows" } : {};
      return inner.runs.length === 1 ? inner.runs[0] : adaptor.node("mjx-runs", flows, inner.runs);
    });
    return { level, runs };
  }
  const boxes = marked.map(({ box }) => box);
  return { level: PLACES.length, runs: [adaptor.node("mjx-run", {}, boxes)] };
}

/** Gathers the contents of a box, or of each cell if the box contains a table. */
function gatherRuns(adaptor, box, late) {
  const strut = adaptor.tags(box, "mjx-tstrut").filter((each) => adaptor.parent(each) === box);
  const boxes = adaptor.childNodes(box).filter((each) => !strut.includes(each));
  const [one] = boxes;
  if (boxes.length === 1 && adaptor.kind(one) === "mjx-mtable") {
    adaptor.addClass(one, "long");
    const rows = adaptor.childNodes(adaptor.tags(one, "mjx-itable")[0]);
    for (const cell of rows.flatMap((row) => adaptor.childNodes(row)))
      gatherRuns(adaptor, cell, late);
  } else if (boxes.length === 1 && WRAPPERS.has(adaptor.kind(one))) {
    gatherRuns(adaptor, one, late);
  } else {
    const marked = marks(adaptor, boxes);
    for (const each of [...boxes, ...strut]) adaptor.remove(each);
    for (const each of [...gather(adaptor, marked, late).runs, ...strut]) adaptor.append(box, each);
  }
}

module.exports = { gatherRuns };
