import { formatInteger } from "../../text/format.ts";
import { fact, absentPiece, piece, section, type Fact, type Section } from "./fact.ts";
import { sizeOf } from "./quantity.ts";
import { bytes } from "../../text/quantity.ts";
import { valueAt, members, text } from "./read.ts";

const maxInlineLength = 80; // characters; a longer value is shown only on request

export function configMap(o: unknown): (Section | null)[] {
  const textEntries = members(valueAt(o, "data")).map(([key, v]): Fact | null =>
    entryFact(key, text(v), typeof v === "string"),
  );
  const binaryEntries = members(valueAt(o, "binaryData")).map(([key, v]): Fact | null =>
    fact(key, piece(bytes(Math.floor((text(v).replace(/=+$/, "").length * 3) / 4))), absentPiece("binary")),
  );
  return [immutableSection(o), dataSection([...textEntries, ...binaryEntries])];
}

/** Returns the facts of a Secret. The server masks its values, so that not even their length is revealed. */
export function secret(o: unknown): (Section | null)[] {
  const keys = members(valueAt(o, "data")).map(([key, v]) =>
    fact(key, piece(text(v), { level: "quiet" }) ?? absentPiece("(masked)")),
  );
  return [
    section("", [fact("Type", text(valueAt(o, "type"))), ...(immutableSection(o)?.facts ?? [])]),
    dataSection(keys),
  ];
}

const immutableSection = (o: unknown): Section | null =>
  section("", [valueAt(o, "immutable") === true ? fact("Immutable", "yes") : null]);

const dataSection = (keys: readonly (Fact | null)[]): Section | null =>
  section("Data", keys.length === 0 ? [fact("Keys", absentPiece())] : keys);

function entryFact(key: string, value: string, isText: boolean): Fact | null {
  if (!isText) return fact(key, absentPiece("not a string"));
  const lines = value.split("\n").length - (value.endsWith("\n") ? 1 : 0);
  const isInline = lines <= 1 && value.length <= maxInlineLength && value.trim() !== "";
  if (value === "") return fact(key, absentPiece("empty"));
  const size = `${bytes(sizeOf(value))}${lines > 1 ? `, ${formatInteger(lines)} lines` : ""}`;
  if (isInline) return fact(key, piece(value.trim()), absentPiece(size));
  return fact(key, absentPiece(size, { full: () => value }));
}
