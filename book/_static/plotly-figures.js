// Draws the plotly figures of a page, fetching plotly once, when the first of them comes near the view.
const source = new URL("vendor/plotly.js", document.currentScript.src).href;
let library;

function load() {
  library ??= new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement("script"), {
      src: source,
      onerror: reject,
    });
    script.onload = () => resolve(window.Plotly);
    document.head.append(script);
  });
  return library;
}

function colours() {
  const style = getComputedStyle(document.documentElement);
  const line = style.getPropertyValue("--pst-color-border").trim();
  const axis = { gridcolor: line, linecolor: line, zerolinecolor: line };
  const text = style.getPropertyValue("--pst-color-text-base").trim();
  return {
    axis,
    layout: { paper_bgcolor: "transparent", plot_bgcolor: "transparent", "font.color": text },
  };
}

/** Layout changes that make a figure follow the page's light or dark theme. */
function themed(layout) {
  const { axis, layout: changes } = colours();
  for (const name of Object.keys(layout).filter((key) => /^[xy]axis\d*$/.test(key))) {
    for (const [key, value] of Object.entries(axis)) changes[`${name}.${key}`] = value;
  }
  return changes;
}

async function draw(place) {
  const figure = JSON.parse(place.querySelector("script").textContent);
  const config = { displayModeBar: false, responsive: true };
  try {
    const Plotly = await load();
    const canvas = place.appendChild(document.createElement("div"));
    await Plotly.newPlot(canvas, { ...figure, config });
    const follow = () => Plotly.relayout(canvas, themed({ xaxis: 0, yaxis: 0, ...canvas.layout }));
    await follow();
    new MutationObserver(follow).observe(document.documentElement, {
      attributeFilter: ["data-theme"],
    });
    place.dataset.drawn = "true";
  } catch (error) {
    place.append("This figure could not be drawn.");
    console.error(error);
  }
}

const watch = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      watch.unobserve(target);
      draw(target);
    }
  },
  { rootMargin: "600px" },
);
for (const place of document.querySelectorAll(".plotly-figure")) watch.observe(place);
