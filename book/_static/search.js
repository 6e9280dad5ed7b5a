// Finds the definitions of the words of a query, the best first. They are listed while the reader types
// (live-search.js), and on the search page, above Sphinx's results, whose excerpts this script makes readable.

const FEW = 6; // definitions that are shown; the others are folded
/** Kinds of places, in the order in which places with the same name are listed. */
const KINDS = [
  "chapter",
  "symbol",
  "claim",
  "statement",
  "section",
  "function",
  "class",
  "module",
  "method",
];

/** A text reduced to letters and digits, and the dot in a number such as 5.3. */
const bare = (text) => text.toLowerCase().replace(/(?!(?<=\d)\.\d)[^\p{L}\p{N}]/gu, "");
/** The query, in which a number in brackets stands for an equation. */
const meant = (query) => query.trim().replace(/^\((\d[\w.]*)\)$/, "equation $1");
const unmarked = (html) => html.replace(/<[^>]*>/g, " ").replace(/&\w+;/g, " ");
const wordsOf = (text) =>
  text
    .toLowerCase()
    .replace(/(?<=[\p{L}\p{N}])[-‐](?=[\p{L}\p{N}])/gu, "")
    .split(/(?:(?!(?<=\d)\.\d)[^\p{L}\p{N}])+/u)
    .filter(Boolean);

/** Score of a definition, 0 to 100: most for a name, then for its beginning, then for words, more for early ones. */
function answers(query, { names, title, says }) {
  const asked = bare(query);
  const parts = query.split(/\s+/).map(bare).filter(Boolean);
  if (!parts.length) return 0;
  if (names.some((name) => bare(name) === asked)) return 100;
  const begun = names.map(bare).find((name) => asked.length > 2 && name.startsWith(asked));
  if (begun && !(/\d$/.test(asked) && /^[\d.]/.test(begun.slice(asked.length))))
    return 50 + (20 * asked.length) / begun.length;
  const scores = parts.map((part) => {
    const fits = (word) => (/^\d+$/.test(part) ? word === part : word.startsWith(part));
    const place = (text) => wordsOf(text).findIndex(fits);
    const named = [title, ...names].map(place).filter((at) => at >= 0);
    const said = part.length > 1 ? place(says) : -1;
    const byName = named.length ? 40 - 2 * Math.min(4, ...named) : 0;
    return Math.max(byName, said < 0 ? 0 : 37 - Math.min(27, 2 * said));
  });
  return Math.min(...scores) && scores.reduce((sum, each) => sum + each, 0) / scores.length;
}

/** The definitions that answer, the best first. */
function definitionsOf(query, definitions) {
  return definitions
    .map(([names, title, kind, link, says]) => {
      const order = KINDS.findIndex((each) => kind.startsWith(each));
      const text = { names, title: unmarked(title), says: unmarked(says) };
      const deep = names[1]?.startsWith("rankone.") ? names[1].split(".").length / 10 : 0;
      const rank = answers(meant(query), text) * 10 - (order < 0 ? 3 : order) - deep;
      return { title, kind, link, says, rank };
    })
    .filter(({ rank }) => rank > 10)
    .sort((a, b) => b.rank - a.rank);
}

function item({ title, kind, link, says }) {
  const root = document.documentElement.dataset.content_root;
  const row = document.createElement("li");
  row.innerHTML = `<a></a> <span class="definition-kind"></span>`;
  if (says) row.insertAdjacentHTML("beforeend", `<p class="context">${says}</p>`);
  row.querySelector("a").innerHTML = title;
  row.querySelector("a").href = root + link;
  row.querySelector("span").textContent = kind;
  return row;
}

function list(found) {
  const made = document.createElement("ul");
  made.className = "search";
  made.append(...found.map(item));
  return made;
}

/** Shows the definitions above Sphinx's own results. */
function show(query) {
  const found = definitionsOf(query, DEFINITIONS);
  if (!found.length) return;
  const box = document.createElement("section");
  box.id = "definitions";
  box.innerHTML = "<h2>Definitions</h2>";
  box.append(list(found.slice(0, FEW)));
  if (found.length > FEW) {
    const rest = document.createElement("details");
    rest.innerHTML = `<summary>${found.length - FEW} more</summary>`;
    rest.append(list(found.slice(FEW)));
    box.append(rest);
  }
  document.getElementById("search-results").before(box);
}

/** A formula as text in a line. */
function line(node) {
  const parts = [...node.children].map(line);
  const [first, second, third] = parts;
  const forms = {
    msub: () => `${first}_${second}`,
    msup: () => `${first}^${second}`,
    msubsup: () => `${first}_${second}^${third}`,
    munder: () => `${first}_${second}`,
    munderover: () => `${first}_${second}^${third}`,
    mfrac: () => `${first}/${second}`,
    msqrt: () => `√(${parts.join("")})`,
    mtr: () => `${parts.join(" ")}; `,
  };
  return forms[node.localName]?.() ?? (parts.length ? parts.join("") : node.textContent);
}

/** The text of a page, or of a part of it, without code and buttons, and with formulas in a line. */
function textOf(html, anchor) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const article = page.querySelector(".bd-article") ?? page.querySelector("[role=main]");
  const part = (anchor && page.getElementById(anchor.slice(1))) || article;
  if (!part) return "";
  for (const idle of part.querySelectorAll(
    ".headerlink, script, style, pre, nav, button, .notebook-links, .r1-still",
  ))
    idle.remove();
  for (const formula of part.querySelectorAll("span.math, div.math")) {
    const math = formula.querySelector("math");
    formula.replaceWith(math ? line(math) : formula.textContent);
  }
  return part.textContent.replace(/\s+/g, " ").trim();
}

/** Sphinx's parser of queries, without single letters, such as that of the id D-thm2: every page has them. */
function parsed(read) {
  return (query) => {
    const [whole, terms, without, shown, objects] = read(query);
    for (const words of [terms, shown])
      if ([...words].some((word) => word.length > 2))
        for (const word of words) if (word.length < 2) words.delete(word);
    return [whole, terms, without, shown, objects];
  };
}

if (typeof Search !== "undefined") {
  Search._parseQuery = parsed(Search._parseQuery);
  Search.htmlToText = textOf;
  Search.performObjectSearch = () => []; // objects are among the definitions
  show(new URLSearchParams(location.search).get("q") ?? "");
  // the words are not highlighted on the page that the reader opens next
  window.addEventListener("pagehide", () => localStorage.removeItem("sphinx_highlight_terms"));
}
