// Subscribes to the explanation of an object: the path to the cause of its verdict, and the objects that it affects.

import type { Handler, Subscription } from "../../net/live.ts";
import { readVerdict } from "../../net/verdict.ts";
import type { JsonObject, Severity } from "../../net/wire.ts";
import { number, text, texts, trees } from "../facts/read.ts";
import type { TabHost } from "../tab.ts";

export interface AffectedObject {
  readonly resource: string; // the ref of the resource; empty if the cluster does not serve the kind
  readonly kind: string;
  readonly ns: string;
  readonly name: string;
  readonly severity: Severity;
}

/** One object on the path to a cause. */
export interface Hop extends AffectedObject {
  readonly sentence: string;
  /** For a route: the host and path of a rule that leads to no pod. Otherwise empty. */
  readonly rule: string;
  readonly state: "there" | "missing" | "unknown";
}

export interface Explanation {
  readonly chain: readonly Hop[]; // the object itself first, the cause last
  readonly affected: readonly AffectedObject[];
  readonly affectedTotal: number;
  /** A text that the server changes when a related object is added or deleted, or when its severity changes. */
  readonly related: string;
  readonly unexamined: readonly string[];
}

const none: Explanation = { chain: [], affected: [], affectedTotal: 0, related: "", unexamined: [] };

/** Reads an explanation from a message. Invalid parts are skipped. */
export function readExplanation(m: JsonObject): Explanation {
  const affected = trees(m["affected"]).map(readObject);
  return {
    chain: trees(m["chain"]).map((o) => ({
      ...readObject(o),
      sentence: text(o["sentence"]),
      rule: text(o["rule"]),
      state: o["state"] === "there" ? "there" : o["state"] === "missing" ? "missing" : "unknown",
    })),
    affected,
    affectedTotal: Math.max(affected.length, number(m["affectedTotal"]) ?? 0),
    related: text(m["related"]),
    unexamined: texts(m["unexamined"]),
  };
}

const readObject = (o: JsonObject): AffectedObject => ({
  resource: text(o["resource"]),
  kind: text(o["kind"]),
  ns: text(o["ns"]),
  name: text(o["name"]),
  severity: readVerdict({ severity: o["severity"] }).severity,
});

export class ExplanationReader implements Handler {
  /** The newest explanation. Empty until the first one has arrived. */
  explanation = none;
  private readonly subscription: Subscription;

  constructor(
    { live, kind, name }: TabHost,
    private readonly onChange: () => void,
  ) {
    this.subscription = live.subscribe(
      { resource: kind.ref, view: "explanation", name: name.name, ...(name.ns === "" ? {} : { ns: [name.ns] }) },
      this,
    );
  }

  message(m: Parameters<Handler["message"]>[0]): void {
    if (m.type === "explanation") this.explanation = readExplanation(m.members);
    // If the viewer lost permission, the objects of the explanation must not stay on the screen.
    else if (m.type === "error") this.explanation = none;
    this.onChange();
  }

  /** Is called before a new explanation. The old one stays until then, and the panel shows that it is not live. */
  restart(): void {
    this.onChange();
  }

  close(): void {
    this.subscription.close();
  }
}
