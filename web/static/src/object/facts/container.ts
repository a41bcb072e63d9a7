import { containerGroups, handlerText } from "./describe.ts";
import { fact, item, absentPiece, piece, since, type Fact, type Item, type Piece, type FactLevel } from "./fact.ts";
import { amountPiece } from "./quantity.ts";
import { valueAt, isTree, members, number, scalar, text, time, trees } from "./read.ts";

export function containers(pod: unknown): Item[] {
  return [
    ...containersIn(pod, "initContainers", "initContainerStatuses", "init"),
    ...containersIn(pod, "containers", "containerStatuses", ""),
    ...containersIn(pod, "ephemeralContainers", "ephemeralContainerStatuses", "ephemeral"),
  ];
}

/** Returns the containers of a pod template. Unlike the containers of a pod, they have no status. */
export function templateContainers(spec: unknown, ns: string): Item[] {
  return (["initContainers", "containers"] as const).flatMap((field) =>
    trees(valueAt(spec, field)).map((c) => {
      const role = field === "containers" ? "" : c["restartPolicy"] === "Always" ? "sidecar" : "init";
      return item(
        text(c["name"]) || "container",
        [role === "" ? null : absentPiece(role)],
        [fact("Image", text(c["image"])), ...specFacts(c)],
        containerGroups(c, ns),
      );
    }),
  );
}

/** Returns the images of a pod template. The tooltip of each image is the container's name. */
export const images = (spec: unknown): Fact | null =>
  fact(
    "Images",
    ...[...trees(valueAt(spec, "initContainers")), ...trees(valueAt(spec, "containers"))].map((c) =>
      piece(text(c["image"]), { title: `container ${text(c["name"])}` }),
    ),
  );

function containersIn(pod: unknown, specField: string, statusField: string, role: string): Item[] {
  const containerStatuses = trees(valueAt(pod, "status", statusField));
  return trees(valueAt(pod, "spec", specField)).map((c) => {
    const name = text(c["name"]);
    const status = containerStatuses.find((s) => s["name"] === name);
    const sidecar = role === "init" && c["restartPolicy"] === "Always";
    return item(
      name === "" ? "container" : name,
      [
        role === "" ? null : absentPiece(sidecar ? "sidecar" : role),
        ...headPieces(status, role === "init" && !sidecar),
      ],
      [
        fact("Image", piece(text(c["image"]), { title: text(valueAt(status, "imageID")) || undefined })),
        messageFact(valueAt(status, "state")),
        lastExit(valueAt(status, "lastState", "terminated")),
        ...specFacts(c),
      ],
      containerGroups(c, text(valueAt(pod, "metadata", "namespace"))),
    );
  });
}

const specFacts = (c: unknown): (Fact | null)[] => [
  resources("Requests", valueAt(c, "resources", "requests")),
  resources("Limits", valueAt(c, "resources", "limits")),
  fact("Ports", ...trees(valueAt(c, "ports")).map(port)),
  fact("Probes", ...["startup", "readiness", "liveness"].map((p) => probe(p, valueAt(c, `${p}Probe`)))),
];

// Returns the state, readiness and restarts of a container. Omits readiness and zero restarts if it runs to completion.
function headPieces(status: unknown, runsToCompletion: boolean): (Piece | null)[] {
  if (status === undefined) return [absentPiece("no status")];
  const ready = valueAt(status, "ready");
  const restarts = number(valueAt(status, "restartCount"));
  const finished = valueAt(status, "state", "terminated", "exitCode") === 0;
  const readiness =
    ready === true ? piece("ready", { level: "good" }) : ready === false ? piece("not ready", { level: "bad" }) : null;
  return [
    state(valueAt(status, "state")),
    finished || runsToCompletion ? null : readiness,
    restarts === null || (runsToCompletion && restarts === 0)
      ? null
      : piece(`${restarts} ${restarts === 1 ? "restart" : "restarts"}`, { level: restarts > 0 ? "warn" : "quiet" }),
  ];
}

const startingReasons = new Set(["ContainerCreating", "PodInitializing", "Pending"]);

function state(v: unknown): Piece | null {
  const [waiting, running, terminated] = [valueAt(v, "waiting"), valueAt(v, "running"), valueAt(v, "terminated")];
  if (isTree(waiting)) {
    const reason = text(waiting["reason"]);
    return {
      text: reason || "Waiting",
      level: reason === "" || startingReasons.has(reason) ? "warn" : "bad",
      title: text(waiting["message"]) || undefined,
    };
  }
  if (isTree(running)) {
    const startedAt = time(running["startedAt"]);
    return startedAt === ""
      ? { text: "Running", level: "good" }
      : { text: `Running ${startedAt}`, title: `since ${startedAt}`, level: "good", isRelative: true };
  }
  return isTree(terminated)
    ? { ...exitPiece(terminated), level: terminated["exitCode"] === 0 ? "quiet" : "bad" }
    : null;
}

const messageFact = (v: unknown): Fact | null =>
  fact("Message", text(valueAt(v, "waiting", "message")).trim(), text(valueAt(v, "terminated", "message")).trim());

function exitPiece(v: unknown): Piece {
  const code = scalar(valueAt(v, "exitCode"));
  const signal = number(valueAt(v, "signal")) ?? 0;
  const words = [
    text(valueAt(v, "reason")) || "Terminated",
    code === "" ? "" : `exit ${code}`,
    signal === 0 ? "" : `signal ${signal}`,
  ].filter((w) => w !== "");
  return { text: words.join(", "), title: text(valueAt(v, "message")) || undefined };
}

function lastExit(v: unknown): Fact | null {
  if (!isTree(v)) return null;
  const level: FactLevel = v["exitCode"] === 0 ? "quiet" : "bad";
  return fact("Last exit", { ...exitPiece(v), level }, since(time(v["finishedAt"])), text(v["message"]).trim());
}

function resources(name: string, v: unknown): Fact | null {
  const all = members(v);
  return fact(
    name,
    ...(all.length === 0 ? [absentPiece()] : all.map(([resource, value]) => amountPiece(resource, value, resource))),
  );
}

function port(p: unknown): string {
  const name = text(valueAt(p, "name"));
  const protocol = text(valueAt(p, "protocol"));
  return `${name === "" ? "" : `${name} `}${scalar(valueAt(p, "containerPort"))}${
    protocol === "" || protocol === "TCP" ? "" : `/${protocol}`
  }`;
}

function probe(name: string, v: unknown): Piece | null {
  if (!isTree(v)) return null;
  const seconds = number(v["periodSeconds"]);
  const numbers = ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"]
    .filter((k) => number(v[k]) !== null)
    .map((k) => `${k}: ${scalar(v[k])}`);
  return {
    text: `${name} ${handlerText(v)}${seconds === null ? "" : ` every ${seconds}s`}`,
    title: numbers.join("\n") || undefined,
  };
}
