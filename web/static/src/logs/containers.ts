// The containers of a pod, as its spec and status tell them.

import type { Tree } from "../wire.ts";

export interface Container {
  readonly name: string;
  readonly role: "" | "init" | "ephemeral";
  /** How it is, in a few words; empty where the status has nothing of it. */
  readonly state: string;
  readonly phase: "running" | "waiting" | "ended" | "";
  /** Another one for each time that it is started; only the end of it before the runtime has named it. */
  readonly id: string;
  readonly restarts: number;
}

const parts = [["containers", "containerStatuses", ""], ["initContainers", "initContainerStatuses", "init"], ["ephemeralContainers", "ephemeralContainerStatuses", "ephemeral"]] as const;

/** All containers, the usual ones first. */
export function containersOf(pod: Tree | null): Container[] {
  const spec = tree(pod?.["spec"]);
  const status = tree(pod?.["status"]);
  return parts.flatMap(([field, statuses, role]) => trees(spec[field]).filter((c) => text(c["name"]) !== "").map((c) => {
    const name = text(c["name"]);
    return { name, role, ...stateOf(trees(status[statuses]).find((s) => s["name"] === name) ?? {}) };
  }));
}

/** The one to begin with: as kubectl, the one that an annotation names, or the first. */
export function firstOf(pod: Tree | null, all: readonly Container[]): string {
  const named = text(tree(tree(pod?.["metadata"])["annotations"])["kubectl.kubernetes.io/default-container"]);
  return (all.find((c) => c.name === named) ?? all[0])?.name ?? "";
}

/** The pod has been given to a node. */
export const placed = (pod: Tree | null): boolean => text(tree(pod?.["spec"])["nodeName"]) !== "";

function stateOf(s: Tree): Omit<Container, "name" | "role"> {
  const restarts = typeof s["restartCount"] === "number" ? s["restartCount"] : 0;
  const state = tree(s["state"]);
  const id = `${text(s["containerID"])} ${restarts}`;
  if ("running" in state) return { state: "running", phase: "running", id, restarts };
  if ("waiting" in state) return { state: words("waiting", text(tree(state["waiting"])["reason"])), phase: "waiting", id, restarts };
  if ("terminated" in state) {
    const t = tree(state["terminated"]);
    const code = typeof t["exitCode"] === "number" ? `code ${t["exitCode"]}` : "";
    return { state: words("ended", [text(t["reason"]), code].filter((w) => w !== "").join(", ")), phase: "ended", id, restarts };
  }
  return { state: "", phase: "", id, restarts };
}

const words = (state: string, why: string): string => (why === "" ? state : `${state}: ${why}`);
const text = (v: unknown): string => (typeof v === "string" ? v : "");
const tree = (v: unknown): Tree => (typeof v === "object" && v !== null && !Array.isArray(v) ? (v as Tree) : {});
const trees = (v: unknown): Tree[] => (Array.isArray(v) ? v.map(tree) : []);
