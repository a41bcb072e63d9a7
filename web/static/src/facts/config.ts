// Facts of ConfigMaps and Secrets: their content, by key.

import { digits } from "../dom.ts";
import { fact, none, piece, section, type Fact, type Section } from "./fact.ts";
import { bytes, sizeOf } from "./quantity.ts";
import { at, members, text } from "./read.ts";

const short = 80; // the longest value, in characters, that is shown completely

export function configMap(o: unknown): (Section | null)[] {
  const plain = members(at(o, "data")).map(([key, v]): Fact | null => entry(key, text(v), typeof v === "string"));
  const binary = members(at(o, "binaryData")).map(([key, v]): Fact | null =>
    fact(key, piece(bytes(Math.floor((text(v).replace(/=+$/, "").length * 3) / 4))), none("binary")),
  );
  return [frozen(o), data([...plain, ...binary])];
}

/** The values of a Secret arrive masked. Their length is not revealed. */
export function secret(o: unknown): (Section | null)[] {
  const keys = members(at(o, "data")).map(([key, v]) =>
    fact(key, piece(text(v), { tone: "quiet" }) ?? none("(masked)")),
  );
  return [section("", [fact("Type", text(at(o, "type"))), ...(frozen(o)?.facts ?? [])]), data(keys)];
}

const frozen = (o: unknown): Section | null =>
  section("", [at(o, "immutable") === true ? fact("Immutable", "yes") : null]);

const data = (keys: readonly (Fact | null)[]): Section | null =>
  section("Data", keys.length === 0 ? [fact("Keys", none())] : keys);

function entry(key: string, value: string, known: boolean): Fact | null {
  if (!known) return fact(key, none("not a string"));
  const lines = value.split("\n").length - (value.endsWith("\n") ? 1 : 0);
  const whole = lines <= 1 && value.length <= short && value.trim() !== "";
  return fact(
    key,
    whole ? piece(value.trim()) : null,
    none(value === "" ? "empty" : `${bytes(sizeOf(value))}${lines > 1 ? `, ${digits(lines)} lines` : ""}`),
  );
}
