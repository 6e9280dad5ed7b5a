// Light or dark as the page is: the book's data-theme, JupyterLab, Colab, else the reader's system.
import css from "./style.css?inline";

/** Whether the page around the widget is dark. */
export function isDark(root = document) {
  const { documentElement: html, body } = root;
  const lab = body?.dataset.jpThemeLight; // JupyterLab
  if (lab) return lab === "false";
  const named = html.dataset.theme ?? html.getAttribute("theme"); // the book; Colab
  if (named === "dark" || named === "light") return named === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/**
 * Gives `element` the kit's style and keeps its theme; returns the clean-up.
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
 * Calls `action` when the theme of the explorer around an element changes, for what knows its colours only when it is
 * drawn; returns the end of it.
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
