/** Pages without an editor: who is labelling. */
import { askWho } from "./parts/labeler.js";

askWho();
