// @ts-check
/** The form that freezes: asks the API, and says what came of it. */

const form = /** @type {HTMLFormElement} */ (document.querySelector("#freeze"));
const warning = /** @type {HTMLElement} */ (document.querySelector("#freeze-warning"));
const result = /** @type {HTMLElement} */ (document.querySelector("#freeze-result"));
const button = /** @type {HTMLButtonElement} */ (document.querySelector("#freeze-button"));

/** @returns {string} which photos are to be taken */
function taken() {
  return String(new FormData(form).get("take"));
}

function warn() {
  const partial = Number(form.dataset.partial), untouched = Number(form.dataset.untouched);
  const more = { complete: 0, incomplete: partial, everything: partial + untouched }[taken()] ?? 0;
  warning.hidden = more === 0;
  warning.textContent = `${more.toLocaleString("en")} of these photos are not labelled completely.`;
}

/** @param {"problem" | "done" | "busy"} kind @param {string} text */
function say(kind, text) {
  result.className = kind;
  result.textContent = text;
}

/** @param {SubmitEvent} event */
async function freeze(event) {
  event.preventDefault();
  const fields = new FormData(form), take = taken();
  const body = {
    name: fields.get("name"),
    description: String(fields.get("description")).trim(),
    include_incomplete: take === "incomplete",
    everything: take === "everything",
  };
  button.disabled = true;
  say("busy", "Freezing: every photo is checked …");
  try {
    const response = await fetch("/api/freeze", {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
    });
    const answer = await response.json();
    if (!response.ok) {
      say("problem", answer.message);
      return;
    }
    const photos = answer.photos.toLocaleString("en");
    say("done", `Frozen ${answer.name}: ${photos} photos, digest ${answer.digest.slice(0, 12)}. ${answer.warning ?? ""}`);
    enter(answer);
    form.reset();
    warn();
  } catch {
    say("problem", "The server does not answer; nothing was frozen, or it will be in the list after a reload.");
  } finally {
    button.disabled = false;
  }
}

/** @param {{name: string, photos: number, digest: string, created_at: string, description: string}} frozen */
function enter(frozen) {
  let list = document.querySelector("#frozen");
  if (list?.tagName !== "UL") {
    const made = document.createElement("ul");
    made.id = "frozen";
    made.className = "frozen";
    list?.replaceWith(made);
    list = made;
  }
  const item = document.createElement("li"), name = document.createElement("strong"), about = document.createElement("span");
  name.textContent = frozen.name;
  about.className = "muted";
  about.textContent = ` ${frozen.photos.toLocaleString("en")} photos, ${frozen.created_at.slice(0, 10)}, digest ${frozen.digest.slice(0, 12)}`;
  item.append(name, about);
  list.prepend(item);
}

form.addEventListener("submit", (event) => void freeze(event));
form.addEventListener("change", warn);
warn();
