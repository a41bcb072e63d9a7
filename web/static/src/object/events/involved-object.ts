// Finds the object that an Event regards, from the cell "Object" of its row.

import type { OpenedObject } from "../../model/view.ts";
import type { ListedKind } from "../../net/kinds.ts";

/** An object that an Event regards, with a label such as "Pod web-1". */
export interface InvolvedObject {
  readonly label: string;
  readonly object: OpenedObject & { readonly ref: string };
}

/**
 * Returns the objects that a cell such as "pod/web-1" can name. The cell has no API group, so there are several if
 * kinds of several groups have this name. There are none if the viewer cannot list the kind.
 */
export function involvedObjects(
  cell: string,
  ns: string,
  kinds: readonly Pick<ListedKind, "ref" | "kind" | "namespaced" | "group">[],
): InvolvedObject[] {
  const [kind = "", name = ""] = cell.split("/");
  const matching = name === "" ? [] : kinds.filter((k) => k.kind.toLowerCase() === kind.toLowerCase());
  return matching.map((k) => ({
    label: `${k.kind} ${name}${matching.length > 1 ? ` (${k.group})` : ""}`,
    object: { ns: k.namespaced ? ns : "", name, ref: k.ref },
  }));
}
