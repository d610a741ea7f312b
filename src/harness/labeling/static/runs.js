/** The list of runs: says how many runs are chosen, and asks before a baseline is set. Without it the page does both by
 * pages of the server. */

const boxes = /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll("#compare input[name=run]")]);
const button = /** @type {HTMLButtonElement | null} */ (document.getElementById("compare-button"));
const told = document.getElementById("chosen");

/** A run that is listed twice, below a sweep and as the baseline, is one run. */
function chosen() {
  return new Set(boxes.filter((box) => box.checked).map((box) => box.value));
}

function tell() {
  const count = chosen().size;
  if (button) button.disabled = count !== 2;
  if (told) told.textContent = count === 2 ? "" : count < 2 ? `Tick two runs${count ? ", one more" : ""}.` : `${count} runs are ticked; two can be compared.`;
}

for (const box of boxes) box.addEventListener("change", tell);
tell();

const dialog = /** @type {HTMLDialogElement | null} */ (document.getElementById("ask"));
const form = dialog?.querySelector("form");
const words = document.getElementById("ask-words");

for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("a.ask"))) {
  link.addEventListener("click", (event) => {
    if (!dialog || !form || !words || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const { name, replaces, of } = link.dataset;
    words.textContent = `${name} becomes the baseline of ${of}${replaces ? `, in the place of ${replaces}` : ""}.`;
    form.action = link.href;
    dialog.showModal();
  });
}
document.getElementById("ask-no")?.addEventListener("click", () => dialog?.close());
