import { text } from "../../net/text.ts";
import type { JsonObject } from "../../net/wire.ts";

export interface Container {
  readonly name: string;
  readonly role: "" | "init" | "ephemeral";
  /** The state of the container in a few words. Empty if the pod's status does not contain the container. */
  readonly state: string;
  readonly phase: "running" | "waiting" | "ended" | "";
  /**
   * Identifies a run of the container by its restart count and container ID, so that a restart is noticed. Before the
   * first start, there is no container ID.
   */
  readonly id: string;
  readonly restarts: number;
}

const containerFields = [
  ["containers", "containerStatuses", ""],
  ["initContainers", "initContainerStatuses", "init"],
  ["ephemeralContainers", "ephemeralContainerStatuses", "ephemeral"],
] as const;

export function containersOf(pod: JsonObject | null): Container[] {
  const spec = tree(pod?.["spec"]);
  const status = tree(pod?.["status"]);
  return containerFields.flatMap(([field, statuses, role]) =>
    trees(spec[field])
      .filter((c) => text(c["name"]) !== "")
      .map((c) => {
        const name = text(c["name"]);
        return { name, role, ...stateOf(trees(status[statuses]).find((s) => s["name"] === name) ?? {}) };
      }),
  );
}

/**
 * Returns the container that the pod's annotation kubectl.kubernetes.io/default-container names. Without it, returns
 * the first container, as kubectl does.
 */
export function defaultContainer(pod: JsonObject | null, all: readonly Container[]): string {
  const annotated = text(tree(tree(pod?.["metadata"])["annotations"])["kubectl.kubernetes.io/default-container"]);
  return (all.find((c) => c.name === annotated) ?? all[0])?.name ?? "";
}

/**
 * Returns the name of the container whose previous instance explains a problem. It prefers a restarted container that
 * waits, and otherwise returns the container with the most restarts. It returns "" if no container was restarted.
 */
export function restartedContainer(all: readonly Container[]): string {
  const restarted = all.filter((c) => c.restarts > 0);
  const worst = Math.max(...restarted.map((c) => c.restarts));
  return (restarted.find((c) => c.phase === "waiting") ?? restarted.find((c) => c.restarts === worst))?.name ?? "";
}

export const isScheduled = (pod: JsonObject | null): boolean => text(tree(pod?.["spec"])["nodeName"]) !== "";

function stateOf(s: JsonObject): Omit<Container, "name" | "role"> {
  const restarts = typeof s["restartCount"] === "number" ? s["restartCount"] : 0;
  const state = tree(s["state"]);
  const id = `${text(s["containerID"])} ${restarts}`;
  if ("running" in state) return { state: "running", phase: "running", id, restarts };
  if ("waiting" in state)
    return { state: withReason("waiting", text(tree(state["waiting"])["reason"])), phase: "waiting", id, restarts };
  if ("terminated" in state) {
    const t = tree(state["terminated"]);
    const code = typeof t["exitCode"] === "number" ? `exit code ${t["exitCode"]}` : "";
    return {
      state: withReason("terminated", [text(t["reason"]), code].filter((w) => w !== "").join(", ")),
      phase: "ended",
      id,
      restarts,
    };
  }
  return { state: "", phase: "", id, restarts };
}

const withReason = (state: string, reason: string): string => (reason === "" ? state : `${state}: ${reason}`);
const tree = (v: unknown): JsonObject =>
  typeof v === "object" && v !== null && !Array.isArray(v) ? (v as JsonObject) : {};
const trees = (v: unknown): JsonObject[] => (Array.isArray(v) ? v.map(tree) : []);
