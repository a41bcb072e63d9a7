// The details of each container of a pod in the overview: its state, image and resources.

import { fact, item, none, piece, since, type Fact, type Item, type Piece, type Tone } from "./fact.ts";
import { amountPiece } from "./quantity.ts";
import { at, isTree, list, members, number, scalar, text, time, trees } from "./read.ts";

/** Returns all containers, init containers first. */
export function containers(pod: unknown): Item[] {
  return [
    ...of(pod, "initContainers", "initContainerStatuses", "init"),
    ...of(pod, "containers", "containerStatuses", ""),
    ...of(pod, "ephemeralContainers", "ephemeralContainerStatuses", "ephemeral"),
  ];
}

/** Returns the images of a pod template, with the container names as tooltips. */
export const images = (spec: unknown): Fact | null =>
  fact(
    "Images",
    ...[...trees(at(spec, "initContainers")), ...trees(at(spec, "containers"))].map((c) =>
      piece(text(c["image"]), { title: `container ${text(c["name"])}` }),
    ),
  );

function of(pod: unknown, where: string, statuses: string, role: string): Item[] {
  const told = trees(at(pod, "status", statuses));
  return trees(at(pod, "spec", where)).map((c) => {
    const name = text(c["name"]);
    const status = told.find((s) => s["name"] === name);
    const sidecar = role === "init" && c["restartPolicy"] === "Always";
    return item(
      name === "" ? "container" : name,
      [role === "" ? null : none(sidecar ? "sidecar" : role), ...head(status, role === "init" && !sidecar)],
      [
        fact("Image", piece(text(c["image"]), { title: text(at(status, "imageID")) || undefined })),
        why(at(status, "state")),
        lastExit(at(status, "lastState", "terminated")),
        resources("Requests", at(c, "resources", "requests")),
        resources("Limits", at(c, "resources", "limits")),
        fact("Ports", ...trees(c["ports"]).map(port)),
        fact("Probes", ...["startup", "readiness", "liveness"].map((p) => probe(p, c[`${p}Probe`]))),
      ],
    );
  });
}

// The state of a container. A pod that has not started has no status, which differs from zero restarts.
function head(status: unknown, ends: boolean): (Piece | null)[] {
  if (status === undefined) return [none("not started")];
  const ready = at(status, "ready");
  const restarts = number(at(status, "restartCount"));
  const finished = at(status, "state", "terminated", "exitCode") === 0;
  const readiness =
    ready === true ? piece("ready", { tone: "good" }) : ready === false ? piece("not ready", { tone: "bad" }) : null;
  return [
    state(at(status, "state")),
    finished || ends ? null : readiness,
    restarts === null || (ends && restarts === 0)
      ? null
      : piece(`${restarts} ${restarts === 1 ? "restart" : "restarts"}`, { tone: restarts > 0 ? "warn" : "quiet" }),
  ];
}

const starting = new Set(["ContainerCreating", "PodInitializing", "Pending"]);

function state(v: unknown): Piece | null {
  const [waiting, running, terminated] = [at(v, "waiting"), at(v, "running"), at(v, "terminated")];
  if (isTree(waiting)) {
    const reason = text(waiting["reason"]);
    return {
      text: reason || "Waiting",
      tone: reason === "" || starting.has(reason) ? "warn" : "bad",
      title: text(waiting["message"]) || undefined,
    };
  }
  if (isTree(running)) {
    const from = time(running["startedAt"]);
    return from === ""
      ? { text: "Running", tone: "good" }
      : { text: `Running ${from}`, title: `since ${from}`, tone: "good", passing: true };
  }
  return isTree(terminated) ? { ...exit(terminated), tone: terminated["exitCode"] === 0 ? "quiet" : "bad" } : null;
}

const why = (v: unknown): Fact | null =>
  fact("Message", text(at(v, "waiting", "message")).trim(), text(at(v, "terminated", "message")).trim());

function exit(v: unknown): Piece {
  const code = scalar(at(v, "exitCode"));
  const signal = number(at(v, "signal")) ?? 0;
  const words = [
    text(at(v, "reason")) || "Terminated",
    code === "" ? "" : `exit ${code}`,
    signal === 0 ? "" : `signal ${signal}`,
  ].filter((w) => w !== "");
  return { text: words.join(", "), title: text(at(v, "message")) || undefined };
}

function lastExit(v: unknown): Fact | null {
  if (!isTree(v)) return null;
  const tone: Tone = v["exitCode"] === 0 ? "quiet" : "bad";
  return fact("Last exit", { ...exit(v), tone }, since(time(v["finishedAt"])), text(v["message"]).trim());
}

function resources(name: string, v: unknown): Fact | null {
  const all = members(v);
  return fact(
    name,
    ...(all.length === 0 ? [none()] : all.map(([resource, value]) => amountPiece(resource, value, resource))),
  );
}

function port(p: unknown): string {
  const name = text(at(p, "name"));
  const protocol = text(at(p, "protocol"));
  return `${name === "" ? "" : `${name} `}${scalar(at(p, "containerPort"))}${
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
    text: `${name} ${how(v)}${seconds === null ? "" : ` every ${seconds}s`}`,
    title: numbers.join("\n") || undefined,
  };
}

function how(v: unknown): string {
  const [http, tcp, grpc, exec] = [at(v, "httpGet"), at(v, "tcpSocket"), at(v, "grpc"), at(v, "exec", "command")];
  if (isTree(http))
    return `GET ${http["scheme"] === "HTTPS" ? "https " : ""}:${scalar(http["port"])}${text(http["path"]) || "/"}`;
  if (isTree(tcp)) return `tcp :${scalar(tcp["port"])}`;
  if (isTree(grpc)) return `grpc :${scalar(grpc["port"])}`;
  return `exec ${list(exec).map(scalar).join(" ")}`.trim();
}
