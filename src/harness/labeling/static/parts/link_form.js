/** The side panel for links: bibs with the faces they are linked to, and the faces to choose from. */
import { has } from "../model/pairs.js";
import { find } from "./dom.js";
import { Listbox } from "./listbox.js";
import { scopeWord } from "./words.js";

export class LinkForm {
  /** @param {any} config @param {any} actions */
  constructor(config, actions) {
    this.config = config;
    const position = (/** @type {string} */ id) => Number(id.split("-")[1]);
    this.bibs = new Listbox(find("#boxes"), (id) => actions.selectBib(position(id)));
    this.faces = new Listbox(
      find("#faces"),
      (id) => actions.selectFace(position(id)),
      (id) => actions.link(position(id)),
    );
    const on = (/** @type {string} */ id, /** @type {() => void} */ run) => find(id).addEventListener("click", run);
    on("#accept", actions.accept);
    on("#reject", actions.reject);
    on("#accept-all", actions.acceptAll);
    on("#delete", actions.remove);
    on("#none", actions.none);
    on("#done", actions.done);
  }

  /** @param {any} state */
  show({ photo, bibs, faces, doc, suggestions, bib, face }) {
    const links = doc.links ?? [];
    const editable = !this.config.read_only;
    const name = (/** @type {number} */ at) =>
      [faces.indexOf(at) + 1, photo.faces.boxes[at].identity].filter(Boolean).join(" ");
    const end = (/** @type {readonly number[][]} */ pairs, /** @type {number} */ at) =>
      pairs.filter((pair) => pair[0] === at).map((pair) => name(pair[1]));
    const detail = (/** @type {number} */ at) => {
      if (end(links, at).length) return `face ${end(links, at).join(" and ")}`;
      return end(suggestions, at).length ? `suggested: face ${end(suggestions, at)[0]}` : "no face";
    };
    this.bibs.show(
      bibs.map((/** @type {number} */ at) => ({
        id: `bib-${at}`,
        number: "",
        title: photo.bibs.boxes[at].number ?? "–",
        detail: detail(at),
        kind: `box bibs${end(links, at).length ? "" : " open"}`,
      })),
      bib === null ? null : `bib-${bib}`,
      "No bibs.",
    );
    this.faces.show(
      faces.map((/** @type {number} */ at) => ({
        id: `face-${at}`,
        number: String(faces.indexOf(at) + 1),
        title: photo.faces.boxes[at].identity ?? "–",
        detail: this.#faceDetail(photo, links, bib, at),
        kind: "box faces",
      })),
      face === null ? null : `face-${face}`,
      "No faces.",
    );
    find("#count").textContent = `${links.length} linked${standing(doc)}`;
    const enable = (/** @type {string} */ id, /** @type {boolean} */ yes) =>
      find(id).toggleAttribute("disabled", !yes || !editable);
    const here = suggestions.some((/** @type {number[]} */ pair) => pair[0] === bib);
    enable("#accept", here);
    enable("#reject", here);
    enable("#accept-all", suggestions.length > 0);
    enable("#delete", bib !== null && end(links, bib).length > 0);
    enable("#none", true);
    enable("#done", true);
    find("#provenance").textContent = suggestions.length
      ? `${suggestions.length} by the pipeline's linker`
      : "None left to answer.";
  }

  /** @param {any} photo @param {readonly [number, number][]} links @param {number | null} bib @param {number} at */
  #faceDetail(photo, links, bib, at) {
    if (bib !== null && has(links, [bib, at])) return "linked with this bib";
    const others = links
      .filter((pair) => pair[1] === at)
      .map((pair) => photo.bibs.boxes[pair[0]].number ?? `bib ${pair[0] + 1}`);
    if (others.length) return `linked with ${others.join(" and ")}`;
    const { scope } = photo.faces.boxes[at];
    return scope === "keep" ? "free" : scopeWord(scope);
  }
}

/** @param {import("../model/pairs.js").Links} doc */
const standing = (doc) => (!doc.links ? ", not looked at yet" : doc.labeled ? "" : ", not done yet");
