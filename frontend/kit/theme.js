// The theme of the page, light or dark: that of JupyterLab, the book or Colab, or else of the reader's system.
import css from "./style.css?inline";

/** True if the page around the widget is dark. */
export function isDark(root = document) {
  const { documentElement: html, body } = root;
  const lab = body?.dataset.jpThemeLight; // JupyterLab
  if (lab) return lab === "false";
  const named = html.dataset.theme ?? html.getAttribute("theme"); // the book; Colab
  if (named === "dark" || named === "light") return named === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/**
 * Gives `element` the kit's style and the page's theme, and follows the theme until the returned function is called.
 *
 * @param {HTMLElement} element
 * @param {string[]} styles
 */
export function dress(element, ...styles) {
  const style = document.createElement("style");
  style.textContent = [css, ...styles].join("\n");
  element.prepend(style);
  element.classList.add("r1");
  const update = () => {
    element.dataset.r1Theme = isDark() ? "dark" : "light";
  };
  const watched = {
    attributes: true,
    attributeFilter: ["data-theme", "theme", "data-jp-theme-light"],
  };
  const observer = new MutationObserver(update);
  observer.observe(document.documentElement, watched);
  observer.observe(document.body, watched);
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", update);
  update();
  return () => {
    observer.disconnect();
    system.removeEventListener("change", update);
  };
}

/**
 * Calls `action` when the theme of the explorer around an element changes, for drawings that read their colours only
 * when drawn. Returns a function that ends this.
 *
 * @param {Element} element
 * @param {() => void} action
 */
export function onTheme(element, action) {
  const watcher = new MutationObserver(action);
  const root = element.closest(".r1");
  if (root) watcher.observe(root, { attributes: true, attributeFilter: ["data-r1-theme"] });
  return () => watcher.disconnect();
}
