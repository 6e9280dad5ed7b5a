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

nameSidebar();
reachScrollers();
window.MathJax?.startup?.promise?.then(reachScrollers);
window.addEventListener("resize", reachScrollers);
