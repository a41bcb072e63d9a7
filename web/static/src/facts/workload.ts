// Facts of workloads: Deployments and similar kinds.

import { images } from "./container.ts";
import { fact, few, link, none, piece, section, type Fact, type Piece, type Section, type Tone } from "./fact.ts";
import { amount } from "./quantity.ts";
import { at, isScalar, isTree, members, number, scalar, text, trees } from "./read.ts";

export function deployment(o: unknown): (Section | null)[] {
  const spec = at(o, "spec");
  const rolling = at(spec, "strategy", "rollingUpdate");
  return [
    section("", [
      ...replicas(o, [
        ["Ready", "readyReplicas"],
        ["Updated", "updatedReplicas"],
        ["Available", "availableReplicas"],
      ]),
      at(spec, "paused") === true ? fact("Paused", { text: "changes are not rolled out", tone: "warn" }) : null,
      fact(
        "Strategy",
        text(at(spec, "strategy", "type")),
        said(rolling, "maxSurge", "max surge"),
        said(rolling, "maxUnavailable", "max unavailable"),
      ),
      fact("Selector", ...selector(at(spec, "selector"))),
      template(o),
      fact("Revision", text(at(o, "metadata", "annotations", "deployment.kubernetes.io/revision"))),
    ]),
  ];
}

export function statefulSet(o: unknown): (Section | null)[] {
  const [spec, status] = [at(o, "spec"), at(o, "status")];
  const ns = text(at(o, "metadata", "namespace"));
  const [current, update] = [text(at(status, "currentRevision")), text(at(status, "updateRevision"))];
  return [
    section("", [
      ...replicas(o, [
        ["Ready", "readyReplicas"],
        ["Updated", "updatedReplicas"],
        ["Available", "availableReplicas"],
      ]),
      fact(
        "Strategy",
        text(at(spec, "updateStrategy", "type")),
        said(at(spec, "updateStrategy", "rollingUpdate"), "partition", "partition"),
        text(at(spec, "podManagementPolicy")),
      ),
      fact(
        "Revision",
        current,
        current === update ? null : piece(update === "" ? "" : `to ${update}`, { tone: "warn" }),
      ),
      fact("Service", link("v1", "Service", ns, text(at(spec, "serviceName")))),
      fact("Selector", ...selector(at(spec, "selector"))),
      template(o),
      fact(
        "Claims",
        ...trees(at(spec, "volumeClaimTemplates")).map((c) =>
          `${text(at(c, "metadata", "name"))} ${
            amount("storage", at(c, "spec", "resources", "requests", "storage"))
          }`.trim(),
        ),
      ),
    ]),
  ];
}

export function daemonSet(o: unknown): (Section | null)[] {
  const [spec, status] = [at(o, "spec"), at(o, "status")];
  const want = number(at(status, "desiredNumberScheduled"));
  const wrong = number(at(status, "numberMisscheduled")) ?? 0;
  const rolling = at(spec, "updateStrategy", "rollingUpdate");
  const of = ([name, member]: readonly [string, string]): Fact => share(name, told(o, member), seen(o) ? want : null);
  return [
    section("", [
      ...([
        ["Scheduled", "currentNumberScheduled"],
        ["Ready", "numberReady"],
        ["Updated", "updatedNumberScheduled"],
        ["Available", "numberAvailable"],
      ] as const).map(of),
      wrong > 0 ? fact("Misscheduled", { text: `on ${wrong} ${wrong === 1 ? "node" : "nodes"}`, tone: "warn" }) : null,
      fact(
        "Strategy",
        text(at(spec, "updateStrategy", "type")),
        said(rolling, "maxSurge", "max surge"),
        said(rolling, "maxUnavailable", "max unavailable"),
      ),
      fact("Selector", ...selector(at(spec, "selector"))),
      fact("Node selector", ...selector(at(spec, "template", "spec", "nodeSelector"))),
      template(o),
    ]),
  ];
}

/** Facts of ReplicaSets, and of ReplicationControllers, whose selector is a plain map. */
export function replicaSet(o: unknown): (Section | null)[] {
  return [section("", [
    ...replicas(o, [["Current", "replicas"], ["Ready", "readyReplicas"], ["Available", "availableReplicas"]]),
    fact("Selector", ...selector(at(o, "spec", "selector"))),
    template(o),
    fact("Revision", text(at(o, "metadata", "annotations", "deployment.kubernetes.io/revision"))),
  ])];
}

/** Formats a label selector like kubectl. Whether an empty one selects all or nothing depends on the kind with it. */
export function selector(v: unknown): (Piece | null)[] {
  if (!isTree(v)) return [];
  if (!("matchLabels" in v) && !("matchExpressions" in v))
    return few(
      members(v)
        .filter(([, value]) => isScalar(value))
        .map(([k, value]) => `${k}=${scalar(value)}`),
    ).map((p) => (typeof p === "string" ? piece(p) : (p ?? null)));
  const expressions = trees(v["matchExpressions"]).map((e) => {
    const values =
      Array.isArray(e["values"]) && e["values"].length > 0 ? ` (${e["values"].map(scalar).join(", ")})` : "";
    return piece(`${text(e["key"])} ${text(e["operator"])}${values}`);
  });
  return [...members(v["matchLabels"]).map(([k, value]) => piece(`${k}=${scalar(value)}`)), ...expressions];
}

export const template = (o: unknown): Fact | null => images(at(o, "spec", "template", "spec"));

/** Whether the controller has written the status. Only then does a missing count mean 0; otherwise it is unknown. */
const seen = (o: unknown): boolean =>
  number(at(o, "status", "observedGeneration")) !== null || number(at(o, "status", "replicas")) !== null;

const told = (o: unknown, member: string): number | null =>
  number(at(o, "status", member)) ?? (seen(o) && at(o, "status", member) === undefined ? 0 : null);

function replicas(o: unknown, counts: readonly (readonly [string, string])[]): (Fact | null)[] {
  // The API server sets the default 1. If there is no value even so, as in an object that is not a workload, the
  // desired count is unknown.
  const want = number(at(o, "spec", "replicas"));
  return [
    fact("Desired", want === null ? none("unknown") : String(want)),
    ...counts.map(([name, member]) => share(name, told(o, member), want)),
  ];
}

/** Returns the fact "have of want". It has a bar only if both counts are known and want is not 0. */
export function share(name: string, have: number | null, want: number | null): Fact {
  if (have === null) return { key: name, name, pieces: [none("unknown")] };
  if (want === null) return { key: name, name, pieces: [{ text: String(have) }] };
  const tone: Tone = have === want ? "good" : "warn";
  return {
    key: name,
    name,
    pieces: [{ text: `${have} of ${want}`, tone: want === 0 && have === 0 ? "quiet" : tone }],
    ...(want > 0 ? { bar: { have, want } } : {}),
  };
}

const said = (v: unknown, member: string, words: string): Piece | null =>
  (isScalar(at(v, member)) ? piece(`${words} ${scalar(at(v, member))}`) : null);
