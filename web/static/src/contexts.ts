// The contexts of the kubeconfig, of which the server shows one at a time, to all
// who look. They are read anew whenever somebody wants to see them.

import { under } from "./base.ts";
import { problemOf } from "./problem.ts";

export interface Context {
  readonly name: string;
  readonly cluster: string;
  readonly user: string;
  readonly namespace: string; // empty for none
}

export class Contexts {
  present = "";
  all: readonly Context[] = [];
  /** Why they are not known, or why the last that was chosen is not shown; empty where all is well. */
  trouble = "";
  /** Which is being opened; empty for none. */
  opening = "";

  constructor(
    /** Another cluster is shown. */
    private readonly switched: () => void,
    private readonly get: typeof fetch = (...a) => fetch(...a),
  ) {}

  /** Reads them anew. */
  async read(): Promise<void> {
    try {
      const answer = await this.get(under("/api/v1/contexts"), { cache: "no-store", headers: { accept: "application/json" } });
      if (!answer.ok) {
        this.trouble = (await problemOf(answer)).detail;
        return;
      }
      ({ present: this.present, all: this.all } = readContexts(await answer.json()));
      this.trouble = "";
    } catch {
      this.trouble = "The server did not tell its contexts.";
    }
  }

  /** Has another one shown, for all who look. Whether it is; trouble says why it is not. */
  async choose(name: string): Promise<boolean> {
    this.opening = name;
    try {
      const answer = await this.get(under("/api/v1/context"), { method: "POST", headers: { accept: "application/json", "content-type": "application/json" }, body: JSON.stringify({ name }) });
      this.trouble = answer.ok ? "" : (await problemOf(answer)).detail;
    } catch {
      this.trouble = "The server did not answer.";
    }
    this.opening = "";
    if (this.trouble === "") this.switched();
    return this.trouble === "";
  }
}

/** Reads an answer; what cannot be read of it is left out. */
export function readContexts(body: unknown): { present: string; all: readonly Context[] } {
  const fields = (value: unknown): Readonly<Record<string, unknown>> => (typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {});
  const text = (v: unknown): string => (typeof v === "string" ? v : "");
  const { present, contexts } = fields(body);
  const all = (Array.isArray(contexts) ? contexts : []).map(fields).filter((c) => typeof c["name"] === "string");
  return { present: text(present), all: all.map((c) => ({ name: text(c["name"]), cluster: text(c["cluster"]), user: text(c["user"]), namespace: text(c["namespace"]) })) };
}

/** What a context is of, as contextWords in templates/words.go has it. */
export const contextWords = (c: Context): string => `cluster ${c.cluster}, user ${c.user}${c.namespace === "" ? "" : `, namespace ${c.namespace}`}`;
