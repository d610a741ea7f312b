/**
 * The keyboard: a list of commands, each with its keys, and the help that shows them. A key is written as
 * `Control+Shift+z`, `Shift+A` or `?`; Meta counts as Control.
 *
 * @typedef {{keys: string[], label: string, group: string, run: (event: KeyboardEvent) => void | boolean,
 *   shown?: string}} Command
 */
import { element, find, isTyping } from "./dom.js";

/**
 * A command. `keys` are separated by blanks, and so are those that the help shows instead.
 * @param {string} group
 * @param {string} keys
 * @param {string} label
 * @param {Command["run"]} run
 * @param {string} [shown]
 * @returns {Command}
 */
export const command = (group, keys, label, run, shown) => ({ group, keys: keys.split(" "), label, run, shown });

/** How a key press is written. @param {KeyboardEvent} event */
export function written(event) {
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const character = event.key.length === 1 && event.key.toLowerCase() === event.key.toUpperCase();
  return [
    (event.ctrlKey || event.metaKey) && "Control",
    event.altKey && "Alt",
    event.shiftKey && !character && "Shift",
    name === " " ? "Space" : name,
  ]
    .filter(Boolean)
    .join("+");
}

/** @param {Command[]} commands @param {() => boolean} enabled */
export function listen(commands, enabled) {
  const byKey = new Map(commands.flatMap((command) => command.keys.map((key) => [key, command])));
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || isTyping(event.target) || !enabled()) return;
    const command = byKey.get(written(event));
    if (command && command.run(event) !== false) event.preventDefault();
  });
}

/** Fill the help with the commands, group by group. @param {Command[]} commands */
export function fillHelp(commands) {
  const dialog = /** @type {HTMLDialogElement} */ (find("#help"));
  const groups = new Map();
  for (const command of commands) {
    if (!groups.has(command.group)) groups.set(command.group, element("dl"));
    const keys = (command.shown ?? command.keys[0]).split(" ").map((key) => element("kbd", {}, spoken(key)));
    groups.get(command.group).append(element("div", {}, element("dt", {}, ...keys), element("dd", {}, command.label)));
  }
  const body = find(".help-body", dialog);
  body.replaceChildren(...[...groups].map(([name, list]) => element("section", {}, element("h3", {}, name), list)));
  return dialog;
}

/** @param {string} key */
const spoken = (key) =>
  key
    .replace("Control", "Ctrl")
    .replace("Delete", "Del")
    .replace("PageDown", "PgDn")
    .replace("PageUp", "PgUp")
    .replace(/(^|\+)([a-z])$/, (_, plus, letter) => plus + letter.toUpperCase());
