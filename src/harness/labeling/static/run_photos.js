/**
 * The grid of a run's photos: only those in view are in the page, whatever their number. Others are fetched a part at a
 * time where they come into view. Without this script the page has the first ones, and a way to the next page.
 *
 * @typedef {{sha256: string, name: string, words: string, change: string, change_words: string, notes: number,
 *   marks: [string, [number, number, number, number]][], size: [number, number] | null}} Photo
 */
import { get } from "./parts/api.js";
import { element, everyFrame, find, setAttributes, svg } from "./parts/dom.js";

/** As many as the page itself has. */
const PART = 60;
const NARROWEST = 250;
const HEIGHT = 276;
const GAP = 12;
/** Rows above and below the window that are there already. */
const SPARE = 2;
/** Parts that are kept; those longest out of view are fetched again when they are wanted. */
const KEPT = 48;

const grid = find("#grid");
const { total: count = "0", api = "", address = "", pictures = "", query = "" } = grid.dataset;
const total = Number(count);
/** @type {Map<number, Photo[] | Promise<void>>} */
const parts = new Map();
const first = JSON.parse(find("#first").textContent ?? "");
parts.set(first.page - 1, first.photos); // what the page came with is not fetched again
/** @type {Map<number, HTMLElement>} */
const cells = new Map();
let columns = 1;
let width = NARROWEST;
let current = 0;

/** @param {number} at @returns {Photo | null} */
function photoAt(at) {
  const number = Math.floor(at / PART);
  const part = parts.get(number);
  if (part === undefined) parts.set(number, fetchPart(number));
  else if (Array.isArray(part)) {
    parts.delete(number); // the last one used stands last
    parts.set(number, part);
    return part[at - number * PART] ?? null;
  }
  return null;
}

/** @param {number} number */
async function fetchPart(number) {
  const from = new URLSearchParams(query);
  from.set("start", String(number * PART));
  from.set("count", String(PART));
  try {
    const { photos } = await get(`${api}?${from}`);
    parts.set(number, photos);
    for (const [old, part] of parts) if (parts.size > KEPT && Array.isArray(part) && old !== number) parts.delete(old);
    for (const [at, cell] of cells) if (Math.floor(at / PART) === number) fill(cell, at);
  } catch {
    parts.delete(number);
    setTimeout(draw, 1000);
  }
}

/** @param {HTMLElement} cell @param {number} at */
function fill(cell, at) {
  const photo = photoAt(at);
  cell.classList.toggle("waiting", !photo);
  const href = photo && `${address}/${photo.sha256}${query}`;
  const link = element("a", { href, tabindex: at === current ? 0 : -1 });
  link.append(photo?.size ? shot(photo) : element("span", { class: "shot none" }, photo ? "no picture" : "…"));
  link.append(element("span", { class: "name" }, photo?.name ?? ""));
  const told = photo ? [photo.words || "nothing wrong", ...(photo.notes ? [`${photo.notes} note${photo.notes === 1 ? "" : "s"}`] : [])] : [];
  const lines = [element("p", { class: "words" }, told.join(" · "))];
  if (photo?.change)
    lines.unshift(
      element("p", { class: `changed ${photo.change.split(" ").pop()}` }, `${photo.change}: ${photo.change_words}`),
    );
  const focused = cell.contains(document.activeElement);
  cell.replaceChildren(link, ...lines);
  if (focused) link.focus({ preventScroll: true });
}

/** @param {Photo} photo */
function shot(photo) {
  const [wide, high] = photo.size ?? [4, 3];
  const picture = svg("image", { href: `${pictures}/${photo.sha256}/thumb`, width: wide, height: high });
  const boxes = photo.marks.flatMap(([state, [x, y, w, h]]) =>
    ["under", state].map((name) =>
      svg("rect", { class: name, x: x * wide, y: y * high, width: w * wide, height: h * high }),
    ),
  );
  return svg("svg", { class: "shot", viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": photo.name }, picture, ...boxes);
}

function measure() {
  const room = grid.clientWidth;
  columns = Math.max(1, Math.floor((room + GAP) / (NARROWEST + GAP)));
  width = (room - GAP * (columns - 1)) / columns;
  grid.style.height = `${Math.ceil(total / columns) * (HEIGHT + GAP) - GAP}px`;
}

const draw = everyFrame(() => {
  const top = -grid.getBoundingClientRect().top;
  const first = Math.max(0, Math.floor(top / (HEIGHT + GAP)) - SPARE) * columns;
  const last = Math.min(total, (Math.ceil((top + innerHeight) / (HEIGHT + GAP)) + SPARE) * columns);
  for (const [at, cell] of cells) {
    if ((at >= first && at < last) || cell.contains(document.activeElement)) continue;
    cell.remove();
    cells.delete(at);
  }
  for (let at = first; at < last; at += 1) {
    const known = cells.get(at);
    const cell = known ?? element("li", { "aria-setsize": total, "aria-posinset": at + 1 });
    cell.style.width = `${width}px`;
    cell.style.transform = `translate(${(at % columns) * (width + GAP)}px, ${Math.floor(at / columns) * (HEIGHT + GAP)}px)`;
    if (known) continue;
    cells.set(at, cell);
    fill(cell, at);
    grid.append(cell);
  }
});

/** @param {number} at */
function go(at) {
  current = Math.min(total - 1, Math.max(0, at));
  const top = grid.getBoundingClientRect().top + Math.floor(current / columns) * (HEIGHT + GAP);
  if (top < 0 || top + HEIGHT > innerHeight) scrollBy({ top: top - (innerHeight - HEIGHT) / 2 });
  draw();
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      for (const [place, cell] of cells) setAttributes(find("a", cell), { tabindex: place === current ? 0 : -1 });
      cells.get(current)?.querySelector("a")?.focus({ preventScroll: true });
    }),
  );
}

/** @type {Record<string, () => number>} */
const STEPS = {
  ArrowRight: () => current + 1,
  ArrowLeft: () => current - 1,
  ArrowDown: () => current + columns,
  ArrowUp: () => current - columns,
  Home: () => 0,
  End: () => total - 1,
};

grid.addEventListener("focusin", (event) => {
  for (const [at, cell] of cells) if (cell.contains(/** @type {Node} */ (event.target))) current = at;
});
grid.addEventListener("keydown", (event) => {
  const step = STEPS[event.key];
  if (!step || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  go(step());
});

document.querySelector("#pages")?.remove();
grid.replaceChildren();
grid.classList.add("virtual");
grid.setAttribute("role", "list");
measure();
const place = `grid ${address}${query}`;
scrollTo({ top: Number(sessionStorage.getItem(place) ?? scrollY) }); // back from a photo to where it was
addEventListener("pagehide", () => sessionStorage.setItem(place, String(scrollY)));
draw();
addEventListener("scroll", draw, { passive: true });
new ResizeObserver(() => {
  measure();
  draw();
}).observe(grid);
document.body.dataset.ready = "true";
