// Undo, redo, and one menu to share and export: a link, a picture, data, Python, a notebook.
import { button, icon } from "./controls.js";
import { h, setText } from "./dom.js";
import { copy, csv, download } from "./export.js";
import { inBook } from "./link.js";
import { menu } from "./menu.js";
import { pictureOf } from "./picture.js";

/** @import { Table } from "./export.js" */
/** @import { Item } from "./menu.js" */

const COLAB = "a[href*='colab.research.google.com']";

/**
 * @param {{
 *   name?: string,
 *   undo(): void,
 *   redo(): void,
 *   lecture?(): void,
 *   questions?: string[],
 *   address?(): string,
 *   pictured(): HTMLElement[],
 *   python?(): string,
 *   data?(): Table,
 * }} own
 */
export function createTools(own) {
  const said = h("span", { class: "r1-said", role: "status" });
  const file = `rank-one-${own.name ?? "explorer"}`;
  const undo = button({ label: "Undo", icon: "undo", onClick: own.undo, title: "Undo (Ctrl+Z)" });
  const redo = button({
    label: "Redo",
    icon: "redo",
    onClick: own.redo,
    title: "Redo (Ctrl+Shift+Z)",
  });
  const hall =
    own.lecture &&
    button({
      label: "Lecture mode",
      icon: "hall",
      onClick: own.lecture,
      title: "Lecture mode: full screen, question by question",
      "data-name": "hall",
    });

  /** @type {(words: string) => void} */
  const say = (words) => {
    setText(said, words);
    setTimeout(() => setText(said, ""), 4000);
  };
  /** @type {(text: string, what: string) => Promise<void>} */
  const take = async (text, what) =>
    say((await copy(text)) ? `${what} copied.` : `Copying is blocked: ${text}`);

  async function savePicture() {
    const address = new URL(own.address?.() ?? "", location.href.split("#")[0]).href;
    const parts = own.pictured();
    const canvas = await pictureOf(parts, [settingsOf(parts[0]), address].filter(Boolean));
    canvas.toBlob((blob) => blob && download(`${file}.png`, blob));
    say("Picture saved.");
  }

  /** @param {Table} table */
  function saveData(table) {
    download(`${file}.csv`, new Blob([csv(table)], { type: "text/csv" }));
    say("Data saved.");
  }

  /** @returns {Item[]} */
  function items() {
    const { address, data, name, python, questions } = own;
    const asked = questions && `${location.pathname}?lecture=${name}:${questions.join(",")}`;
    const lecture = () => take(new URL(String(asked), location.href).href, "Lecture link");
    const colab = /** @type {HTMLAnchorElement | null} */ (document.querySelector(COLAB));
    const link = () => take(new URL(address?.() ?? "", location.href.split("#")[0]).href, "Link");
    /** @type {[key: string, label: string, onClick: (() => void) | null | undefined][]} */
    const all = [
      ["link", "Copy link", address && inBook() ? link : null],
      ["lecture", "Copy lecture link", asked && inBook() ? lecture : null],
      ["picture", "Save picture (PNG)", () => void savePicture()],
      ["data", "Save data (CSV)", data && (() => saveData(data()))],
      ["python", "Copy as Python", python && (() => void take(python(), "Python"))],
      [
        "colab",
        "Open in Colab",
        colab && (() => void window.open(colab.href, "_blank", "noopener")),
      ],
    ];
    return all.flatMap(([key, label, onClick]) => (onClick ? [{ key, label, onClick }] : []));
  }

  const share = menu({ label: "Share and export", face: [icon("share"), "Share"], items });
  return {
    element: h("div", { class: "r1-toolbar" }, said, undo, redo, hall, share.element),
    /** @type {(can: { undo: boolean, redo: boolean }) => void} */
    show(can) {
      undo.setAttribute("aria-disabled", String(!can.undo)); // not `disabled`, which would lose the focus
      redo.setAttribute("aria-disabled", String(!can.redo));
    },
  };
}

/**
 * The settings that an explorer shows, in words.
 *
 * @param {HTMLElement} part
 */
function settingsOf(part) {
  const fields = part.closest(".r1-body")?.querySelectorAll(".r1-field") ?? [];
  return [...fields]
    .filter((field) => !field.closest("details:not([open])"))
    .map((field) => ["label", "output"].map((name) => field.querySelector(name)?.textContent ?? ""))
    .map((words) => words.join(" ").trim())
    .join(", ");
}

/**
 * A listener for Ctrl+Z, and for Ctrl+Shift+Z or Ctrl+Y, except in text fields.
 *
 * @param {{ undo(): void, redo(): void }} own
 * @returns {(event: KeyboardEvent) => void}
 */
export const undoKeys = (own) => (event) => {
  const target = /** @type {Element} */ (event.target);
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
  if (target.matches("textarea, input:not([type=range], [type=checkbox], [type=radio])")) return;
  const key = event.key.toLowerCase();
  if (key !== "z" && key !== "y") return;
  event.preventDefault();
  if (key === "y" || event.shiftKey) own.redo();
  else own.undo();
};
