// Splits a patch into changed fields, with their previous values.

import { immutableJSONPatch } from "immutable-json-patch";
import { isNoise } from "./noise.ts";
import { at, isObject, keyOfList, pathWords, segments } from "./paths.ts";
import type { Author, By, PatchOp, Tree } from "./wire.ts";

/** The content of a field: a value, nothing, or unknown because the server never sent it. */
export type Value =
  { readonly is: "value"; readonly value: unknown } | { readonly is: "none" } | { readonly is: "unknown" };

export interface Field {
  readonly words: string; // the path in readable form
  readonly before: Value;
  readonly after: Value;
  readonly noise: boolean;
  readonly by: readonly By[]; // empty if the author is unknown
}

interface Patched {
  readonly patch: readonly PatchOp[];
  readonly by?: By;
  readonly authors?: readonly Author[];
  readonly was?: ReadonlyMap<number, unknown>;
}

const none: Value = { is: "none" };
const unknown: Value = { is: "unknown" };
const of = (value: unknown): Value => (value === undefined ? none : { is: "value", value });

/**
  * Returns the fields that a change's patch changes, in the order of the patch. before: the complete object before the
  * change; null if it is not known. If it is null, a previous value is known only if the server sent it with the patch,
  * or if the field was added. A value that is replaced completely is split into the fields that differ.
 */
export function fieldsOf(before: Tree | null, { patch, by, authors, was: told }: Patched): Field[] {
  const fields: Field[] = [];
  let root: unknown = before;
  patch.forEach((op, i) => {
    if (op.op === "test") return;
    const path = segments(op.path);
    const next: unknown = root === null ? null : immutableJSONPatch(root, [op]);
    const after = op.op === "remove" ? none : "value" in op ? of(op.value) : of(at(next, path));
    const inserted = op.op === "add" && (root === null || Array.isArray(at(root, path.slice(0, -1))));
    const was = inserted
      ? none
      : root !== null
        ? of(at(root, path))
        : told?.has(i) === true
          ? of(told.get(i))
          : unknown;
    const owners = authors?.filter((a) => a.ops.includes(i)) ?? (by === undefined ? [] : [by]);
    const begun = fields.length;
    const tell: Tell = (p, b, a) =>
      fields.push({
        words: pathWords(p, a.is === "none" ? root : next),
        before: b,
        after: a,
        noise: isNoise(p),
        by: owners,
      });
    split(path, was, after, tell);
    // No field differs, because a list has the same elements in another order.
    if (fields.length === begun) tell(path, was, after);
    root = next;
  });
  return fields;
}

type Tell = (path: readonly string[], before: Value, after: Value) => void;

function split(path: readonly string[], before: Value, after: Value, tell: Tell): void {
  const [b, a] = [before.is === "value" ? before.value : undefined, after.is === "value" ? after.value : undefined];
  if (isObject(b) && isObject(a)) {
    for (const key of new Set([...Object.keys(b), ...Object.keys(a)])) part(path, key, b[key], key, a[key], tell);
  } else if (Array.isArray(b) && Array.isArray(a) && b.length > 0 && a.length > 0) {
    const key = keyOfList(b, a);
    if (key === undefined && b.length !== a.length) return tell(path, before, after);
    const id = (e: unknown, i: number): unknown => (key === undefined ? i : (e as Tree)[key]);
    const there = new Map(b.map((e: unknown, i) => [id(e, i), i]));
    a.forEach((e: unknown, i) => {
      const was = there.get(id(e, i));
      there.delete(id(e, i));
      part(path, String(was ?? i), was === undefined ? undefined : b[was], String(i), e, tell);
    });
    for (const i of there.values()) part(path, String(i), b[i], String(i), undefined, tell);
  } else {
    tell(path, before, after);
  }
}

function part(
  path: readonly string[],
  keyBefore: string,
  before: unknown,
  keyAfter: string,
  after: unknown,
  tell: Tell,
): void {
  if (!same(before, after)) split([...path, after === undefined ? keyBefore : keyAfter], of(before), of(after), tell);
}

/** Whether two JSON values are equal. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((e, i) => same(e, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((n) => Object.hasOwn(b, n) && same(a[n], b[n]));
}

/** Formats a value as JSON. Integers beyond 2^53 (of the type bigint) are written with all digits. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value, (_key, v: unknown) => (typeof v === "bigint" ? `\u0000${v}\u0000` : v), 2).replace(
    /"\\u0000(-?\d+)\\u0000"/g,
    "$1",
  );
