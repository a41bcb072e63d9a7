// Loads the code of a tab when the tab is first opened.

import { hasMergedLogs, type Kind } from "../net/kinds.ts";
import type { Tab, TabHost, TabId } from "./tab.ts";

/** The class of a tab. Create a tab only when it is selected, because its constructor registers listeners. */
type TabClass = new (host: TabHost) => Tab;

const loaders: Readonly<Record<TabId, (kind: Kind) => Promise<TabClass>>> = {
  overview: async () => (await import("./overview/overview-tab.tsx")).OverviewTab,
  yaml: async () => (await import("./yaml/yaml-tab.ts")).YamlTab,
  changes: async () => (await import("./changes/changes-tab.tsx")).ChangesTab,
  events: async () => (await import("./events/events-tab.tsx")).EventsTab,
  related: async () => (await import("./related/related-tab.tsx")).RelatedTab,
  logs: async (kind) =>
    hasMergedLogs(kind.ref)
      ? (await import("./logs/merged-tab.ts")).MergedLogsTab
      : (await import("./logs/logs-tab.ts")).LogsTab,
};

/** Loads the class of a tab for objects of a resource. */
export const loadTab = (id: TabId, kind: Kind): Promise<TabClass> => loaders[id](kind);
