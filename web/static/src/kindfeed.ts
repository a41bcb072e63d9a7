// What the cluster serves, as it changes. The socket tells it within moments;
// where it cannot be had there (no connection, or a server that does not know
// the view), /api/v1/resources is asked every now and then. That has the counts
// as well, and is asked for them always.

import { readKinds, readProblems, type Listed } from "./kinds.ts";
import type { Handler, Live } from "./live.ts";

const every = 10_000;

export interface KindWatcher {
  /** These are all kinds there are, and the API groups that could not be read. */
  listed(kinds: readonly Listed[], problems: ReadonlyMap<string, string>): void;
  /** Kinds may have other counts; which kinds there are is known better. */
  counted(kinds: readonly Listed[]): void;
}

export class KindFeed implements Handler {
  private fed = false; // by the socket, which is newer than any answer
  private etag = "";

  constructor(
    private readonly watcher: KindWatcher,
    private readonly onDate: (header: string | null) => void,
  ) {}

  start(live: Live): void {
    live.subscribe({ resource: "", view: "resources" }, this);
  }

  message(m: Parameters<Handler["message"]>[0]): void {
    if (m.type === "resources") {
      this.fed = true;
      this.etag = ""; // What is drawn is no longer what that answer said.
      this.watcher.listed(m.kinds, m.problems);
    } else if (m.type === "error") {
      this.fed = false;
    }
  }

  restart(): void {
    this.fed = false;
  }

  /** Takes the body of an answer of /api/v1/resources. */
  answer(body: unknown): void {
    if (this.fed) this.watcher.counted(readKinds(body));
    else this.watcher.listed(readKinds(body), readProblems(body));
  }

  /** Asks now, and from then on every now and then. */
  async poll(): Promise<void> {
    if (!document.hidden) {
      try {
        await this.fetch();
      } catch {
        // The socket tells that the server is away; the next round tries again.
      }
    }
    setTimeout(() => void this.poll(), every);
  }

  private async fetch(): Promise<void> {
    const answer = await fetch("/api/v1/resources", { cache: "no-store", headers: { accept: "application/json", ...(this.etag === "" ? {} : { "if-none-match": this.etag }) }, signal: AbortSignal.timeout(every) });
    this.onDate(answer.headers.get("date"));
    if (answer.status !== 200) return;
    const body: unknown = await answer.json();
    this.etag = answer.headers.get("etag") ?? "";
    this.answer(body);
  }
}
