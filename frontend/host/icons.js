/** The icons that the theme's pages use, in place of all 2,000 of Font Awesome (543 KB gzipped). */
import { config, dom, library } from "@fortawesome/fontawesome-svg-core";
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

config.autoReplaceSvg = true;
library.add(faAngleLeft, faAngleRight, faArrowUp, faBars, faChevronDown, faCircleHalfStroke);
library.add(faDownload, faExpand, faFile, faFileLines, faFilePdf, faGithub, faHome, faLightbulb);
library.add(faList, faMagnifyingGlass, faMoon, faOutdent, faRocket, faSquareGithub, faSun);
dom.watch();
