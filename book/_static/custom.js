// Repairs of the theme: names for the parts that lack one, and access by keyboard. Lays out long pages in steps.

const ACCENT = 8; // pixels by which a hat may stand out of its formula
const reached = new Set();
const SCROLLERS =
  ':is(pre, .text_html, mjx-container[display="true"], figure, .pst-scrollable-table-container)';

/** Makes the sidebar, with the logo, the search and the contents, one landmark with a name. */
function nameSidebar() {
  const sidebar = document.querySelector("#pst-primary-sidebar");
  sidebar?.setAttribute("role", "complementary");
  sidebar?.setAttribute("aria-label", "Book");
}

/**
 * Makes boxes that scroll sideways within these parts reachable by keyboard; a formula in a line only if it is wider
 * than the line. All boxes are measured before one is changed, because after each change of style the next measurement
 * would lay out the page again. Boxes that are folded, or too far below to be laid out, are left out until they are
 * laid out, because a measurement would lay them out.
 */
function reachScrollers(parts) {
  const overflow = (box) => box.scrollWidth - box.clientWidth;
  const within = (selector) =>
    parts
      .flatMap((part) => [
        ...(part.matches(selector) ? [part] : []),
        ...part.querySelectorAll(selector),
      ])
      .filter((box) => box.checkVisibility({ contentVisibilityAuto: true }));
  const formulas = within("span.math").map((each) => [each, overflow(each) > ACCENT]);
  const boxes = within(SCROLLERS).map((box) => [box, overflow(box) > 0]);
  for (const [formula, isWide] of formulas) formula.classList.toggle("wide", isWide);
  for (const [box, isWide] of [...formulas, ...boxes]) {
    if (isWide) box.tabIndex = 0;
    else if (reached.has(box)) box.removeAttribute("tabindex"); // it was too wide before its typeface was loaded
    if (isWide) reached.add(box);
  }
}

/** Removes the roles that docutils gives to references: they are deprecated, and not allowed in this list. */
function plainReferences() {
  for (const part of document.querySelectorAll(".citation-list, .citation, [role=doc-backlink]")) {
    part.removeAttribute("role");
  }
}

/** A page opened from a folder may not read other pages, so the search lists titles without excerpts. */
function searchInFolder() {
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

const LATER = ".bd-article > section > section:nth-of-type(n + 2)";
const BLOCKS = `:is(${LATER}, ${LATER} section) > :not(section, h2, h3, .cell)`;
const ROWS = matchMedia("(max-width: 60rem)").matches ? "table.claims-table tr" : "none"; // stacked (claims.css)
const SLICE = 100; // elements that are laid out together, in 2 ms
const PATIENCE = 8; // ms that a task may take, so that the reader's next gesture is not delayed
const whenIdle = window.requestIdleCallback ?? setTimeout;

/**
 * Lays out the blocks that the style leaves for later (custom.css), from the top, while the browser is idle. The page
 * opens at once, no task is long, and after a second or two every height is known.
 */
function layOut(blocks, then) {
  if (blocks.length === 0) {
    then();
    return;
  }
  const next = () => {
    const parts = [];
    const until = performance.now() + PATIENCE;
    do {
      for (let elements = 0; elements < SLICE && blocks.length; ) {
        const block = blocks.shift();
        elements += block.getElementsByTagName("*").length;
        block.classList.add("laid");
        parts.push(block);
      }
      document.body.getBoundingClientRect(); // lays the blocks out now, so that the clock below counts it
    } while (blocks.length && performance.now() < until);
    reachScrollers(parts);
    rest(parts.filter((part) => part.matches(ROWS)));
    layOut(blocks, then);
  };
  whenIdle(next, { timeout: 200 });
}

/** Stores the heights of rows, and lets the browser skip rows out of view: it cannot keep so many laid out. */
function rest(rows) {
  const heights = rows.map((row) => {
    const { paddingTop, paddingBottom } = getComputedStyle(row);
    return row.clientHeight - Number.parseFloat(paddingTop) - Number.parseFloat(paddingBottom);
  });
  rows.forEach((row, i) => {
    row.style.containIntrinsicBlockSize = `auto ${heights[i]}px`;
    row.classList.remove("laid");
  });
}

nameSidebar();
searchInFolder();
plainReferences();
document.fonts.ready.then(() => {
  const blocks = [...document.querySelectorAll(`${BLOCKS}, ${ROWS}`)];
  const article = document.querySelectorAll(".bd-article");
  const reachAll = () => reachScrollers([...article]);
  layOut(blocks, () => {
    reachAll(); // once more, with the page's typefaces: lines in other typefaces may be wider
    document.documentElement.dataset.laid = "out";
    document.fonts.addEventListener("loadingdone", reachAll);
    window.addEventListener("resize", () => requestAnimationFrame(reachAll));
  });
});
for (const event of ["toggle", "contentvisibilityautostatechange"])
  document.addEventListener(event, ({ target }) => reachScrollers([target]), { capture: true });
