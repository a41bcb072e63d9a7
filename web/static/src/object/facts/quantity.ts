import { parseQuantity, quantityText } from "../../text/quantity.ts";
import { piece, type Piece } from "./fact.ts";
import { scalar } from "./read.ts";

export const quantity = (v: unknown): number | null => parseQuantity(scalar(v));
export const amount = (resource: string, v: unknown): string => quantityText(resource, scalar(v));

/** Returns a piece such as "memory 2 Gi", whose tooltip is the raw quantity. */
export const amountPiece = (resource: string, v: unknown, name = ""): Piece | null =>
  piece(`${name === "" ? "" : `${name} `}${amount(resource, v)}`, { title: `${resource}: ${scalar(v)}` });

export const sizeOf = (text: string): number => new TextEncoder().encode(text).length;
