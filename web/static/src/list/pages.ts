// The script of list pages.

import "../shared-code.ts";
export { startList } from "./start-list.ts";
