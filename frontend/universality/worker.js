// The fits in a Web Worker of their own.
import { createFitter } from "./fitter.js";

const receive = createFitter((message) => self.postMessage(message));
self.onmessage = ({ data }) => receive(data);
