// What the theme leaves without a name or out of reach of the keyboard.

const ACCENT = 8; // pixels by which a hat may stand out of its formula

/** The sidebar holds the logo, the search and the contents: one landmark with a name. */
function nameSidebar() {
  const sidebar = document.querySelector("#pst-primary-sidebar");
  sidebar?.setAttribute("role", "complementary");
  sidebar?.setAttribute("aria-label", "Book");
}

/** What scrolls sideways can be reached and scrolled by keyboard; a formula in a line only if it is wider than the line. */
function reachScrollers() {
  for (const formula of document.querySelectorAll(".bd-article span.math")) {
    formula.classList.toggle("wide", formula.scrollWidth > formula.clientWidth + ACCENT);
  }
  for (const box of document.querySelectorAll(
    ".bd-article :is(pre, .text_html, mjx-container, .wide, figure, .pst-scrollable-table-container)",
  )) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  }
}

/** Docutils gives references roles that have since been withdrawn, in a list that they may not stand in. */
function plainReferences() {
  for (const part of document.querySelectorAll(".citation-list, .citation, [role=doc-backlink]")) {
    part.removeAttribute("role");
  }
}

nameSidebar();
plainReferences();
reachScrollers();
window.MathJax?.startup?.promise?.then(reachScrollers);
window.addEventListener("resize", reachScrollers);
