/**
 * Builds all that the book serves from its own folders: `node build.mjs [root]`.
 *
 * host/index.js           -> book/_static/vendor/widgets.js
 * host/icons.js           -> book/_static/scripts/fontawesome.js, which shadows the theme's
 * <widget>/index.js       -> src/rankone/widgets/static/<widget>.js, one self-contained file
 * MathJax, plotly.js, the text's typeface -> book/_static/vendor/, as published
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(process.argv[2] ?? join(here, ".."));
const vendor = join(root, "book/_static/vendor");
const widgets = join(root, "src/rankone/widgets/static");
const packages = join(here, "node_modules");

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

/**
 * The packages assume AMD and MathJax 2; the page has neither.
 *
 * @type {[file: RegExp, from: RegExp, to: string][]}
 */
const patches = [
  [/anywidget\/dist\/index\.js$/, /define\(\[.*\], (\w+)\);/, "export { $1 as default };"],
  [
    /controls\/lib\/utils\.js$/,
    /MathJax\.Hub\.Queue\(.*\);/,
    "MathJax.typesetPromise?.([element]);",
  ],
];

/** @type {esbuild.Plugin} */
const patch = {
  name: "patch",
  setup(build) {
    for (const [filter, from, to] of patches) {
      build.onLoad({ filter }, ({ path }) => {
        const source = readFileSync(path, "utf8");
        if (!from.test(source)) throw new Error(`Nothing to patch in ${path}`);
        return { contents: source.replace(from, to) };
      });
    }
  },
};

function widgetNames() {
  return readdirSync(here).filter(
    (name) => name !== "host" && existsSync(join(here, name, "index.js")),
  );
}

function copyVendored() {
  const mathjax = [
    "tex-mml-chtml.js",
    "a11y",
    "input/tex/extensions",
    "output/chtml/fonts/woff-v2",
    "sre/mathmaps/base.json",
    "sre/mathmaps/en.json",
  ];
  for (const part of mathjax) {
    cpSync(join(packages, "mathjax/es5", part), join(vendor, "mathjax", part), { recursive: true });
  }
  cpSync(join(packages, "mathjax/LICENSE"), join(vendor, "mathjax/LICENSE"));
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
  cpSync(join(serif, "LICENSE"), join(vendor, "fonts/LICENSE"));
}

rmSync(vendor, { recursive: true, force: true });
mkdirSync(vendor, { recursive: true });
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
    plugins: [inline, patch],
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
