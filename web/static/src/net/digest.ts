// Computes a digest, by which the page checks that it has the server's rows. Tests on both sides read test/digest.json.

const basis = 0x811c9dc5;
const prime = 0x01000193;
const slash = "/".charCodeAt(0);
const encoder = new TextEncoder();

export interface DigestRow {
  readonly ns: string;
  readonly name: string;
  readonly rv: string;
}

/** Returns the digest of the entries `from` (inclusive) to `to` (exclusive): the sum of their hashes. */
export function digest(entries: readonly DigestRow[], from = 0, to = entries.length): number {
  // The digest is a sum modulo 2^32, which does not depend on the order of the rows.
  let sum = 0;
  for (let i = from; i < to; i++) {
    const e = entries[i] as DigestRow;
    // The hash is the 32-bit FNV-1a of "namespace/name/resourceVersion", followed by the final mix of MurmurHash3.
    let hash = hashText(basis, e.ns);
    hash = Math.imul(hash ^ slash, prime);
    hash = hashText(hash, e.name);
    hash = Math.imul(hash ^ slash, prime);
    sum = (sum + mix(hashText(hash, e.rv))) | 0;
  }
  return sum;
}

/** Formats a digest as 8 hex digits, as in the messages of the server. */
export const hex = (sum: number): string => (sum >>> 0).toString(16).padStart(8, "0");

// Without mixing, the differences between similar rows could cancel each other out in the sum.
function mix(hash: number): number {
  let h = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

function hashText(hash: number, text: string): number {
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c > 0x7f) return hashBytes(hash, encoder.encode(text.slice(i)));
    hash = Math.imul(hash ^ c, prime);
  }
  return hash;
}

function hashBytes(hash: number, bytes: Uint8Array): number {
  for (const b of bytes) hash = Math.imul(hash ^ b, prime);
  return hash;
}
