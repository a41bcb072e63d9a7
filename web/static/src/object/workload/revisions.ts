// The revisions of a workload's pod template, and the differences between them.

import { fieldsOf, type Field } from "../../model/fields.ts";
import { isTree, number, text, time, trees, valueAt } from "../facts/read.ts";
import type { JsonObject } from "../../net/wire.ts";
import { revisionOf, uidOf } from "./ownership.ts";

export interface Revision {
  readonly key: string;
  readonly number: number | null;
  readonly name: string; // name of the ReplicaSet or ControllerRevision
  readonly created: string;
  readonly cause: string; // value of the annotation kubernetes.io/change-cause
  /** The pod template, without the parts that a controller adds (see withoutGenerated). */
  readonly template: JsonObject;
  readonly images: readonly string[];
  /** Replicas of a ReplicaSet. null for a ControllerRevision. */
  readonly replicas: { readonly ready: number; readonly desired: number } | null;
  readonly isCurrent: boolean;
}

/** Returns the revisions, newest first. The parameter `sources` contains the ReplicaSets or ControllerRevisions. */
export function revisionsOf(workload: unknown, sources: readonly JsonObject[]): Revision[] {
  const all = sources.map((source): Revision => {
    const isSet = valueAt(source, "revision") === undefined;
    const template = isSet ? valueAt(source, "spec", "template") : valueAt(source, "data", "spec", "template");
    const desired = number(valueAt(source, "spec", "replicas"));
    return {
      key: uidOf(source),
      number: revisionOf(source),
      name: text(valueAt(source, "metadata", "name")),
      created: time(valueAt(source, "metadata", "creationTimestamp")),
      cause: text(valueAt(source, "metadata", "annotations", "kubernetes.io/change-cause")),
      template: withoutGenerated(template),
      images: [
        ...new Set(
          trees(valueAt(template, "spec", "containers"))
            .map((c) => text(c["image"]))
            .filter((image) => image !== ""),
        ),
      ],
      replicas:
        isSet && desired !== null ? { ready: number(valueAt(source, "status", "readyReplicas")) ?? 0, desired } : null,
      isCurrent: false,
    };
  });
  all.sort((a, b) => (b.number ?? 0) - (a.number ?? 0) || (a.created < b.created ? 1 : -1));
  const current = currentOf(workload, all);
  return all.map((r) => (r === current ? { ...r, isCurrent: true } : r));
}

// Returns the revision to which the workload is being updated.
function currentOf(workload: unknown, all: readonly Revision[]): Revision | undefined {
  const named = text(valueAt(workload, "status", "updateRevision")); // set only for a StatefulSet
  const own = revisionOf(workload); // set only for a Deployment
  if (named !== "") return all.find((r) => r.name === named);
  return own === null ? all[0] : all.find((r) => r.number === own);
}

// Removes parts that are not in the workload's own template: the hash label of a ReplicaSet, and the directive $patch
// of a ControllerRevision.
function withoutGenerated(template: unknown): JsonObject {
  if (!isTree(template)) return {};
  const { $patch: _, ...rest } = template;
  const labels = valueAt(template, "metadata", "labels");
  if (!isTree(labels)) return rest;
  const { "pod-template-hash": __, ...kept } = labels;
  return { ...rest, metadata: { ...(rest["metadata"] as JsonObject), labels: kept } };
}

/** The fields in which two revisions differ. */
export const differences = (before: Revision, after: Revision): Field[] =>
  fieldsOf(before.template, { patch: [{ op: "replace", path: "", value: after.template }] });

/** Returns a text such as "app 9.8.1 → 9.9.9, 2 more fields". Empty if nothing differs. */
export function changeSummary(before: Revision, after: Revision): string {
  const fields = differences(before, after).filter((f) => f.pathText !== ".");
  const images = fields.filter((f) => /containers\[.*\]\.image$/.test(f.pathText));
  const words = images.map((f) => {
    const container = /\[([^\]]*)\]\.image$/.exec(f.pathText)?.[1] ?? "";
    const [old, next] = [f.before, f.after].map((v) => (v.type === "value" ? imageTag(String(v.value)) : "none"));
    return `${container} ${old} → ${next}`;
  });
  const rest = fields.length - images.length;
  if (rest > 0) words.push(`${rest}${images.length > 0 ? " more" : ""} ${rest === 1 ? "field" : "fields"}`);
  return words.join(", ");
}

/** Returns the tag or the shortened digest of an image. */
function imageTag(image: string): string {
  const digest = /@[\w+.-]+:([0-9a-f]{8})/.exec(image)?.[1];
  const tag = /:([^/:@]+)(?:@|$)/.exec(image)?.[1];
  return tag ?? digest ?? image;
}

/** Returns the last part of an image's name, with its tag. */
export const shortImage = (image: string): string =>
  image.replace(/@([\w+.-]+:[0-9a-f]{8})[0-9a-f]*$/, "@$1").replace(/^.*\//, "");
