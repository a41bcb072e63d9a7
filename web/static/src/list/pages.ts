// The start functions of list pages and object pages. Both pages show the panel, so they share one script file.

import "../shared-code.ts";
export { startList } from "./start-list.ts";
export { startObject } from "../object/start-object.ts";
