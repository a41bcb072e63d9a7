// Finds who last changed each part of an object. When the overview opens, the server reads the authors from the
// managedFields. Later changes arrive together with their authors.

import { withBase } from "../../net/base-path.ts";
import { text, texts, time, trees, valueAt } from "../facts/read.ts";
import { sharedParts } from "../../model/guest.ts";
import type { LastChange } from "../../model/object-store.ts";
import type { ChangeAuthor, JsonObject } from "../../net/wire.ts";
import type { TabHost } from "../tab.ts";

export interface PartAuthor extends ChangeAuthor {
  /** The top-level fields of the object that the author changed, such as "spec" and "status". */
  readonly parts: readonly string[];
}

const maxAuthors = 20;

/** Reads a response of /api/v1/authors. Invalid entries are left out. The time of an entry is empty if unknown. */
export function readAuthors(response: unknown): PartAuthor[] {
  const entries = trees(valueAt(response, "authors")).slice(0, maxAuthors);
  return entries
    .filter((entry) => (entry["time"] === undefined ? text(entry["manager"]) : time(entry["time"])) !== "")
    .map((entry) => ({
      manager: text(entry["manager"]),
      operation: text(entry["operation"]),
      subresource: text(entry["subresource"]),
      time: time(entry["time"]),
      parts: texts(entry["parts"]),
    }));
}

/**
 * Returns who last changed each part (top-level field), newest first. An author of several parts has one entry.
 *
 * An author whose time is unknown is possibly the last author of a part. The result omits the parts of such an author.
 *
 * The managedFields have one time for all fields that a field manager wrote to a subresource. A controller that writes
 * the status usually wrote annotations much earlier. It therefore does not count as an author of the metadata.
 */
export function lastAuthors(authors: readonly PartAuthor[]): PartAuthor[] {
  const newest = authors.filter((a) => a.time !== "").toSorted((a, b) => Date.parse(b.time) - Date.parse(a.time));
  const seen = new Set(authors.filter((a) => a.time === "").flatMap(ownParts));
  return newest.flatMap((author) => {
    const parts = ownParts(author).filter((part) => !seen.has(part));
    for (const part of parts) seen.add(part);
    return parts.length === 0 ? [] : [{ ...author, parts }];
  });
}

/** Returns the parts that an author wrote. Omits the metadata if the author wrote the status (see lastAuthors). */
function ownParts({ subresource, parts }: PartAuthor): readonly string[] {
  const isOfStatus = subresource !== "" && parts.includes("status");
  return isOfStatus ? parts.filter((part) => part !== "metadata") : parts;
}

/** Returns the top-level fields that differ between two versions of an object. */
function changedParts(before: JsonObject, after: JsonObject): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const parts = [...names].filter((name) => before[name] !== after[name]);
  // Each change writes metadata.resourceVersion, so metadata counts only if nothing else changed.
  return parts.length > 1 ? parts.filter((name) => name !== "metadata") : parts;
}

/**
 * Adds the author of a change that arrived while the tab is open. Returns null if the author is unknown, or if there
 * are several, because it is unknown who changed which part.
 */
export function withChange(authors: readonly PartAuthor[], last: LastChange, object: JsonObject): PartAuthor[] | null {
  const [by] = last.by;
  if (by === undefined || last.by.length > 1 || last.before === null || last.op !== "update") return null;
  const changed = changedParts(last.before, object);
  // Authors without a time wrote before this change, so this change replaces their work in the parts that it changed.
  const older = authors.map((author) =>
    author.time === "" ? { ...author, parts: author.parts.filter((part) => !changed.includes(part)) } : author,
  );
  return [{ ...by, time: last.at, parts: changed }, ...older].slice(0, 2 * maxAuthors);
}

const isTemporary = (status: number): boolean => status === 429 || status >= 500;

const readInterval = 10_000; // minimum ms between two reads of the authors

/** Reads the authors of the object that the overview shows, and keeps them current. */
export class AuthorReader {
  authors: readonly PartAuthor[] = [];
  private uid = "";
  private version = "";
  private isDeleted = false;
  private isOutdated = false;
  private isReading = false;
  private readAt = -Infinity;
  private pendingRead = new AbortController();

  constructor(
    private readonly host: TabHost,
    private readonly onChange: () => void,
  ) {}

  show(object: JsonObject, last: LastChange | null, isDeleted: boolean): void {
    this.isDeleted = isDeleted;
    const uid = text(valueAt(object, "metadata", "uid"));
    const version = text(valueAt(object, "metadata", "resourceVersion"));
    if (uid === this.uid && version === this.version) return;
    // Several changes can arrive between two frames, but `last` is only the newest one. Check that `last` directly
    // follows the known version.
    const isNext = uid === this.uid && text(valueAt(last?.before, "metadata", "resourceVersion")) === this.version;
    const merged = last !== null && isNext ? withChange(this.authors, last, object) : null;
    if (uid !== this.uid) {
      this.authors = [];
      this.readAt = -Infinity;
    }
    this.uid = uid;
    this.version = version;
    if (merged !== null) this.authors = merged;
    // Read the authors again later if the author of this change is unknown. Also do so if a read is in progress,
    // because its response can be older than this change.
    if (merged === null || this.isReading) this.isOutdated = true;
    this.tick();
  }

  /** Reads the authors if a change without a known author arrived, at most every 10 s. */
  tick(): void {
    const now = performance.now();
    // Do not read the authors for guests, who may see only changes that happen while they watch.
    if (!this.isOutdated || this.isDeleted || sharedParts() !== null || now - this.readAt < readInterval) return;
    this.readAt = now;
    this.isOutdated = false;
    this.pendingRead.abort();
    this.pendingRead = new AbortController();
    void this.read(this.pendingRead.signal);
  }

  close(): void {
    this.pendingRead.abort();
  }

  private async read(signal: AbortSignal): Promise<void> {
    this.isReading = true;
    const { kind, name } = this.host;
    const ns = kind.namespaced ? encodeURIComponent(name.ns) : "_";
    try {
      const address = withBase(`/api/v1/authors/${kind.ref}/${ns}/${encodeURIComponent(name.name)}`);
      const response = await fetch(address, { signal, headers: { accept: "application/json" } });
      if (isTemporary(response.status)) this.isOutdated = true;
      if (!response.ok) return;
      const authors = readAuthors(await response.json());
      if (signal.aborted) return;
      this.authors = authors;
      this.onChange();
    } catch {
      if (!signal.aborted) this.isOutdated = true; // Read again later. Until then, the page shows no authors.
    } finally {
      if (!signal.aborted) this.isReading = false;
    }
  }
}
