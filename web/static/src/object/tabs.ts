// The tabs of the panel. The code of each tab is loaded when the tab is first opened.

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
    load: async () => (await import("./overview/overview-tab.tsx")).OverviewTab,
  },
  {
    id: "yaml",
    label: "YAML",
    key: "y",
    appliesTo: always,
    load: async () => (await import("./yaml/yaml-tab.ts")).YamlTab,
  },
  {
    id: "changes",
    label: "Changes",
    key: "c",
    appliesTo: always,
    load: async () => (await import("./changes/changes-tab.tsx")).ChangesTab,
  },
  {
    id: "events",
    label: "Events",
    key: "e",
    appliesTo: (kind) => kind.resource !== "events" && isShared("core/v1/events"),
    load: async () => (await import("./events/events-tab.tsx")).EventsTab,
  },
  {
    id: "related",
    label: "Related",
    key: "r",
    appliesTo: () => sharedParts() === null,
    load: async () => (await import("./related/related-tab.tsx")).RelatedTab,
  },
  {
    id: "logs",
    label: "Logs",
    key: "l",
    appliesTo: (kind) => kind.ref === "core/v1/pods" && isShared("core/v1/pods/log"),
    load: async () => (await import("./logs/logs-tab.ts")).LogsTab,
  },
  {
    id: "logs",
    label: "Logs",
    key: "l",
    appliesTo: (kind) => hasMergedLogs(kind.ref) && isShared("core/v1/pods") && isShared("core/v1/pods/log"),
    load: async () => (await import("./logs/merged-tab.ts")).MergedLogsTab,
  },
];

export const tabsFor = (kind: Kind): readonly TabDefinition[] => tabs.filter((t) => t.appliesTo(kind));
