// The newest change of each object's specification: reads the server's response, and formats cells and tooltips.

import { clockTime } from "../text/age.ts";
import { text, time, trees, valueAt } from "../object/facts/read.ts";
import { lastChangeName } from "../model/column-set.ts";
import { keyOf } from "../model/row-source.ts";
import type { Column } from "../net/wire.ts";

export interface SpecChange {
  readonly at: string; // RFC 3339
  readonly by: string; // the field manager
  readonly isCreation: boolean; // whether this is the creation of the object
}

/** The column, which the page adds after the columns of the server. Like -o wide columns, it is shown if it fits. */
export const lastChangeColumn: Column = {
  name: lastChangeName,
  type: "string",
  format: "",
  priority: 1,
  relative: true,
};

// Resources whose objects only controllers change, such as pods. Most of these resources have many objects.
const uneditedResources = new Set([
  "apiregistration.k8s.io/apiservices",
  "apps/controllerrevisions",
  "apps/replicasets",
  "batch/jobs",
  "coordination.k8s.io/leases",
  "core/componentstatuses",
  "core/endpoints",
  "core/events",
  "core/pods",
  "discovery.k8s.io/endpointslices",
  "events.k8s.io/events",
  "metrics.k8s.io/nodes",
  "metrics.k8s.io/pods",
  "resource.k8s.io/resourceslices",
  "storage.k8s.io/csinodes",
  "storage.k8s.io/csistoragecapacities",
  "storage.k8s.io/volumeattachments",
]);

/** Reports whether people or deployment tools change objects of a resource, such as "apps/v1/deployments". */
export function isEdited(ref: string): boolean {
  const [group, , resource] = ref.split("/");
  return !uneditedResources.has(`${group}/${resource}`);
}

/**
 * Reads a response of /api/v1/last-changes, by the key of the row. Invalid entries are left out. Returns null if the
 * response does not contain the changes of all objects.
 */
export function readChanges(response: unknown): Map<string, SpecChange> | null {
  if (valueAt(response, "truncated") === true) return null;
  const changes = new Map<string, SpecChange>();
  for (const item of trees(valueAt(response, "items"))) {
    const at = time(item["at"]);
    if (at !== "")
      changes.set(keyOf(text(item["ns"]), text(item["name"])), {
        at,
        by: text(item["by"]),
        isCreation: item["created"] === true,
      });
  }
  return changes;
}

const tolerance = 1000; // ms; times have no fractions of a second

/** Reports whether a change is not older than the object, which was created at a time. */
export const isSince = (change: SpecChange, created: string): boolean =>
  !(Date.parse(change.at) < Date.parse(created) - tolerance);

/** Reports whether a change at a time is the creation of an object, as the server determines it. */
export const isCreation = (at: string, created: string): boolean => Date.parse(at) <= Date.parse(created) + tolerance;

const maxManager = 32; // characters; the age after a longer name would not fit into the column

/** The text of a cell. The table shows the time as an age: "kubectl-edit, 12m". */
export function cellOf({ by, at }: SpecChange): string {
  return `${by.length > maxManager ? `${by.slice(0, maxManager - 1)}…` : by}, ${at}`;
}

export const tooltipOf = ({ by, at, isCreation }: SpecChange, now: number): string =>
  `${isCreation ? "Created" : "Last write"} by ${by}, ${clockTime(at, now)}`;
