/**
 * What a photo of a run has to show: every label, prediction, link and dropped text as a finding, what stands at it, and
 * which of them are drawn.
 *
 * @typedef {{kind: string, at?: number, text: string, state: string, why?: string, score?: number | null,
 *   identity?: string, box: [number, number, number, number] | null}} Said
 * @typedef {{side: string, at: number, text: string, state: string, ends: [number, number][], score: number | null,
 *   why: string}} Line
 * @typedef {{labels: Said[], predictions: Said[], links: Line[], dropped: Said[]}} Layers
 * @typedef {"run" | "base"} Side
 * @typedef {{id: string, side: Side, layer: "labels" | "predictions" | "dropped", title: string, name: string,
 *   reason: string, why: string, state: string, wrong: boolean, isNew: boolean, kind: string,
 *   box: import("./geometry.js").Box | null, edit: {page: string, at?: number}, line?: Line}} Finding
 * @typedef {Record<string, boolean>} Switches which layers are switched on: `labels`, `run`, `base`, `ignored`, `dropped`, `beside`
 */

import { overlap } from "./geometry.js";

const WRONG = ["missed", "false", "misread"];
/** @type {Record<string, string>} */
const WORDS = { missed: "MISSED", false: "FALSE", misread: "MISREAD", ignored: "not scored", found: "found", right: "right", unknown: "not labelled" };
/** What is new is called as in the line about the photo, in a word that is short enough to stand in the picture.
 * @type {Record<string, string>} */
const NEWLY = { missed: "LOST", false: "INVENTED" };
const MARGIN = 0.02;
/** So much of what is invented lies over what the other run invented where it is the same. */
const SAME = 0.5;

/** The findings of a run and of the one beside it. @param {{run: Layers, base?: Layers | null}} layers @returns {Finding[]} */
export function allFindings(layers) {
  const beside = layers.base ? findingsOf("base", layers.base) : [];
  const own = findingsOf("run", layers.run);
  return [...own.map((finding) => ({ ...finding, isNew: Boolean(layers.base) && isNew(finding, beside) })), ...beside];
}

/** Whether it is wrong, and was not so in the other run: a label is the same one there, what is invented lies elsewhere.
 * @param {Finding} finding @param {Finding[]} beside */
function isNew(finding, beside) {
  const { box, id, kind, layer, state, wrong } = finding;
  if (!wrong) return false;
  if (layer === "labels") return beside.some((other) => other.id === id.replace(/^run/, "base") && !other.wrong);
  return !beside.some((other) => other.state === state && other.kind === kind && box && other.box && overlap(box, other.box) >= SAME);
}

/** @param {Side} side @param {Layers} layers @returns {Finding[]} */
function findingsOf(side, layers) {
  return [
    ...layers.labels.map((said) => boxed(side, "labels", said)),
    ...layers.predictions.map((said) => boxed(side, "predictions", said)),
    ...layers.links.map((line) => linked(side, line)),
    ...layers.dropped.map((said, at) => dropped(side, said, at)),
  ];
}

/** @param {Side} side @param {"labels" | "predictions"} layer @param {Said} said @returns {Finding} */
function boxed(side, layer, said) {
  const face = said.kind === "face";
  const page = face ? "faces" : "bibs";
  return {
    id: `${side}-${layer}-${said.kind}-${said.at}`,
    side,
    layer,
    kind: said.kind,
    title: [word(said.state), said.kind, face ? said.identity : said.text].filter(Boolean).join(" "),
    name: said.text || said.identity || "",
    reason: said.why ?? "",
    why: explained(said),
    state: said.state,
    // One misread bib is one mistake: it is listed once, as its label.
    wrong: WRONG.includes(said.state) && !(layer === "predictions" && said.state === "misread"),
    isNew: false,
    box: asBox(said.box),
    edit: layer === "labels" ? { page, at: said.at } : { page },
  };
}

/** @param {Side} side @param {Line} line @returns {Finding} */
function linked(side, line) {
  return {
    id: `${side}-link-${line.side}-${line.at}`,
    side,
    layer: line.side === "label" ? "labels" : "predictions",
    kind: "link",
    title: [word(line.state), "link", line.text].filter(Boolean).join(" "),
    name: line.text,
    reason: line.why,
    why: explained(line),
    state: line.state,
    wrong: WRONG.includes(line.state),
    isNew: false,
    box: around(line.ends),
    edit: { page: "links" },
    line,
  };
}

/** @param {Side} side @param {Said} said @param {number} at @returns {Finding} */
function dropped(side, said, at) {
  return {
    id: `${side}-dropped-${at}`,
    side,
    layer: "dropped",
    kind: "text",
    title: said.text ? `“${said.text}”` : "a text that was not read",
    name: said.text,
    reason: said.why ?? "",
    why: said.why ?? "",
    state: "dropped",
    wrong: false,
    isNew: false,
    box: asBox(said.box),
    edit: { page: "bibs" },
  };
}

/** @param {string} state */
const word = (state) => WORDS[state] ?? state;

/** @param {{why?: string, score?: number | null}} said */
const explained = ({ why, score }) => [why, score == null ? "" : `score ${score.toFixed(2)}`].filter(Boolean).join(", ");

/** @param {[number, number, number, number] | null} box */
const asBox = (box) => (box ? { x: box[0], y: box[1], w: box[2], h: box[3] } : null);

/** @param {[number, number][]} ends */
function around(ends) {
  const xs = ends.map(([x]) => x);
  const ys = ends.map(([, y]) => y);
  const x = Math.min(...xs) - MARGIN;
  const y = Math.min(...ys) - MARGIN;
  return { x, y, w: Math.max(...xs) - x + MARGIN, h: Math.max(...ys) - y + MARGIN };
}

/** Whether it is drawn on a pane: over each other, the one pane has all; side by side, each its own run.
 * @param {Finding} finding @param {Side} pane @param {Switches} on @param {string | null} selected */
export function isShown(finding, pane, on, selected) {
  if (finding.layer === "dropped" && !(on.dropped || finding.id === selected)) return false;
  if (finding.state === "ignored" && !(on.ignored || finding.id === selected)) return false;
  const own = on.beside ? finding.side === pane : finding.side === "run" || finding.layer === "predictions";
  if (!own) return false;
  if (finding.layer === "labels") return on.labels;
  if (finding.layer === "predictions") return on.beside ? on.run : on[finding.side];
  return true;
}

/** What stands at a box: all that is wrong, and names; a prediction that is right says nothing unless it is selected.
 * @param {Finding} finding @param {boolean} beside @param {string | null} selected */
export function captionOf(finding, beside, selected) {
  const { layer, name, reason, state } = finding;
  const other = finding.side === "base" && !beside ? " (other run)" : "";
  if (finding.id === selected || layer === "dropped") return finding.title + other;
  if (state === "right" || (layer === "predictions" && state === "unknown")) return "";
  if (state === "found" || state === "ignored") return name;
  if (state === "misread") return layer === "labels" ? `is ${name}, ${reason}` : "";
  const told = finding.isNew ? NEWLY[state] : state.toUpperCase();
  return `${told} ${name || finding.kind}${other}`;
}

/** How it is drawn, as classes. @param {Finding} finding @param {boolean} beside */
export function classesOf(finding, beside) {
  const other = finding.side === "base" && !beside && finding.layer === "predictions";
  const layer = { labels: "label-box", predictions: "prediction", dropped: "text" }[finding.layer];
  return `${layer} ${finding.state}${other ? " base" : ""}${finding.isNew ? " new" : ""}`;
}

/** What of a list comes first: what is new, then the run's own, then the other run's.
 * @param {Finding[]} findings @returns {Finding[]} */
export function newFirst(findings) {
  const rank = (/** @type {Finding} */ finding) => (finding.side === "base" ? 2 : finding.isNew ? 0 : 1);
  return [...findings].sort((a, b) => rank(a) - rank(b));
}
