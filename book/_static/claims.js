// The filter above the tables of claims and of errata. It shows rows by words, source, status and chapter, and stores
// the choice in the address. A claim is one line until it is opened.

const FEW = 5; // up to so many fitting rows are shown open

const SOURCES = {
  D: "D: dense memories, Hoover et al.",
  R: "R: editing, Meng et al.",
  K: "K: a note on Kronecker preconditioning",
  M: "M: universality, Finn and Levine",
  S: "S: residual memory, Yang et al.",
  W: "W: one rule, this book",
};

/** A row with the values that the filter compares. */
function reads(row) {
  const table = row.closest("table");
  const name = row.id.replace(/^(claims|errata)-/, "").toUpperCase();
  const formulas = [...row.querySelectorAll("[data-tex]")].map((each) => each.dataset.tex);
  return {
    row,
    table: table.closest(".pst-scrollable-table-container") ?? table,
    words: [row.id, row.textContent, ...formulas].join(" ").toLowerCase(),
    source: SOURCES[name[0]],
    status: row.querySelector(".claim-status")?.textContent,
    chapter: table.querySelector("caption a")?.textContent,
  };
}

/** A labelled menu of the rows' values, after "all"; empty if the rows have fewer than two values. */
function choice(name, label, rows) {
  const values = [...new Set(rows.map((each) => each[name]).filter(Boolean))];
  if (values.length < 2) return [];
  const select = document.createElement("select");
  select.name = name;
  select.append(new Option("all", ""), ...values.map((value) => new Option(value)));
  return [labelled(label, select)];
}

function labelled(label, control) {
  const box = document.createElement("label");
  control.ariaLabel = label; // without this the name would include the options
  box.append(label, control);
  return box;
}

/** Folds a row to one line, with a button that opens it. */
function fold(row) {
  const toggle = document.createElement("button");
  toggle.type = "button";
  toggle.className = "row-toggle";
  toggle.ariaLabel = `Details of ${row.querySelector("strong").textContent}`;
  toggle.addEventListener("click", () => open(row, !row.classList.contains("open")));
  row.querySelector("td > p").append(toggle);
  open(row, `#${row.id}` === location.hash);
}

function open(row, wanted) {
  row.classList.toggle("open", wanted);
  row.querySelector(".row-toggle")?.setAttribute("aria-expanded", wanted);
}

/** Shows the rows that fit, hides tables without one, writes their number, and stores the choice in the address. */
function show(form, rows, count) {
  const asked = Object.fromEntries(new FormData(form));
  const words = asked.words.toLowerCase().split(/\s+/).filter(Boolean);
  const picked = ["source", "status", "chapter"].filter((name) => asked[name]);
  for (const each of rows) {
    const fits = picked.every((name) => each[name] === asked[name]);
    each.row.hidden = !(fits && words.every((word) => each.words.includes(word)));
  }
  for (const table of new Set(rows.map((each) => each.table)))
    table.hidden = rows.every((each) => each.table !== table || each.row.hidden);
  const left = rows.filter((each) => !each.row.hidden);
  if (left.length <= FEW) for (const each of left) open(each.row, true);
  count.textContent = `${left.length} of ${rows.length}`;
  const query = new URLSearchParams(Object.entries(asked).filter(([, value]) => value));
  history.replaceState(
    null,
    "",
    `${location.pathname}${query.size ? `?${query}` : ""}${location.hash}`,
  );
}

function start() {
  const article = document.querySelector(".bd-article");
  const found = [...article.querySelectorAll("table.claims-table tbody tr")];
  const place = article.querySelector(".claims-filter");
  const rows = found.map(reads);
  const form = document.createElement("form");
  form.role = "search";
  form.ariaLabel = place.closest("article").querySelector(".claim-status")
    ? "Filter the claims"
    : "Filter the errata";
  const words = document.createElement("input");
  words.type = "search";
  words.name = "words";
  const count = document.createElement("output");
  form.append(
    labelled("Words, names or TeX", words),
    ...choice("source", "Source", rows),
    ...choice("status", "Status", rows),
    ...choice("chapter", "Chapter", rows),
    count,
  );
  place.append(form);
  for (const [name, value] of new URLSearchParams(location.search)) {
    const control = form.elements[name];
    if (control) control.value = value;
  }
  for (const row of article.querySelectorAll("table.claims-table:not(.errata-table) tbody tr"))
    fold(row);
  const update = () => show(form, rows, count);
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target?.matches("tr")) open(target, true);
    if (!target?.hidden) return;
    form.reset();
    update();
    target.scrollIntoView();
  });
  update();
}

start();
