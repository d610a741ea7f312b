/**
 * Work that the server does not have yet, in the browser's storage. Storage that is full or forbidden is not an
 * error here: the work is still in the page, and the page says that it is not saved.
 */
export class Drafts {
  /** @param {Storage} storage @param {string} scope which set and which kind of label */
  constructor(storage, scope) {
    this.storage = storage;
    this.prefix = `harness/${scope}/`;
  }

  /** @param {string} photo @param {{doc: any, base: any}} draft */
  put(photo, draft) {
    try {
      this.storage.setItem(this.prefix + photo, JSON.stringify(draft));
    } catch (error) {
      console.warn("the browser keeps no copy of unsaved work:", error);
    }
  }

  /** @param {string} photo @returns {{doc: any, base: any} | null} */
  get(photo) {
    try {
      return JSON.parse(this.storage.getItem(this.prefix + photo) ?? "null");
    } catch (error) {
      console.warn("a copy of unsaved work cannot be read:", error);
      return null;
    }
  }

  /** @param {string} photo */
  drop(photo) {
    this.storage.removeItem(this.prefix + photo);
  }

  /** The photos that have one. @returns {string[]} */
  photos() {
    return Object.keys(this.storage)
      .filter((key) => key.startsWith(this.prefix))
      .map((key) => key.slice(this.prefix.length));
  }
}
