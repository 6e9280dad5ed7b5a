// The folders of the front end: what several explorers use is in kit/ or math/, never in the folder of one of them.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const ROOT = new URL("../", import.meta.url);
const ASIDE = ["node_modules", "test"]; // tests may import from every folder

/** The folders that a module may import from besides its own. @type {(room: string) => string[]} */
const open = (folder) => ({ kit: [], math: ["kit"] })[folder] ?? ["kit", "math"];

const folders = readdirSync(ROOT, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !ASIDE.includes(entry.name))
  .map(({ name }) => name);

/** The modules and styles of a folder, each as a path from the root. @type {(folder: string) => string[]} */
const filesOf = (folder) =>
  readdirSync(new URL(`${folder}/`, ROOT), { encoding: "utf8", recursive: true })
    .filter((name) => /\.(js|ts|css)$/.test(name))
    .map((name) => `${folder}/${name}`);

/**
 * The files that a file imports, types in comments included, each as a path from the root; what lies outside the
 * front end is left out.
 *
 * @type {(file: string) => string[]}
 */
function importsOf(file) {
  const here = new URL(file, ROOT);
  const text = readFileSync(here, "utf8");
  const quoted = text.matchAll(/(?:from|import|import\()\s*"(\.[^"]+)"/g);
  return [...quoted]
    .map(([, path]) => new URL(path, here).pathname)
    .filter((path) => path.startsWith(ROOT.pathname))
    .map((path) => path.slice(ROOT.pathname.length));
}

test("imports are found in code, in types and in styles", () => {
  assert.ok(importsOf("surface/math/pictures.js").includes("math/plane/exact.js"));
  assert.ok(importsOf("mosaic/actor.js").includes("math/distributed.js"));
  assert.ok(importsOf("math/corruption.js").includes("math/random.js"));
  assert.ok(importsOf("surface/style.css").includes("kit/handle.css"));
});

test("no explorer imports from the folder of another: shared modules are in kit/ or math/", () => {
  const strangers = folders.flatMap((folder) =>
    filesOf(folder).flatMap((file) =>
      importsOf(file)
        .filter((path) => ![folder, ...open(folder)].includes(path.split("/")[0]))
        .map((path) => `${file} imports ${path}`),
    ),
  );
  assert.deepEqual(strangers, []);
});
