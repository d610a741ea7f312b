/** Starts the editor of the page's dimension. */
import { BoxEditor } from "./box_editor.js";
import { LinkEditor } from "./link_editor.js";
import { find } from "./parts/dom.js";
import { isPhone } from "./parts/small.js";
import { PersonsEditor } from "./persons_editor.js";

const config = JSON.parse(find("#config").textContent ?? "");
if (isPhone()) Object.assign(config, { read_only: true, phone: true });
if (config.dimension === "links") new LinkEditor(config);
else if (config.dimension === "persons") new PersonsEditor(config);
else new BoxEditor(config);
document.body.dataset.ready = "true";
