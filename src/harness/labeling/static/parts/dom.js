/** Making and changing elements without ever building HTML from text. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element that the page must have.
 * @template {Element} [T=HTMLElement]
 * @param {string} selector
 * @param {ParentNode} [root]
 * @returns {T}
 */
export function find(selector, root = document) {
  const found = root.querySelector(selector);
  if (!found) throw new Error(`the page has no ${selector}`);
  return /** @type {T} */ (found);
}

/**
 * @param {string} tag
 * @param {Record<string, string | number | boolean | null>} [attributes]
 * @param {...(Node | string)} children
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  setAttributes(made, attributes);
  made.append(...children);
  return made;
}

/**
 * @param {string} tag
 * @param {Record<string, string | number | boolean | null>} [attributes]
 * @param {...(Node | string)} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes = {}, ...children) {
  const made = /** @type {SVGElement} */ (document.createElementNS(SVG, tag));
  setAttributes(made, attributes);
  made.append(...children);
  return made;
}

/**
 * Null and false take an attribute away.
 * @param {Element} target
 * @param {Record<string, string | number | boolean | null>} attributes
 */
export function setAttributes(target, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) target.removeAttribute(name);
    else target.setAttribute(name, value === true ? "" : String(value));
  }
}

/** Run at most once a frame, with the latest arguments. @template {any[]} A @param {(...args: A) => void} work */
export function everyFrame(work) {
  /** @type {A | null} */
  let waiting = null;
  return (/** @type {A} */ ...args) => {
    const idle = waiting === null;
    waiting = args;
    if (idle)
      requestAnimationFrame(() => {
        const latest = /** @type {A} */ (waiting);
        waiting = null;
        work(...latest);
      });
  };
}

/** How long something is said that asks for nothing. */
const SAID = 8000;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let silence;

/** Tell something on the status line: a problem stays there. @param {string} text @param {"info" | "problem"} [kind] */
export function say(text, kind = "info") {
  const message = find("#message");
  message.textContent = text;
  message.className = kind;
  clearTimeout(silence);
  if (text && kind === "info") silence = setTimeout(() => say(""), SAID);
}

/** Whether somebody is typing text here, where letters are not commands. @param {EventTarget | null} target */
export const isTyping = (target) =>
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement ||
  (target instanceof HTMLInputElement && !["checkbox", "radio", "button"].includes(target.type));
