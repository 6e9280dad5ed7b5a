/**
 * Typesets formulas with MathJax. Reads lines `{"tex", "display"}`, and answers each with `{"html"}` or `{"error"}`.
 *
 * The answer to `{}` is `{"css"}`: the rules for all formulas typeset so far.
 */
const { createInterface } = require("node:readline");
const { gatherRuns } = require("./runs.cjs");

const FONTS = process.argv[2]; // where the pages find the fonts
/** Attributes that neither the style nor a screen reader uses. */
const IDLE = new RegExp(
  [
    ' unselectable="on"',
    ' style="position: relative;"',
    ' class="mjx-[bin](?: mjx-[bin])*"',
    ' xmlns="[^"]*"',
    ' data-mjx-\\w+="[^"]*"',
    ' texclass="\\w+"',
  ].join("|"),
  "g",
);

/** Longer formulas, in em, may continue on a new line, because the narrowest page has no room for them. */
const LONG = 12;

/** Boxes around one character, or around a group, that are drawn exactly as their content. */
const SIGNS = new Set(["mjx-mi", "mjx-mo", "mjx-mn", "mjx-mtext"]);
const GROUPS = new Set(["mjx-TeXAtom", "mjx-mrow", "mjx-mstyle"]);
const KEPT = new Set(["space", "rspace", "size"]); // attributes that the style uses on any box

/** Removes such boxes from a formula, which halves their number: a phone is slow to lay out a chapter's thousands. */
function thin(adaptor, box) {
  for (const part of [...adaptor.childNodes(box)])
    if (adaptor.kind(part)[0] !== "#") thin(adaptor, part);
  const parts = adaptor.childNodes(box);
  const said = adaptor
    .allAttributes(box)
    .filter(({ name }) => name !== "class" && name !== "texclass");
  if (GROUPS.has(adaptor.kind(box)) && said.length === 0) {
    for (const part of [...parts]) adaptor.insert(part, box);
    adaptor.remove(box);
    return;
  }
  const [sign] = parts;
  const one = parts.length === 1 && adaptor.kind(sign) === "mjx-c";
  if (SIGNS.has(adaptor.kind(box)) && one && said.every(({ name }) => KEPT.has(name))) {
    for (const { name, value } of said) adaptor.setAttribute(sign, name, value);
    adaptor.replace(sign, box);
  }
}

require("./mathjax/node-main.js")
  .init({
    loader: {
      load: [
        "input/tex-base",
        "[tex]/ams",
        "[tex]/boldsymbol",
        "output/chtml",
        "a11y/assistive-mml",
      ],
      versionWarnings: false,
    },
    tex: {
      packages: ["base", "ams", "boldsymbol"],
      tags: "none", // Sphinx numbers equations
      formatError: (_, error) => {
        throw error;
      },
    },
    chtml: { fontURL: FONTS, matchFontHeight: false },
    startup: { typeset: false },
  })
  .then((MathJax) => {
    const { adaptor, document, output, input } = MathJax.startup;
    const typeset = (tex, display) => {
      const formula = new document.options.MathItem(tex, input[0] ?? input, display);
      formula.start.node = adaptor.body(document.document);
      formula.setMetrics(16, 8, 640, 1e6, 1); // as `tex2chtml` does, which does not return the item
      formula.convert(document);
      return formula;
    };
    const answer = ({ tex, display }) => {
      if (tex === undefined) return { css: adaptor.textContent(MathJax.chtmlStylesheet()) };
      try {
        const formula = typeset(tex, display);
        const [boxes] = adaptor.tags(formula.typesetRoot, "mjx-math");
        thin(adaptor, boxes);
        if (output.getBBox(formula, document).w > LONG) {
          adaptor.addClass(boxes, "long");
          gatherRuns(adaptor, boxes, !display);
        }
        return { html: adaptor.outerHTML(formula.typesetRoot).replace(IDLE, "") };
      } catch (error) {
        return { error: error.message };
      }
    };
    createInterface({ input: process.stdin }).on("line", (line) => {
      process.stdout.write(`${JSON.stringify(answer(JSON.parse(line)))}\n`);
    });
  });
