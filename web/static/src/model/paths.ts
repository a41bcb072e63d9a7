export const segments = (pointer: string): string[] =>
  pointer === ""
    ? []
    : pointer
        .slice(1)
        .split("/")
        .map((s) => s.replaceAll("~1", "/").replaceAll("~0", "~"));

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

// Fields that identify list elements, most specific first. For example, mountPath is before name, because two volume
// mounts can have the same name, but not the same mountPath.
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

/** Returns the first of elementKeys whose values are unique in each list, so that they identify the elements. */
export function keyOfList(...lists: readonly (readonly unknown[])[]): string | undefined {
  return elementKeys.find((key) =>
    lists.every((list) => {
      const seen = new Set(
        list
          .map((e) => (isObject(e) ? e[key] : undefined))
          .filter((v) => typeof v === "string" || typeof v === "number"),
      );
      return seen.size === list.length;
    }),
  );
}

/**
 * Returns a readable path, such as spec.containers[web].image. The function finds list elements in `root`, to show
 * their names (such as "web") instead of their indexes.
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
      // Put each segment that is not an identifier into brackets: list indexes, and map keys such as
      // "example.com/role".
      text += /^[A-Za-z_][\w-]*$/.test(segment) ? `${text === "" ? "" : "."}${segment}` : `[${segment}]`;
    }
    value = valueAt(value, [segment]);
  }
  return text === "" ? "." : text;
}
