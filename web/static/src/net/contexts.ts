// Reads and switches the contexts of the server's kubeconfig. All viewers see the cluster of the active context.

import { withBase } from "./base-path.ts";
import { problemOf } from "./problem.ts";
import { text } from "./text.ts";

export interface Context {
  readonly name: string;
  readonly cluster: string;
  readonly user: string;
  readonly namespace: string; // default namespace of the context; empty for none
}

export class Contexts {
  present = "";
  all: readonly Context[] = [];
  /** The reason why the last read of the contexts, or the last switch, failed. Empty after a success. */
  error = "";
  /** The name of the context that the server is switching to now. Empty if it is not switching. */
  switchingTo = "";

  constructor(
    private readonly onSwitched: () => void,
    private readonly get: typeof fetch = (...a) => fetch(...a),
  ) {}

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

  /**
   * Makes another context active for all viewers. Returns true if the server has switched. If not, the field `error`
   * contains the reason.
   */
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
      this.error = "Glasshouse did not respond. Reload the page to see the active context.";
    }
    this.switchingTo = "";
    if (this.error === "") this.onSwitched();
    return this.error === "";
  }
}

/** Decodes the list of contexts. Invalid elements are skipped. */
export function readContexts(body: unknown): { present: string; all: readonly Context[] } {
  const fields = (value: unknown): Readonly<Record<string, unknown>> =>
    typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  const { present, contexts } = fields(body);
  const all = (Array.isArray(contexts) ? contexts : []).map(fields).filter((c) => typeof c["name"] === "string");
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

/**
 * Describes a context by its cluster, user and namespace. contextText in web/templates/format.go does the same in Go.
 */
export const contextText = (c: Context): string =>
  `cluster ${c.cluster}, user ${c.user}${c.namespace === "" ? "" : `, namespace ${c.namespace}`}`;

/**
 * Loads the start page after the user has switched to another cluster, because no data of the previous cluster is
 * allowed to stay on the screen.
 */
export const openStartPage = (): void => location.assign(withBase("/"));
