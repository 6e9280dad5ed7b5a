// What the theme leaves without a name or out of reach of the keyboard.

/** The sidebar holds the logo, the search and the contents: one landmark with a name. */
function nameSidebar() {
  const sidebar = document.querySelector("#pst-primary-sidebar");
  sidebar?.setAttribute("role", "complementary");
  sidebar?.setAttribute("aria-label", "Book");
}

/** What scrolls sideways can be reached and scrolled by keyboard. */
function reachScrollers() {
  for (const box of document.querySelectorAll(
    ".bd-article :is(pre, .text_html, mjx-container, .pst-scrollable-table-container)",
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
