import { images } from "./container.ts";
import {
  fact,
  firstPieces,
  link,
  absentPiece,
  piece,
  section,
  type Fact,
  type Piece,
  type Section,
  type FactLevel,
} from "./fact.ts";
import { podTemplate } from "./pod.ts";
import { amount } from "./quantity.ts";
import { valueAt, isScalar, isTree, members, number, scalar, text, trees } from "./read.ts";

export function deployment(o: unknown): (Section | null)[] {
  const spec = valueAt(o, "spec");
  const rollingUpdate = valueAt(spec, "strategy", "rollingUpdate");
  return [
    section("", [
      valueAt(spec, "paused") === true
        ? fact("Paused", { text: "changes of the pod template are not rolled out", level: "warn" })
        : null,
      fact(
        "Strategy",
        text(valueAt(spec, "strategy", "type")),
        settingPiece(rollingUpdate, "maxSurge", "max surge"),
        settingPiece(rollingUpdate, "maxUnavailable", "max unavailable"),
      ),
      fact("Selector", ...selectorPieces(valueAt(spec, "selector"))),
      templateImages(o),
      fact("Revision", text(valueAt(o, "metadata", "annotations", "deployment.kubernetes.io/revision"))),
    ]),
    templateOf(o),
  ];
}

export function statefulSet(o: unknown): (Section | null)[] {
  const [spec, status] = [valueAt(o, "spec"), valueAt(o, "status")];
  const ns = text(valueAt(o, "metadata", "namespace"));
  const [current, update] = [text(valueAt(status, "currentRevision")), text(valueAt(status, "updateRevision"))];
  return [
    section("", [
      fact(
        "Strategy",
        text(valueAt(spec, "updateStrategy", "type")),
        settingPiece(valueAt(spec, "updateStrategy", "rollingUpdate"), "partition", "partition"),
        text(valueAt(spec, "podManagementPolicy")),
      ),
      fact(
        "Revision",
        current,
        current === update ? null : piece(update === "" ? "" : `to ${update}`, { level: "warn" }),
      ),
      fact("Service", link("v1", "Service", ns, text(valueAt(spec, "serviceName")))),
      fact("Selector", ...selectorPieces(valueAt(spec, "selector"))),
      templateImages(o),
      fact(
        "Volume claim templates",
        ...trees(valueAt(spec, "volumeClaimTemplates")).map((c) =>
          `${text(valueAt(c, "metadata", "name"))} ${amount(
            "storage",
            valueAt(c, "spec", "resources", "requests", "storage"),
          )}`.trim(),
        ),
      ),
    ]),
    templateOf(o),
  ];
}

export function daemonSet(o: unknown): (Section | null)[] {
  const [spec, status] = [valueAt(o, "spec"), valueAt(o, "status")];
  const misscheduled = number(valueAt(status, "numberMisscheduled")) ?? 0;
  const rollingUpdate = valueAt(spec, "updateStrategy", "rollingUpdate");
  return [
    section("", [
      misscheduled > 0
        ? fact("Misscheduled", { text: `on ${misscheduled} ${misscheduled === 1 ? "node" : "nodes"}`, level: "warn" })
        : null,
      fact(
        "Strategy",
        text(valueAt(spec, "updateStrategy", "type")),
        settingPiece(rollingUpdate, "maxSurge", "max surge"),
        settingPiece(rollingUpdate, "maxUnavailable", "max unavailable"),
      ),
      fact("Selector", ...selectorPieces(valueAt(spec, "selector"))),
      templateImages(o),
    ]),
    templateOf(o),
  ];
}

/** Returns the facts of a ReplicaSet or a ReplicationController, whose selector is only a map of labels. */
export function replicaSet(o: unknown): (Section | null)[] {
  return [
    section("", [
      fact("Selector", ...selectorPieces(valueAt(o, "spec", "selector"))),
      templateImages(o),
      fact("Revision", text(valueAt(o, "metadata", "annotations", "deployment.kubernetes.io/revision"))),
    ]),
    templateOf(o),
  ];
}

/**
 * Formats a label selector as kubectl does. An empty selector has no pieces, because it can select everything or
 * nothing.
 */
export function selectorPieces(v: unknown): (Piece | null)[] {
  if (!isTree(v)) return [];
  if (!("matchLabels" in v) && !("matchExpressions" in v))
    return firstPieces(
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

const templateOf = (o: unknown): Section | null =>
  podTemplate(valueAt(o, "spec", "template", "spec"), text(valueAt(o, "metadata", "namespace")));

const templateImages = (o: unknown): Fact | null => images(valueAt(o, "spec", "template", "spec"));

/** Returns a fact such as "2 of 3", with a bar if both counts are known. */
export function shareFact(name: string, actual: number | null, desired: number | null): Fact {
  if (actual === null) return { key: name, name, pieces: [absentPiece("unknown")] };
  if (desired === null) return { key: name, name, pieces: [{ text: String(actual) }] };
  const level: FactLevel = actual === desired ? "good" : "warn";
  return {
    key: name,
    name,
    pieces: [{ text: `${actual} of ${desired}`, level: desired === 0 && actual === 0 ? "quiet" : level }],
    ...(desired > 0 ? { bar: { actual, desired } } : {}),
  };
}

const settingPiece = (v: unknown, member: string, words: string): Piece | null =>
  isScalar(valueAt(v, member)) ? piece(`${words} ${scalar(valueAt(v, member))}`) : null;
