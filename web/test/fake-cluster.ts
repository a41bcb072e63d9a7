import { Live } from "../static/src/net/live.ts";
import type { TabHost, TabData } from "../static/src/object/tab.ts";
import type { JsonObject, Verdict } from "../static/src/net/wire.ts";
import { Browser } from "./fake-browser.ts";
import { tableOf } from "./table-encoding.ts";

interface Listed {
  readonly columns: readonly string[];
  readonly rows: readonly { name: string; cells: readonly unknown[]; verdict?: Verdict; object?: object }[];
}

/** Answers the subscriptions of a page to lists, objects and logs in one namespace. */
export class FakeCluster {
  readonly browser = new Browser();
  readonly live: Live = new Live("ws://x", this.browser, () => undefined);
  /** Ids of the answered subscriptions. */
  private readonly answered = new Set<unknown>();

  constructor(readonly lists: Record<string, Listed>) {
    this.live.connect();
    this.browser.socket.accept();
  }

  host(ref: string, kind: string, name: string): TabHost {
    return {
      live: this.live,
      now: () => this.browser.now(),
      kind: { ref, kind, resource: ref.split("/")[2] ?? "", namespaced: true },
      name: { ns: "shop", name },
      kindOf: () => undefined,
      kindOfRef: (other) => ({ ref: other, kind: "", resource: "", namespaced: true }),
      log: () => ({ container: "", previous: false }),
      selectLog: () => undefined,
      find: () => "",
      setFind: () => undefined,
    };
  }

  /** The open subscriptions. */
  get requests(): Record<string, unknown>[] {
    const { sent } = this.browser.socket;
    const closed = new Set(sent.filter((m) => m["op"] === "unsubscribe").map((m) => m["id"]));
    return sent.filter((m) => m["op"] === "subscribe" && !closed.has(m["id"]));
  }

  /** The open subscriptions as text, such as "core/v1/pods table app=web". */
  get subscribed(): string[] {
    return this.requests.map((m) =>
      [m["resource"], m["view"], m["name"] ?? m["labels"] ?? "", m["container"] ?? ""].join(" ").trim(),
    );
  }

  /** Answers all unanswered subscriptions, and those that the page opens because of the answers. Skips logs. */
  answer(): void {
    for (;;) {
      const next = this.requests.find((m) => !this.answered.has(m["id"]) && m["view"] !== "log");
      if (next === undefined) return;
      this.answered.add(next["id"]);
      const list = this.lists[String(next["resource"])];
      const send = (m: object): void => this.browser.socket.receive({ id: next["id"], ...m });
      if (list === undefined) {
        send({ type: "state", state: "forbidden", reason: "User ann cannot list this." });
        continue;
      }
      send({ type: "state", state: "live" });
      if (next["view"] === "object") {
        const row = list.rows.find((r) => r.name === next["name"]);
        send({ type: "snapshot", cursor: "c", object: row?.object, verdict: row?.verdict ?? "none", last: true });
      } else
        send({
          type: "snapshot",
          cursor: "c",
          columns: list.columns.map((name) => ({ name, type: "string", format: "", priority: 0 })),
          table: tableOf(
            list.rows.map(({ name, cells, verdict }) => ({ ns: "shop", name, rv: "1", created: "", verdict, cells })),
          ),
          last: true,
        });
    }
  }

  /** Sends text of a container's log. */
  write(pod: string, container: string, text: string): void {
    this.send(pod, container, { type: "log", text });
  }

  end(pod: string, container: string): void {
    this.send(pod, container, { type: "log-end" });
  }

  private send(pod: string, container: string, message: object): void {
    const log = this.requests.find((m) => m["view"] === "log" && m["name"] === pod && m["container"] === container);
    this.browser.socket.receive({ id: log?.["id"], ...message });
  }
}

export const tabData = (object: object, more: Partial<TabData> = {}): TabData =>
  ({
    object: object as JsonObject,
    health: null,
    verdict: { severity: "none", reason: "", sentence: "" },
    last: null,
    isDeleted: false,
    info: { connection: "open", state: { state: "live", reason: "" }, isComplete: true, problem: null },
    ...more,
  }) as unknown as TabData;

export const podColumns = ["Name", "Ready", "Status", "Restarts", "Age", "IP", "Node"];

/** A Deployment with one ReplicaSet. */
export const deployment = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "shop", uid: "u-web" },
  spec: { replicas: 3, selector: { matchLabels: { app: "web" } } },
  status: { observedGeneration: 1, replicas: 2, readyReplicas: 1, updatedReplicas: 2 },
};

const controlledBy = (kind: string, name: string, uid: string): object => ({
  ownerReferences: [{ kind, name, uid, controller: true }],
});

export const replicaSet = (name: string, uid: string, owner = "u-web"): Listed["rows"][number] => ({
  name,
  cells: [name],
  object: { metadata: { name, uid, ...controlledBy("Deployment", "web", owner) } },
});

export function pod(
  name: string,
  { set = "web-1", setUid = "u-set", restarts = 0, verdict = undefined as Verdict | undefined } = {},
): Listed["rows"][number] {
  const status = restarts > 0 ? "CrashLoopBackOff" : "Running";
  const state = restarts > 0 ? { waiting: { reason: status } } : { running: {} };
  return {
    name,
    cells: [name, restarts > 0 ? "0/1" : "1/1", status, String(restarts), "", "10.0.0.1", "node-1"],
    ...(verdict === undefined ? {} : { verdict }),
    object: {
      metadata: { name, uid: `u-${name}`, ...controlledBy("ReplicaSet", set, setUid) },
      spec: { nodeName: "node-1", containers: [{ name: "main" }] },
      status: { containerStatuses: [{ name: "main", containerID: `id-${name}`, restartCount: restarts, state }] },
    },
  };
}
