/** Renaming a person everywhere, and taking it back. A name that somebody has already makes the two one person. */
import { write } from "./parts/api.js";
import { find } from "./parts/dom.js";

const form = document.querySelector("#rename");
const told = find("#rename-result");

/** @param {string} name */
const address = (name) => `/people/known/${encodeURIComponent(name)}`;

/** @param {unknown} error */
function refused(error) {
  told.textContent = error instanceof Error ? error.message : String(error);
  told.className = "problem";
}

async function rename(/** @type {Event} */ event) {
  event.preventDefault();
  const old = /** @type {HTMLFormElement} */ (form).dataset.name ?? "";
  const name = /** @type {HTMLInputElement} */ (find("#new-name")).value.trim();
  try {
    const { undo, photos } = await write("POST", "/api/people/changes", { do: "rename", old, name });
    sessionStorage.setItem("renamed", JSON.stringify({ undo, photos, old, name }));
    location.assign(address(name));
  } catch (error) {
    refused(error);
  }
}

/** What was just renamed can be undone on the page that it led to. */
function offerUndo() {
  const kept = JSON.parse(sessionStorage.getItem("renamed") ?? "null");
  if (!kept || location.pathname !== address(kept.name)) return;
  told.textContent = `${kept.old} is called ${kept.name} now, in ${kept.photos} photo${kept.photos === 1 ? "" : "s"}.`;
  find("#undo").hidden = false;
  find("#undo").addEventListener("click", async () => {
    try {
      await write("POST", "/api/people/undo", { undo: kept.undo });
      sessionStorage.removeItem("renamed");
      location.assign(address(kept.old));
    } catch (error) {
      refused(error);
    }
  });
}

form?.addEventListener("submit", (event) => void rename(event));
if (form) {
  /** @type {HTMLButtonElement} */ (find("#do-rename")).disabled = false; // before, Enter would only load the page again
  offerUndo();
}
document.body.dataset.ready = "true";
