// The tabs of the panel. Their code is separate (see load-tab.ts), because lists need only the labels and keys.

import { isShared, sharedParts } from "../model/guest.ts";
import { hasMergedLogs, type Kind } from "../net/kinds.ts";
import type { TabDefinition } from "./tab.ts";

const always = (): boolean => true;

/** All tabs in display order. The first one is the default. */
export const tabs: readonly TabDefinition[] = [
  {
    id: "overview",
    label: "Overview",
    key: "o",
    appliesTo: always,
  },
  {
    id: "yaml",
    label: "YAML",
    key: "y",
    appliesTo: always,
  },
  {
    id: "changes",
    label: "Changes",
    key: "c",
    appliesTo: always,
  },
  {
    id: "events",
    label: "Events",
    key: "e",
    appliesTo: (kind) => kind.resource !== "events" && isShared("core/v1/events"),
  },
  {
    id: "related",
    label: "Related",
    key: "r",
    appliesTo: () => sharedParts() === null,
  },
  {
    id: "logs",
    label: "Logs",
    key: "l",
    appliesTo: (kind) =>
      isShared("core/v1/pods/log") &&
      (kind.ref === "core/v1/pods" || (hasMergedLogs(kind.ref) && isShared("core/v1/pods"))),
  },
];

export const tabsFor = (kind: Kind): readonly TabDefinition[] => tabs.filter((t) => t.appliesTo(kind));
