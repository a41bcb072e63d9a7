// Exports the start functions of list pages and object pages. Both show the object panel, so they share a script file.

import "../shared-code.ts";
export { startList } from "./start-list.ts";
export { startObject } from "../object/start-object.ts";
