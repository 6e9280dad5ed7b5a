/**
 * Sets formulas with MathJax: reads `{"tex", "display"}` line by line, and answers each with `{"html"}` or `{"error"}`.
 *
 * The answer to `{}` is `{"css"}`: the rules that what has been set so far needs.
 */
const { createInterface } = require("node:readline");

const FONTS = process.argv[2]; // where the pages find the fonts
/** What neither the style nor a reader of any kind asks for. */
const IDLE = new RegExp(
  [
    ' unselectable="on"',
    ' style="position: relative;"',
    ' class="mjx-[bin](?: mjx-[bin])*"',
    ' xmlns="[^"]*"',
    ' data-mjx-\\w+="[^"]*"',
  ].join("|"),
  "g",
);

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
    const { adaptor } = MathJax.startup;
    const answer = ({ tex, display }) => {
      if (tex === undefined) return { css: adaptor.textContent(MathJax.chtmlStylesheet()) };
      try {
        return { html: adaptor.outerHTML(MathJax.tex2chtml(tex, { display })).replace(IDLE, "") };
      } catch (error) {
        return { error: error.message };
      }
    };
    createInterface({ input: process.stdin }).on("line", (line) => {
      process.stdout.write(`${JSON.stringify(answer(JSON.parse(line)))}\n`);
    });
  });
