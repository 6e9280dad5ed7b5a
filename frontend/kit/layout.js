// The layout of an explorer: the parts that react to the reader stand on one screen, and the rest is folded below.
import { h } from "./dom.js";
import { holdWhileDragged, keepHeight } from "./keepheight.js";

/** @import { Child } from "./dom.js" */

/**
 * The stage, the first controls and the readouts stand together; `more` are the other controls, folded behind the
 * words `moreLabel`; `charts` follow. An explorer that gives `side` has all its controls there, in one place. With
 * `stageFirst` the questions follow the stage and the parts `under` it.
 *
 * @typedef {{
 *   stage: Child[],
 *   stageFirst?: boolean,
 *   under?: Child[],
 *   controls?: Child[],
 *   readouts?: Child[],
 *   more?: Child[],
 *   moreLabel?: string,
 *   side?: Child[],
 *   charts?: Child[],
 *   className?: string,
 *   chartsClass?: string,
 * }} Parts
 */

/** @type {(...names: string[]) => string} */
const named = (...names) => names.filter(Boolean).join(" ");

/**
 * @param {Parts & { header: Child[], onkeydown?: (event: KeyboardEvent) => void }} parts
 */
export function layOut({ header, stage, side = [], charts = [], onkeydown, ...parts }) {
  const {
    controls = [],
    readouts = [],
    more = [],
    moreLabel = "More",
    under = [],
    ...style
  } = parts;
  const essential = side.length === 0;
  const head = h("header", { class: "r1-header" }, header);
  const stageBlock = h("div", { class: "r1-stage-block" }, stage);
  const fold =
    more.length > 0 && h("details", { class: "r1-more" }, h("summary", {}, moreLabel), more);
  const read = h("div", { class: "r1-readouts" }, readouts);
  keepHeight(read);
  const beside = essential ? [h("div", { class: "r1-controls r1-first" }, controls), read] : side;
  const element = h(
    "div",
    { class: named("r1-body", essential ? "r1-one-screen" : "", style.className ?? ""), onkeydown },
    style.stageFirst ? null : head,
    stageBlock,
    under.length > 0 ? h("div", { class: "r1-under" }, under) : null,
    style.stageFirst ? head : null,
    h("div", { class: "r1-side" }, beside),
    fold || null,
    charts.length > 0
      ? h("div", { class: named("r1-chart-block", style.chartsClass ?? "") }, charts)
      : null,
  );
  holdWhileDragged(head, stageBlock);
  return { element, stage: stageBlock };
}
