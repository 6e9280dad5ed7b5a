/**
 * Draws the icons that the theme's pages use, instead of loading all 2,000 of Font Awesome (543 KB gzipped). Each is
 * drawn once, in place. Font Awesome's engine would add a style to the page, and the browser would restyle all of it.
 */
import { faGithub, faSquareGithub } from "@fortawesome/free-brands-svg-icons";
import {
  faAngleLeft,
  faAngleRight,
  faArrowUp,
  faBars,
  faChevronDown,
  faCircleHalfStroke,
  faDownload,
  faExpand,
  faFile,
  faFileLines,
  faFilePdf,
  faHome,
  faLightbulb,
  faList,
  faMagnifyingGlass,
  faMoon,
  faOutdent,
  faRocket,
  faSun,
} from "@fortawesome/free-solid-svg-icons";

const SVG = "http://www.w3.org/2000/svg";
const ICONS = [
  ...[faAngleLeft, faAngleRight, faArrowUp, faBars, faChevronDown, faCircleHalfStroke, faDownload],
  ...[faExpand, faFile, faFileLines, faFilePdf, faGithub, faHome, faLightbulb, faList],
  ...[faMagnifyingGlass, faMoon, faOutdent, faRocket, faSquareGithub, faSun],
];
const known = new Map(ICONS.map(({ iconName, icon }) => [`fa-${iconName}`, icon]));

for (const place of document.querySelectorAll("[class*='fa-']")) {
  const icon = known.get([...place.classList].find((name) => known.has(name)) ?? "");
  if (!icon) continue;
  const [width, height, , , path] = icon;
  const svg = document.createElementNS(SVG, "svg");
  for (const { name, value } of place.attributes) svg.setAttribute(name, value);
  svg.classList.remove("fa-solid", "fas", "fab"); // classes of icons that are letters of a font
  svg.classList.add("svg-inline--fa");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("aria-hidden", "true");
  const line = svg.appendChild(document.createElementNS(SVG, "path"));
  line.setAttribute("d", String(path));
  line.setAttribute("fill", "currentColor");
  place.replaceWith(svg);
}
