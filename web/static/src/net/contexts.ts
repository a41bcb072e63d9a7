// Reads and switches the contexts of the server's kubeconfig. The server shows the cluster of one context at a time,
// the same to all viewers. The list is read again each time a viewer opens it.

import { withBase } from "./base-path.ts";
import { problemOf } from "./problem.ts";

export interface Context {
  readonly name: string;
  readonly cluster: string;
  readonly user: string;
  readonly namespace: string; // the default namespace of the context; empty for none
}

export class Contexts {
  present = "";
  all: readonly Context[] = [];
  /** Why the contexts are not known, or why the last chosen one is not active; empty if all is well. */
  error = "";
  /** The name of the context that the server is switching to; empty for none. */
  switchingTo = "";

  constructor(
    /** Called when another cluster is active. */
    private readonly onSwitched: () => void,
    private readonly get: typeof fetch = (...a) => fetch(...a),
  ) {}

  /** Requests the contexts from the server. */
  async read(): Promise<void> {
    try {
      const response = await this.get(withBase("/api/v1/contexts"), {
        cache: "no-store",
        headers: { accept: "application/json" },
      });
      if (!response.ok) {
        this.error = (await problemOf(response)).detail;
        return;
      }
      ({ present: this.present, all: this.all } = readContexts(await response.json()));
      this.error = "";
    } catch {
      this.error = "The contexts could not be loaded.";
    }
  }

  /** Makes another context active for all viewers. Returns whether that succeeded; if not, error has the reason. */
  async choose(name: string): Promise<boolean> {
    this.switchingTo = name;
    try {
      const response = await this.get(withBase("/api/v1/context"), {
        method: "POST",
        headers: { accept: "application/json", "content-type": "application/json" },
        body: JSON.stringify({ name }),
      });
      this.error = response.ok ? "" : (await problemOf(response)).detail;
    } catch {
      this.error = "The server did not respond.";
    }
    this.switchingTo = "";
    if (this.error === "") this.onSwitched();
    return this.error === "";
  }
}

/** Parses a response, and leaves out what it cannot parse. */
export function readContexts(body: unknown): { present: string; all: readonly Context[] } {
  const fields = (value: unknown): Readonly<Record<string, unknown>> =>
    (typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {});
  const text = (v: unknown): string => (typeof v === "string" ? v : "");
  const { present, contexts } = fields(body);
  const all = (Array.isArray(contexts) ? contexts : [])
    .map(fields)
    .filter((c) => typeof c["name"] === "string");
  return {
    present: text(present),
    all: all.map((c) => ({
      name: text(c["name"]),
      cluster: text(c["cluster"]),
      user: text(c["user"]),
      namespace: text(c["namespace"]),
    })),
  };
}

/** Returns the description of a context, like contextText in web/templates/format.go. */
export const contextText = (c: Context): string =>
  `cluster ${c.cluster}, user ${c.user}${c.namespace === "" ? "" : `, namespace ${c.namespace}`}`;
