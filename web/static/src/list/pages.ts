// The pages of lists and of objects. They share the panel, so they load as one file.

import "../shared-code.ts";
export { startList } from "./start-list.ts";
export { startObject } from "../object/start-object.ts";
