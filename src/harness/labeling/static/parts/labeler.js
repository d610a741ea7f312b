/** Who is labelling: a name that is asked for once and kept in this browser, and the desk that this tab is. */
const NAME = "harness/labeler";
const DESK = "harness/desk";
/** What a name may not have, as the server says. */
const WRONG = /[<>\p{C}]/u;

/** @param {"localStorage" | "sessionStorage"} where @param {string} key */
function stored(where, key) {
  try {
    return window[where].getItem(key) ?? "";
  } catch {
    return ""; // storage is forbidden: nobody is named, and each page is a desk of its own
  }
}

/** The name, "" where nobody has said it. */
export const labeler = () => stored("localStorage", NAME);

/** @param {string} name @returns {string} what is wrong with it; "" where it is kept */
export function setLabeler(name) {
  const text = name.trim();
  if (WRONG.test(text) || text.length > 80) return "A name has at most 80 characters, without < and >.";
  try {
    localStorage.setItem(NAME, text);
  } catch {
    return "This browser keeps nothing; boxes will not say who made them.";
  }
  return "";
}

const fresh = crypto.getRandomValues(new Uint32Array(4)).join("-");

/** This tab, for as long as it is open. */
export function desk() {
  const known = stored("sessionStorage", DESK);
  if (known) return known;
  try {
    sessionStorage.setItem(DESK, fresh);
  } catch {
    return fresh;
  }
  return fresh;
}

/** The button that says who is labelling, and the question behind it. It is asked once, and never in the way. */
export function askWho() {
  const button = document.querySelector("#who");
  const dialog = document.querySelector("#who-dialog");
  if (!(button instanceof HTMLButtonElement) || !(dialog instanceof HTMLDialogElement)) return;
  const input = /** @type {HTMLInputElement} */ (dialog.querySelector("input"));
  const problem = /** @type {HTMLElement} */ (dialog.querySelector("[role=alert]"));
  const show = () => {
    button.textContent = labeler() ? `as ${labeler()}` : "Who are you?";
    button.classList.toggle("asks", !labeler());
  };
  button.addEventListener("click", () => {
    input.value = labeler();
    problem.textContent = "";
    dialog.showModal();
  });
  dialog.querySelector("form")?.addEventListener("submit", (event) => {
    problem.textContent = setLabeler(input.value);
    if (problem.textContent) event.preventDefault();
    show();
  });
  show();
}
