// Repairs of the theme: names for the parts that lack one, and access by keyboard.

const ACCENT = 8; // pixels by which a hat may stand out of its formula
const reached = new Set();
const SCROLLERS =
  ':is(pre, .text_html, mjx-container[display="true"], figure, .pst-scrollable-table-container)';

/** The sidebar holds the logo, the search and the contents: one landmark with a name. */
function nameSidebar() {
  const sidebar = document.querySelector("#pst-primary-sidebar");
  sidebar?.setAttribute("role", "complementary");
  sidebar?.setAttribute("aria-label", "Book");
}

/**
 * What scrolls sideways within these parts can be reached and scrolled by keyboard; a formula in a line only if it is
 * wider than the line. All is read before anything is written: each change of style would lay the page out anew for
 * the next look. What is folded, or so far below that it is not laid out, waits until it is: a look would lay it out.
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
    else if (reached.has(box)) box.removeAttribute("tabindex"); // its typeface had not come
    if (isWide) reached.add(box);
  }
}

/** Docutils gives references roles that have since been withdrawn, in a list that they may not stand in. */
function plainReferences() {
  for (const part of document.querySelectorAll(".citation-list, .citation, [role=doc-backlink]")) {
    part.removeAttribute("role");
  }
}

/** Opened from a folder, no page may read another: the search lists titles without excerpts. */
function searchInFolder() {
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

const LATER = ".bd-article > section > section:nth-of-type(n + 2)";
const BLOCKS = `:is(${LATER}, ${LATER} section) > :not(section, h2, h3, .cell)`;
const ROWS = matchMedia("(max-width: 60rem)").matches ? "table.claims-table tr" : "none"; // stacked (claims.css)
const SLICE = 100; // elements that are laid out at once: 2 ms
const PATIENCE = 8; // ms that a task may take before a reader's next gesture is looked after
const whenIdle = window.requestIdleCallback ?? setTimeout;

/**
 * Lay out what the style has left for later (custom.css), from the top, whenever the browser has nothing else to do: the
 * page opens at once, no task is long, and after a second or two every height is known.
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
      document.body.getBoundingClientRect(); // now, so that the browser knows what it took
    } while (blocks.length && performance.now() < until);
    reachScrollers(parts);
    rest(parts.filter((part) => part.matches(ROWS)));
    layOut(blocks, then);
  };
  whenIdle(next, { timeout: 200 });
}

/** Rows are more than a browser can keep laid out: what it knows of one that is out of sight is the height of its text. */
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
    reachAll(); // with the page's typefaces: with others a line may be wider
    document.documentElement.dataset.laid = "out";
    document.fonts.addEventListener("loadingdone", reachAll);
    window.addEventListener("resize", () => requestAnimationFrame(reachAll));
  });
});
for (const event of ["toggle", "contentvisibilityautostatechange"])
  document.addEventListener(event, ({ target }) => reachScrollers([target]), { capture: true });
