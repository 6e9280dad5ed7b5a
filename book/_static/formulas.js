// Formulas are drawn from boxes. This script copies them as TeX, and highlights those in the selection.

const chosen = new Set();

/** The formulas that a range touches, or only the formula in which the whole range lies. */
function formulasIn(range) {
  const around = range.commonAncestorContainer;
  const within = (around.closest ? around : around.parentElement)?.closest(".math[data-tex]");
  if (within) return [within];
  if (!around.querySelectorAll) return [];
  return [...around.querySelectorAll(".math[data-tex]")].filter((each) =>
    range.intersectsNode(each),
  );
}

/** Highlights the selected formulas: the browser does not highlight letters that a style draws. */
function showChosen() {
  const selection = getSelection();
  const now = new Set(selection.isCollapsed ? [] : formulasIn(selection.getRangeAt(0)));
  for (const formula of chosen) if (!now.has(formula)) formula.classList.remove("chosen");
  for (const formula of now) formula.classList.add("chosen");
  chosen.clear();
  for (const formula of now) chosen.add(formula);
}

/** Copies the selection, extended to whole formulas, with each formula as its TeX between dollars. */
function copyTex(event) {
  const selection = getSelection();
  if (selection.isCollapsed || event.target.closest?.("input, textarea")) return;
  const range = selection.getRangeAt(0).cloneRange();
  const formulas = formulasIn(range);
  if (!formulas.length) return;
  if (formulas[0].contains(range.startContainer)) range.setStartBefore(formulas[0]);
  if (formulas.at(-1).contains(range.endContainer)) range.setEndAfter(formulas.at(-1));
  const copy = document.createElement("div");
  copy.append(range.cloneContents());
  for (const formula of copy.querySelectorAll(".math[data-tex]")) {
    const fence = formula.localName === "div" ? "$$" : "$";
    formula.replaceWith(`${fence}${formula.dataset.tex}${fence}`);
  }
  copy.style.cssText = "position: fixed; left: -9999px; white-space: normal";
  document.body.append(copy); // only an element in the page has lines
  event.clipboardData.setData("text/plain", copy.innerText);
  copy.remove();
  copy.removeAttribute("style");
  event.clipboardData.setData("text/html", copy.innerHTML);
  event.preventDefault();
}

/** Selects a formula on a double click, as the browser selects a word. */
function chooseFormula(event) {
  const formula = event.target.closest?.(".math[data-tex]");
  if (formula) getSelection().selectAllChildren(formula);
}

document.addEventListener("selectionchange", showChosen);
document.addEventListener("copy", copyTex);
document.addEventListener("dblclick", chooseFormula);
