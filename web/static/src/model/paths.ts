// Paths within an object, and their readable form.

/** Splits a JSON pointer (RFC 6901) into its unescaped segments. */
export const segments = (pointer: string): string[] =>
  pointer === ""
    ? []
    : pointer
        .slice(1)
        .split("/")
        .map((s) => s.replaceAll("~1", "/").replaceAll("~0", "~"));

/** Returns the value at a path, or undefined if there is none. */
export function valueAt(root: unknown, path: readonly string[]): unknown {
  let value = root;
  for (const segment of path) {
    if (Array.isArray(value)) value = value[Number(segment)] as unknown;
    else if (isObject(value) && Object.hasOwn(value, segment)) value = value[segment];
    else return undefined;
  }
  return value;
}

export const isObject = (v: unknown): v is Readonly<Record<string, unknown>> =>
  typeof v === "object" && v !== null && !Array.isArray(v);

// The names of members that identify the elements of lists in Kubernetes objects, the more specific ones first. For
// example, a volume mount has a name too, but only its mountPath is unique.
const elementKeys = [
  "mountPath",
  "devicePath",
  "name",
  "type",
  "key",
  "ip",
  "uid",
  "containerPort",
  "port",
  "topologyKey",
];

/** Returns the first of keys whose values are unique within each of the lists; undefined if there is none. */
export function keyOfList(...lists: readonly (readonly unknown[])[]): string | undefined {
  return elementKeys.find((key) => lists.every((list) => {
    const seen = new Set(
      list.map((e) => (isObject(e) ? e[key] : undefined)).filter((v) => typeof v === "string" || typeof v === "number"),
    );
    return seen.size === list.length;
  }));
}

/**
 * Formats a path for people: spec.containers[web].image. The segment of a list element is the value of its key in root,
 * or its index if it has no key: spec.containers[0].image. An object key that is not a plain word is in brackets too.
 * The object itself is a dot.
 */
export function pathText(path: readonly string[], root: unknown): string {
  let text = "";
  let value = root;
  for (const segment of path) {
    if (Array.isArray(value)) {
      const list = value as readonly unknown[];
      const element = list[Number(segment)];
      const key = isObject(element) ? keyOfList(list) : undefined;
      text += `[${key === undefined ? segment : String((element as Readonly<Record<string, unknown>>)[key])}]`;
    } else {
      // Without the object, a list index cannot be distinguished from a numeric key.
      text += /^[A-Za-z_][\w-]*$/.test(segment) ? `${text === "" ? "" : "."}${segment}` : `[${segment}]`;
    }
    value = valueAt(value, [segment]);
  }
  return text === "" ? "." : text;
}
