/** Links as lines from bib to face; suggested ones dashed. A dot ends each line, so that crossing lines can be told. */
import { isDrawn } from "../model/geometry.js";
import { svg } from "./dom.js";

export class LinkLines {
  /** @param {import("./stage.js").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    this.group = svg("g", { class: "link-lines" });
    stage.shapes.append(this.group);
  }

  /**
   * @param {any[]} bibs
   * @param {any[]} faces
   * @param {readonly [number, number][]} links
   * @param {readonly [number, number][]} suggestions
   * @param {number | null} selected
   */
  show(bibs, faces, links, suggestions, selected) {
    const lines = [
      ...links.map((pair) => ({ pair, kind: "link" })),
      ...suggestions.map((pair) => ({ pair, kind: "link suggested" })),
    ].filter(({ pair: [bib, face] }) => isDrawn(bibs[bib]) && isDrawn(faces[face]));
    this.group.replaceChildren(
      ...lines.flatMap(({ pair: [bib, face], kind }) =>
        this.#line(bibs[bib], faces[face], bib === selected ? `${kind} selected` : kind),
      ),
    );
  }

  /** From the top of the bib to the bottom of the face. @param {any} bib @param {any} face @param {string} kind */
  #line(bib, face, kind) {
    const { width, height } = this.stage.size;
    const below = bib.y + bib.h / 2 > face.y + face.h / 2;
    const ends = {
      x1: (bib.x + bib.w / 2) * width,
      y1: (below ? bib.y : bib.y + bib.h) * height,
      x2: (face.x + face.w / 2) * width,
      y2: (below ? face.y + face.h : face.y) * height,
    };
    return ["halo", "edge"].map((part) => svg("line", { class: `${part} ${kind}`, ...ends }));
  }
}
