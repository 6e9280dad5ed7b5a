// The network of the settings. A network with a table is built at once, a fitted one after a worker has fitted it; both
// are cached.
import { connect } from "../kit/worker.js";
import { createFitter } from "./fitter.js";
import { buildNetwork, fitKey, isFitted, networkKey } from "./settings.js";
import source from "./worker.js?inline";

/** @import { Network } from "./math/network.js" */
/** @import { Settings } from "./settings.js" */

const KEPT = 24; // size of the cache of networks, and of that of fits

/**
 * A cache of networks. `onFit(problem)` is called with null when the fit that was requested last is done, and with a
 * message when a fit has failed.
 *
 * @param {(problem: string | null) => void} onFit
 */
export function createNetworks(onFit) {
  /** @type {Map<string, Network>} */
  const networks = new Map();
  /** @type {Map<string, number[]>} */
  const fits = new Map();
  /** @type {ReturnType<typeof connect> | null} */
  let fitter = null;
  let asked = "";

  /** @type {(answer: any) => void} */
  function receive({ type, key, weights, message }) {
    if (type === "error") return onFit(message);
    keep(fits, key, weights);
    if (key === asked) onFit(null);
  }

  /** @param {Settings} settings */
  function make(settings) {
    if (!isFitted(settings.construction)) return buildNetwork(settings);
    const key = fitKey(settings);
    const weights = fits.get(key);
    if (weights) return buildNetwork(settings, weights);
    if (key !== asked) {
      asked = key;
      fitter ??= connect(source, createFitter, receive);
      fitter.post({ type: "fit", key, settings });
    }
    return null;
  }

  return {
    /**
     * The network, or null while it is being fitted.
     *
     * @param {Settings} settings
     */
    find(settings) {
      const key = networkKey(settings);
      const network = networks.get(key) ?? make(settings);
      if (network) keep(networks, key, network);
      return network;
    },
    close: () => fitter?.close(),
  };
}

/** @type {<V>(known: Map<string, V>, key: string, value: V) => void} */
function keep(known, key, value) {
  known.delete(key); // moves the key to the end: the least recently used one is deleted first
  known.set(key, value);
  for (const [oldest] of known) {
    if (known.size <= KEPT) break;
    known.delete(oldest);
  }
}
