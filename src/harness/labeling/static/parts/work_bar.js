/** How far the naming of people is: what is left, how many have a name, and what to wait for. */
import { find } from "./dom.js";

/** @param {{groups: number, total: number, left: number, state: any}} work */
export function showWork({ groups, total, left, state }) {
  const empty = find("#empty");
  empty.hidden = groups > 0;
  empty.textContent = emptyWords(state);
  find("#left").textContent = groups ? `${left} faces left in ${total} groups` : "";
  const named = /** @type {HTMLProgressElement} */ (find("#named"));
  [named.max, named.value] = [Math.max(1, state?.faces ?? 1), state?.named ?? 0];
  find("#named-count").textContent = state ? `${state.named} of ${state.faces} named` : "";
}

/** What is said where there is no group. @param {any} state */
function emptyWords(state) {
  if (state?.phase === "preparing") return `The faces are being compared, which is done once: ${state.done} of ${state.total} photos.`;
  if (state?.phase === "failed") return `The faces cannot be compared: ${state.message}`;
  return state?.faces ? "Every face has a name or was left alone." : "There are no faces yet: harness prepare suggests them.";
}
