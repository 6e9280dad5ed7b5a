// Exports for the reader: text for the clipboard, files, a table as CSV.

/** Columns by name, and rows with one value per column. No text may be a spreadsheet formula: `csv` escapes none. */
/** @typedef {{ columns: string[], rows: (string | number | null)[][] }} Table */

/** @param {Table} table */
export const csv = ({ columns, rows }) =>
  `${[columns, ...rows].map((row) => row.map(cell).join(",")).join("\n")}\n`;

/** @param {string | number | null} value */
function cell(value) {
  const text = value === null ? "" : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * A table of lists side by side. The first column counts from `first`; a shorter list leaves its last cells empty.
 *
 * @param {string} index
 * @param {Record<string, ArrayLike<number>>} lists
 * @param {number} [first]
 * @returns {Table}
 */
export function table(index, lists, first = 0) {
  const n = Math.max(0, ...Object.values(lists).map(({ length }) => length));
  const rows = Array.from({ length: n }, (_, i) => [
    i + first,
    ...Object.values(lists).map((list) => list[i] ?? null),
  ]);
  return { columns: [index, ...Object.keys(lists)], rows };
}

/**
 * @param {string} text
 * @returns {Promise<boolean>} True if the text was copied.
 */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyAsBefore(text); // the page is not a secure context, or has no permission
  }
}

/** @param {string} text */
function copyAsBefore(text) {
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.style.cssText = "position:fixed;opacity:0";
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}

/**
 * @param {string} name
 * @param {Blob} blob
 */
export function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
