/**
 * Builds what the book serves from its own folders: `node build.mjs [root]`.
 *
 * host/index.js           -> book/_static/vendor/widgets.js
 * host/icons.js           -> book/_static/scripts/fontawesome.js, which shadows the theme's
 * <widget>/index.js       -> src/rankone_book/widgets/static/<widget>.js, one self-contained file
 * MathJax                 -> book/extensions/pages/mathjax/, which typesets formulas while the book is built
 * MathJax's fonts         -> book/_static/vendor/formulas/, as published
 * plotly.js, the text's typeface -> book/_static/vendor/, as published
 */
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(process.argv[2] ?? join(here, ".."));
const vendor = join(root, "book/_static/vendor");
const widgets = join(root, "src/rankone_book/widgets/static");
const typesetter = join(root, "book/extensions/pages/mathjax");
const packages = join(here, "node_modules");

/** The parts of MathJax that typeset the book's formulas in node; no page loads them. */
const TYPESETTER = [
  "node-main.js",
  "input/tex-base.js",
  "input/tex/extensions/ams.js",
  "input/tex/extensions/boldsymbol.js",
  "output/chtml.js",
  "output/chtml/fonts/tex.js",
  "a11y/assistive-mml.js",
];

/** @satisfies {esbuild.BuildOptions} */
const common = /** @type {const} */ ({
  absWorkingDir: here,
  bundle: true,
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
  minify: true,
  target: "es2022",
  tsconfigRaw: "{}", // tsconfig.json is for the types alone
});

/**
 * `import text from "./worker.js?inline"`: the file, bundled, as a string (a worker, a style).
 *
 * @type {esbuild.Plugin}
 */
const inline = {
  name: "inline",
  setup(build) {
    build.onResolve({ filter: /\?inline$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path.replace(/\?inline$/, "")),
      namespace: "inline",
    }));
    build.onLoad({ filter: /.*/, namespace: "inline" }, async ({ path }) => {
      const { outputFiles, metafile } = await esbuild.build({
        ...common,
        entryPoints: [path],
        format: "iife",
        metafile: true,
        write: false,
      });
      const watchFiles = Object.keys(metafile.inputs).map((file) => resolve(here, file));
      return { contents: outputFiles[0].text, loader: "text", watchFiles };
    });
  },
};

function widgetNames() {
  return readdirSync(here).filter(
    (name) => name !== "host" && existsSync(join(here, name, "index.js")),
  );
}

function copyVendored() {
  const mathjax = join(packages, "mathjax");
  for (const file of TYPESETTER) {
    cpSync(join(mathjax, "es5", file), join(typesetter, file), { recursive: true });
  }
  cpSync(join(mathjax, "LICENSE"), join(typesetter, "LICENSE"));
  cpSync(join(mathjax, "es5/output/chtml/fonts/woff-v2"), join(vendor, "formulas"), {
    recursive: true,
  });
  cpSync(join(mathjax, "LICENSE"), join(vendor, "formulas/LICENSE"));
  const plotly = join(packages, "plotly.js-basic-dist-min");
  cpSync(join(plotly, "plotly-basic.min.js"), join(vendor, "plotly.js"));
  cpSync(join(plotly, "LICENSE"), join(vendor, "plotly.LICENSE"));
  const serif = join(packages, "@fontsource/source-serif-4");
  for (const face of ["400-normal", "400-italic", "600-normal", "600-italic"]) {
    for (const file of [
      `source-serif-4-latin-${face}.woff2`,
      `source-serif-4-greek-${face}.woff2`,
    ]) {
      cpSync(join(serif, "files", file), join(vendor, "fonts", file));
    }
  }
  cpSync(join(here, "../src/rankone_book/fonts/LICENSE"), join(vendor, "fonts/LICENSE")); // it has the notice of the font
}

for (const folder of [vendor, typesetter]) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}
copyVendored();
for (const [entry, outfile] of [
  ["host/index.js", join(vendor, "widgets.js")],
  ["host/icons.js", join(root, "book/_static/scripts/fontawesome.js")],
]) {
  await esbuild.build({
    ...common,
    entryPoints: [join(here, entry)],
    format: "iife",
    outfile,
    plugins: [inline],
  });
}
for (const name of widgetNames()) {
  await esbuild.build({
    ...common,
    entryPoints: [join(here, name, "index.js")],
    format: "esm",
    outfile: join(widgets, `${name}.js`),
    plugins: [inline],
  });
}
