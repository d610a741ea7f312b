/** The side panel of the pass person by person: everybody, and the number and the name of the selected one. */
import { SCOPES, proposedName } from "../model/persons.js";
import { Combobox } from "./combobox.js";
import { TEXT } from "./box_form.js";
import { element, find } from "./dom.js";
import { Listbox } from "./listbox.js";
import { Names } from "./names.js";
import { MEANING, scopeWord, scoreWord } from "./words.js";

/** @typedef {import("../model/persons.js").Person} Person */

export class PersonForm {
  /** @param {any} config @param {import("../persons_editor.js").PersonsEditor} editor */
  constructor(config, editor) {
    this.config = config;
    this.editor = editor;
    this.list = new Listbox(find("#boxes"), (id) => editor.select(id, true));
    const names = (this.names = new Names());
    const leave = () => find("#stage").focus({ preventScroll: true });
    this.number = new Combobox(find("#number"), find("#number-offers"), {
      offers: () => [],
      commit: (text) => this.#commit("number", text),
      leave: () => {
        leave();
        editor.goOn();
      },
    });
    this.name = new Combobox(find("#name"), find("#offers"), {
      offers: (typed) => this.#offers(names, typed),
      commit: (text) => this.#commit("identity", text),
      make: (make) => editor.makeName(make),
      leave,
    });
    this.scopes = SCOPES.map(({ scope, dimension }, at) => this.#scope(scope, dimension, at));
    this.#wire();
  }

  /** The name that the number stands for comes first. @param {Names} names @param {string} typed */
  #offers(names, typed) {
    const known = names.offers(typed);
    const { proposed } = this.editor;
    if (!proposed || !proposed.startsWith(typed)) return known;
    return [{ text: proposed, hint: "by the number" }, ...known.filter(({ text }) => text !== proposed)];
  }

  /** @param {"number" | "identity"} field @param {string} text */
  #commit(field, text) {
    if (TEXT[field].fits.test(text))
      return field === "number" ? this.editor.setNumber(text || null) : this.editor.setName(text || null);
    this.editor.shell.say(`“${text}” ${TEXT[field].rule}.`, "problem");
    const { person } = this.editor;
    return field === "number"
      ? this.number.set(person?.bib?.number ?? "", true)
      : this.name.set(person?.face?.identity ?? "", true);
  }

  /** @param {string} scope @param {string} dimension @param {number} at */
  #scope(scope, dimension, at) {
    const group = dimension === "bibs" ? "bib-scope" : "face-scope";
    const input = /** @type {HTMLInputElement} */ (element("input", { type: "radio", name: group, value: scope }));
    input.addEventListener("change", () => this.editor.setScope(at));
    const key = element("kbd", {}, String(at + 1));
    find(`#${group}s`).append(
      element("label", { title: MEANING[scope] ?? "" }, input, element("span", {}, scopeWord(scope)), key),
    );
    return { input, dimension };
  }

  #wire() {
    const { editor } = this;
    const on = (/** @type {string} */ id, /** @type {() => void} */ run) => find(id).addEventListener("click", run);
    on("#accept", () => editor.accept());
    on("#reject", () => editor.reject());
    on("#accept-all", () => editor.acceptAll());
    on("#link", () => editor.link());
    on("#delete", () => editor.remove());
    on("#none", () => void editor.none());
    on("#done", () => void editor.done());
    on("#draw-bib", () => editor.setDraws("bibs"));
    on("#draw-face", () => editor.setDraws("faces"));
    for (const radio of document.querySelectorAll("input[name=split]"))
      radio.addEventListener("change", () => editor.otherSplit());
  }

  /** @param {{everybody: Person[], person: Person | null, doc: import("../model/persons.js").Doc,
   *   known: Record<string, string>, draws: string}} state */
  show({ everybody, person, doc, known, draws }) {
    const editable = !this.config.read_only;
    const left = everybody.filter(({ suggested }) => suggested).length;
    this.list.show(
      everybody.map((each, at) => row(each, at, known)),
      person?.id ?? null,
      "Nobody yet: draw a bib or a face on the photo.",
    );
    find("#count").textContent = left ? `${everybody.length - left}, and ${left} suggested` : String(everybody.length);
    const labelled = person && !person.suggested ? person : null;
    this.number.set(person?.bib?.number ?? "", Boolean(labelled?.bib) && editable);
    this.name.set((person && nameOf(person, known)) ?? "", Boolean(labelled?.face) && editable);
    for (const { input, dimension } of this.scopes) {
      const box = dimension === "bibs" ? labelled?.bib : labelled?.face;
      input.checked = box?.scope === input.value;
      input.disabled = !box || !editable;
    }
    const enable = (/** @type {string} */ id, /** @type {boolean} */ yes) =>
      find(id).toggleAttribute("disabled", !yes || !editable);
    enable("#accept", Boolean(person?.suggested));
    enable("#reject", Boolean(person));
    enable("#accept-all", left > 0);
    enable("#link", Boolean(person));
    enable("#delete", Boolean(labelled));
    for (const id of ["#none", "#done", "#draw-bib", "#draw-face"]) enable(id, true);
    find("#draw-bib").setAttribute("aria-pressed", String(draws === "bibs"));
    find("#draw-face").setAttribute("aria-pressed", String(draws === "faces"));
    find("#provenance").textContent = left ? "accept the whole person" : "Nobody is left to answer.";
    for (const radio of /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("input[name=split]"))) {
      radio.checked = radio.value === doc.split;
      radio.disabled = !editable;
    }
  }
}

/** Who it is: of somebody who is suggested whose number it is. @param {Person} person @param {Record<string, string>} known */
const nameOf = ({ bib, face, suggested }, known) =>
  face?.identity ?? (suggested && bib && face ? proposedName(bib.number, known) : null);

/** @param {Person} person @param {number} at @param {Record<string, string>} known */
function row(person, at, known) {
  const { bib, face, suggested } = person;
  const name = nameOf(person, known);
  const parts = [
    face ? (name ?? (bib ? "no name" : "")) : "no face",
    bib ? (suggested || bib.scope === "bib" ? "" : scopeWord(bib.scope)) : "no bib",
    face && !suggested && face.scope !== "keep" ? scopeWord(face.scope) : "",
    suggested ? `suggested ${scoreWord((face ?? bib).score)}` : "",
  ];
  return {
    id: person.id,
    number: String(at + 1),
    title: bib ? (bib.number ?? "–") : "–",
    detail: parts.filter(Boolean).join(", "),
    kind: suggested ? "ghost" : "box",
  };
}

/** What stands at a box: who it is at the face, the number at the bib.
 * @param {Person} person @param {any} box @param {number} at @param {Record<string, string>} known */
export function captionOf(person, box, at, known) {
  if (box === person.bib) return box.number ?? "–";
  return [String(at + 1), nameOf(person, known)].filter(Boolean).join(" ");
}
