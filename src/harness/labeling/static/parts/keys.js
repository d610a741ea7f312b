/**
 * The keyboard: a list of commands, each with its keys, and the help that shows them. A key is written as
 * `Control+Shift+z`, `Shift+A` or `?`; Meta counts as Control.
 *
 * @typedef {{keys: string[], label: string, group: string, run: (event: KeyboardEvent) => void | boolean,
 *   shown?: string, seen?: boolean}} Command `seen`: it says something about the whole photo, which has to be on show
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

/** A command that says something about the photo as a whole. @param {Parameters<typeof command>} parts @returns {Command} */
export const verdict = (...parts) => ({ ...command(...parts), seen: true });

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

/**
 * Moves to other photos: the one under way, whether the photo that is open now had been shown by a time, and what to
 * say where it had not.
 * @typedef {{moving: () => Promise<unknown> | null, seenAt: (time: number) => boolean, tooEarly: () => void}} Moves
 */

/** @type {Moves} */
const NO_MOVES = { moving: () => null, seenAt: () => true, tooEarly: () => {} };

/**
 * Carry out commands. While a move to another photo is under way, keys wait in line for the photo that comes; one that
 * says something about the photo as a whole is not taken for a photo that nobody had seen when it was pressed.
 * @param {Command[]} commands
 * @param {() => boolean} enabled
 * @param {Moves} [moves]
 */
export function listen(commands, enabled, { moving, seenAt, tooEarly } = NO_MOVES) {
  const byKey = new Map(commands.flatMap((command) => command.keys.map((key) => [key, command])));
  /** @type {[Command, KeyboardEvent][]} */
  const line = [];
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || isTyping(event.target) || !enabled()) return;
    const command = byKey.get(written(event));
    if (!command || (command.seen && event.repeat)) return;
    if (!moving() && !line.length) {
      if (command.run(event) !== false) event.preventDefault();
      return;
    }
    event.preventDefault();
    line.push([command, event]);
    if (line.length === 1) void drain();
  });

  async function drain() {
    while (line.length) {
      await moving();
      const [command, event] = line[0];
      if (command.seen && !seenAt(event.timeStamp)) tooEarly();
      else command.run(event);
      line.shift();
    }
  }
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
