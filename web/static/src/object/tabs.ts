// Defines the tabs of the panel. load-tab.ts loads their code, because lists need only their labels and shortcut keys.

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

/**
 * Removes the parameter `tab` from the URL if the panel has no such tab for this resource and viewer. For example, a
 * guest can open a URL with a tab that guests do not have.
 */
export function removeUnknownTab(kind: Kind): void {
  const url = new URL(location.href);
  const tab = url.searchParams.get("tab");
  if (tab === null || tabsFor(kind).some((t) => t.id === tab)) return;
  url.searchParams.delete("tab");
  history.replaceState(history.state, "", url.pathname + url.search + url.hash);
}
