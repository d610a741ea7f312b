/** The photos that can be opened without asking the server: those that were looked at last, and what is likely to come next. */
import { get } from "./api.js";

const MOST_LOADED = 24;

export class Loaded {
  /** @param {string} api where photos are asked for @param {any} photo one that came with the page */
  constructor(api, photo) {
    this.api = api;
    /** The latest last. @type {Map<string, any>} */
    this.photos = new Map([[photo.sha256, photo]]);
    /** @type {Set<string>} */
    this.fetching = new Set();
  }

  /** A photo, asked for where it is not at hand. @param {string} sha256 @returns {Promise<any>} */
  async open(sha256) {
    const photo = this.photos.get(sha256) ?? (await get(this.api + sha256));
    this.keep(photo);
    return photo;
  }

  /** The photo as the server has it now. @param {string} sha256 @returns {Promise<any>} */
  async renewed(sha256) {
    const photo = await get(this.api + sha256);
    this.keep(photo);
    return photo;
  }

  /** An answer that was overtaken by a save is older than what is known, and is passed over. @param {any} photo */
  keep(photo) {
    if (age(this.photos.get(photo.sha256)) > age(photo)) return;
    this.photos.delete(photo.sha256);
    this.photos.set(photo.sha256, photo);
    for (const old of this.photos.keys()) if (this.photos.size > MOST_LOADED) this.photos.delete(old);
  }

  /** Have photos at hand that are likely to be looked at next, and their pictures. @param {string[]} likely */
  fetchAhead(likely) {
    for (const sha256 of likely) {
      if (this.photos.has(sha256) || this.fetching.has(sha256)) continue;
      this.fetching.add(sha256);
      new Image().src = `/photos/${sha256}/screen`;
      this.renewed(sha256)
        .catch(() => {}) // it is asked for again when it is opened, and that is told
        .finally(() => this.fetching.delete(sha256));
    }
  }
}

/** How often the set had been written when a photo was read: revisions only grow. @param {any} photo */
export const age = (photo) =>
  photo ? photo.revision.split(".").reduce((/** @type {number} */ sum, /** @type {string} */ n) => sum + Number(n), 0) : -1;
