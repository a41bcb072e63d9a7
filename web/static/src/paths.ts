// Places in an object, and how people write them.

/** The segments of a JSON pointer (RFC 6901). */
export const segments = (pointer: string): string[] => (pointer === "" ? [] : pointer.slice(1).split("/").map((s) => s.replaceAll("~1", "/").replaceAll("~0", "~")));

/** What stands at a path; undefined where nothing does. */
export function at(root: unknown, path: readonly string[]): unknown {
  let value = root;
  for (const segment of path) {
    if (Array.isArray(value)) value = value[Number(segment)] as unknown;
    else if (isObject(value) && Object.hasOwn(value, segment)) value = value[segment];
    else return undefined;
  }
  return value;
}

export const isObject = (v: unknown): v is Readonly<Record<string, unknown>> => typeof v === "object" && v !== null && !Array.isArray(v);

// By what the elements of Kubernetes' lists are told apart, the narrow ones first:
// a volume mount has a name too, but perhaps not alone.
const keys = ["mountPath", "devicePath", "name", "type", "key", "ip", "uid", "containerPort", "port", "topologyKey"];

/** The member that tells all elements of some lists apart; undefined where there is none. */
export function keyOfList(...lists: readonly (readonly unknown[])[]): string | undefined {
  return keys.find((key) => lists.every((list) => {
    const seen = new Set(list.map((e) => (isObject(e) ? e[key] : undefined)).filter((v) => typeof v === "string" || typeof v === "number"));
    return seen.size === list.length;
  }));
}

/**
 * A path as people write it: spec.containers[web].image, where the list's
 * elements have names in root, and else spec.containers[0].image. A key that is
 * no plain word stands in brackets too. The object itself is a dot.
 */
export function pathWords(path: readonly string[], root: unknown): string {
  let words = "";
  let value = root;
  for (const segment of path) {
    if (Array.isArray(value)) {
      const list = value as readonly unknown[];
      const element = list[Number(segment)];
      const key = isObject(element) ? keyOfList(list) : undefined;
      words += `[${key === undefined ? segment : String((element as Readonly<Record<string, unknown>>)[key])}]`;
    } else {
      // Without the object nothing tells a list's index from a key of digits.
      words += /^[A-Za-z_][\w-]*$/.test(segment) ? `${words === "" ? "" : "."}${segment}` : `[${segment}]`;
    }
    value = at(value, [segment]);
  }
  return words === "" ? "." : words;
}
