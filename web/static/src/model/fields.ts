// Splits a JSON patch into the changed fields, with their previous and new values.

import { immutableJSONPatch } from "immutable-json-patch";
import { isVolatile } from "./volatile-fields.ts";
import { valueAt, isObject, keyOfList, pathText, segments } from "./paths.ts";
import type { PatchAuthor, ChangeAuthor, PatchOp, JsonObject } from "../net/wire.ts";

/** "none": the field does not exist. "unknown": the field exists, but the server did not send its value. */
export type Value =
  | { readonly type: "value"; readonly value: unknown }
  | { readonly type: "none" }
  | { readonly type: "unknown" };

export interface Field {
  readonly pathText: string; // path of the field, such as "spec.containers[web].image"
  readonly before: Value;
  readonly after: Value;
  readonly isVolatile: boolean;
  readonly by: readonly ChangeAuthor[]; // authors of the change; empty if unknown
}

interface PatchedChange {
  readonly patch: readonly PatchOp[];
  readonly by?: ChangeAuthor;
  readonly authors?: readonly PatchAuthor[];
  readonly was?: ReadonlyMap<number, unknown>;
}

const noValue: Value = { type: "none" };
const unknownValue: Value = { type: "unknown" };
const toValue = (value: unknown): Value => (value === undefined ? noValue : { type: "value", value });

/** Returns the fields that the patch changes, in patch order. `before` is null if the previous object is unknown. */
export function fieldsOf(
  before: JsonObject | null,
  { patch, by, authors, was: previousValues }: PatchedChange,
): Field[] {
  const fields: Field[] = [];
  let root: unknown = before;
  patch.forEach((op, i) => {
    if (op.op === "test") return;
    const path = segments(op.path);
    const next: unknown = root === null ? null : immutableJSONPatch(root, [op]);
    const after = op.op === "remove" ? noValue : "value" in op ? toValue(op.value) : toValue(valueAt(next, path));
    const inserted = op.op === "add" && (root === null || Array.isArray(valueAt(root, path.slice(0, -1))));
    const previous = inserted
      ? noValue
      : root !== null
        ? toValue(valueAt(root, path))
        : previousValues?.has(i) === true
          ? toValue(previousValues.get(i))
          : unknownValue;
    const owners = authors?.filter((a) => a.ops.includes(i)) ?? (by === undefined ? [] : [by]);
    const countBefore = fields.length;
    const addField: AddField = (p, b, a) =>
      fields.push({
        pathText: pathText(p, a.type === "none" ? root : next),
        before: b,
        after: a,
        isVolatile: isVolatile(p),
        by: owners,
      });
    // The operation replaces a complete value. Add only the fields of this value that differ.
    splitValue(path, previous, after, addField);
    // A list was only reordered, so no field in it differs. Add the list itself as the changed field.
    if (fields.length === countBefore) addField(path, previous, after);
    root = next;
  });
  return fields;
}

type AddField = (path: readonly string[], before: Value, after: Value) => void;

function splitValue(path: readonly string[], before: Value, after: Value, addField: AddField): void {
  const [b, a] = [before.type === "value" ? before.value : undefined, after.type === "value" ? after.value : undefined];
  if (isObject(b) && isObject(a)) {
    for (const key of new Set([...Object.keys(b), ...Object.keys(a)]))
      compareMember(path, key, b[key], key, a[key], addField);
  } else if (Array.isArray(b) && Array.isArray(a) && b.length > 0 && a.length > 0) {
    const key = keyOfList(b, a);
    if (key === undefined && b.length !== a.length) return addField(path, before, after);
    const id = (e: unknown, i: number): unknown => (key === undefined ? i : (e as JsonObject)[key]);
    const indexById = new Map(b.map((e: unknown, i) => [id(e, i), i]));
    a.forEach((e: unknown, i) => {
      const previousIndex = indexById.get(id(e, i));
      indexById.delete(id(e, i));
      compareMember(
        path,
        String(previousIndex ?? i),
        previousIndex === undefined ? undefined : b[previousIndex],
        String(i),
        e,
        addField,
      );
    });
    for (const i of indexById.values()) compareMember(path, String(i), b[i], String(i), undefined, addField);
  } else {
    addField(path, before, after);
  }
}

function compareMember(
  path: readonly string[],
  keyBefore: string,
  before: unknown,
  keyAfter: string,
  after: unknown,
  addField: AddField,
): void {
  if (!jsonEqual(before, after))
    splitValue([...path, after === undefined ? keyBefore : keyAfter], toValue(before), toValue(after), addField);
}

export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((e, i) => jsonEqual(e, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((n) => Object.hasOwn(b, n) && jsonEqual(a[n], b[n]));
}

/** Formats a value as JSON. Unlike JSON.stringify, supports bigint (integers beyond 2^53) without loss of digits. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value, (_key, v: unknown) => (typeof v === "bigint" ? `\u0000${v}\u0000` : v), 2).replace(
    /"\\u0000(-?\d+)\\u0000"/g,
    "$1",
  );
