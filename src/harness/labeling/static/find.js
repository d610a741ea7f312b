// @ts-check
/** The page that finds photos: sends a picture, waits while photos are looked at, and shows what came back. A number
 * alone needs no script: the form asks for the page with its answer. */

const MOST_BYTES = 20 * 1024 * 1024;
const MILLISECONDS_BETWEEN_LOOKS = 1000;

/** @template {HTMLElement} T @param {string} selector @returns {T} */
const the = (selector) => /** @type {T} */ (document.querySelector(selector));

const form = /** @type {HTMLFormElement} */ (the("#find"));
const drop = the("#drop");
const input = /** @type {HTMLInputElement} */ (the("#picture"));
const number = /** @type {HTMLInputElement} */ (the("#number"));
const button = /** @type {HTMLButtonElement} */ (the("#search"));
const remove = /** @type {HTMLButtonElement} */ (the("#remove"));
const named = the("#picture-name");
const problem = the("#problem");
const progress = the("#progress");
const bar = /** @type {HTMLProgressElement} */ (the("#progress-bar"));
const results = the("#results");

/** @type {File | null} */
let picture = null;

/** @param {string} text what is wrong, or nothing */
function complain(text) {
  problem.hidden = text === "";
  problem.textContent = text;
}

/** @param {File | null} file */
function take(file) {
  complain("");
  if (file && !file.type.startsWith("image/")) {
    complain(`${file.name} is not a picture.`);
    return;
  }
  if (file && file.size > MOST_BYTES) {
    complain(`${file.name} has more than ${MOST_BYTES / 1024 ** 2} MB.`);
    return;
  }
  picture = file;
  named.textContent = file ? file.name : "or drop one here";
  named.classList.toggle("muted", !file);
  remove.hidden = !file;
  if (file) void search();
}

/** @param {string} text @param {number} done @param {number} total */
function show(text, done = 0, total = 0) {
  progress.hidden = text === "";
  the("#progress-text").textContent = text;
  bar.hidden = total === 0;
  bar.max = Math.max(total, 1);
  bar.value = done;
}

/** Wait until the photos have been looked at, and tell how far that is. */
async function wait() {
  for (;;) {
    const state = await (await fetch("/find/state")).json();
    if (state.phase !== "preparing") return;
    const far = `${state.done.toLocaleString("en")} of ${state.total.toLocaleString("en")}`;
    show(`The photos are being looked at, which is done once: ${far}.`, state.done, state.total);
    await new Promise((done) => setTimeout(done, MILLISECONDS_BETWEEN_LOOKS));
  }
}

/** @param {File} file @returns {Promise<Response>} the answer, once there is one */
async function ask(file) {
  const address = `/find/?${new URLSearchParams({ number: number.value.trim() })}`;
  for (;;) {
    const response = await fetch(address, { method: "POST", headers: { "Content-Type": file.type }, body: file });
    if (response.ok || (await response.clone().json()).error !== "preparing") return response;
    await wait();
  }
}

async function search() {
  if (!picture || button.disabled) return;
  button.disabled = true;
  complain("");
  results.replaceChildren();
  show("Searching …");
  try {
    const response = await ask(picture);
    if (response.ok) {
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      results.replaceChildren(...page.body.childNodes);
      results.querySelector("h2")?.focus();
    } else {
      complain((await response.json()).message);
    }
  } catch {
    complain("The server does not answer.");
  } finally {
    show("");
    button.disabled = false;
  }
}

form.addEventListener("submit", (event) => {
  if (picture) {
    event.preventDefault();
    void search();
  } else if (number.value.trim() === "") {
    event.preventDefault();
    complain("Choose a picture, type a number, or both.");
  }
});
input.addEventListener("change", () => take(input.files?.[0] ?? null));
remove.addEventListener("click", () => {
  input.value = "";
  take(null);
  input.focus();
});
for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", kind === "dragover");
  });
}
document.addEventListener("drop", (event) => take(event.dataTransfer?.files[0] ?? null));
document.body.dataset.ready = "true";
