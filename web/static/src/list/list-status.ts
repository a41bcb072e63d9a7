// Draws the state of the list: the status, the counts, the banner, and the notes about missing rows.

import { unknownColumnsText } from "../model/column-set.ts";
import type { Feed } from "../model/feed.ts";
import { missingNamespacesText } from "../model/namespaces.ts";
import {
  bannerText,
  coverageText,
  isCounted,
  lastCurrentText,
  noteFor,
  offlineText,
  staleText,
  status,
  type Status,
} from "../model/status.ts";
import type { View } from "../model/view.ts";
import { plural, type Kind } from "../net/kinds.ts";
import type { Live } from "../net/live.ts";
import { formatInteger } from "../text/format.ts";
import { byId, setText } from "../ui/dom.ts";
import { drawNote, drawStatus, showText } from "../ui/status-view.ts";
import { warnExports } from "./exports.ts";
import { drawProgress } from "./progress.ts";

export interface ListState {
  readonly view: View;
  readonly kind: Kind;
  readonly feed: Feed;
  readonly namespaceFeed: Feed | null; // all namespaces of the cluster, to find selected ones that do not exist
  readonly visibleCount: number; // number of rows that match the text filter
  readonly showsServerRows: boolean; // whether the rows on the screen are those that the server rendered
}

/** Draws the state of the connection until the server has sent data. */
export function drawConnecting(
  { closeReason }: Live,
  isOffline: boolean,
  isReachable: boolean | null,
  now: number,
): void {
  drawStatus(byId("status"), {
    level: isOffline ? "warn" : "busy",
    text: isOffline ? "Not live" : "Connecting…",
    count: null,
    total: null,
  });
  showText(
    byId("banner"),
    isOffline ? offlineText(closeReason, isReachable, byId("asof").dataset["at"] ?? "", now) : null,
  );
}

export function drawListStatus(list: ListState, now: number, retry: () => void): Status {
  const { view, kind, feed, visibleCount, showsServerRows } = list;
  const info = feed.info();
  const { isComplete: complete, total } = feed.rows;
  const current = status(info, now);
  drawStatus(byId("status"), current);
  warnExports(byId("export"), staleText(info, now));
  drawProgress(byId("progress"), current, plural(kind));
  if (complete && isCounted(info))
    setText(
      byId("count"),
      view.q === "" || total === 0 ? formatInteger(total) : `${formatInteger(visibleCount)} of ${formatInteger(total)}`,
    );
  else if (complete || !showsServerRows) setText(byId("count"), "");
  if (complete || !showsServerRows) byId("asof").hidden = true;
  const empty = complete ? visibleCount === 0 && feed.rows.matching === 0 : !showsServerRows;
  const noteElement = byId("note");
  noteElement.hidden = !empty;
  byId("rows").hidden = empty;
  const note = noteFor(info, plural(kind), total, isFiltered(view), now, view.ns.length > 0, kind.namespaced);
  if (empty) drawNote(noteElement, note, view.ref, plural(kind), retry);
  if (empty && note.act === "docs")
    void import("./kind-docs.ts").then((m) => m.showDocsLink(noteElement, view.ref, plural(kind)));
  if (empty && complete && note.act === "show-all")
    void import("./filter-help.ts").then((m) => m.showHint(noteElement, view, total > 0));
  // While the page shows the server-rendered rows, keep the notes about them, which are also server-rendered.
  if (complete || !showsServerRows) showText(byId("coverage-note"), empty ? null : asideText(list, now));
  // The note in an empty list also reports outdated data, so the list needs no banner. But if the text filter hides all
  // rows, the note does not report outdated data, so show the banner.
  const isStale = complete && total > 0 && staleText(info, now) !== null;
  const banner = empty && !isStale ? null : bannerText(info, now);
  showText(byId("banner"), banner);
  byId("rows").toggleAttribute("data-stale", complete && current.level !== "live" && current.level !== "busy");
  return current;
}

/** Whether the list contains only objects with the selected namespaces or labels. */
const isFiltered = ({ ns, labels }: View): boolean => ns.length > 0 || labels !== "";

// Returns notes above the rows: unknown columns in the URL, and selected namespaces that the rows do not include
// because they do not exist or the server cannot list them.
function asideText({ view, kind, feed, namespaceFeed }: ListState, now: number): string | null {
  const { ns, sort, cols } = view;
  const missing =
    namespaceFeed === null
      ? null
      : missingNamespacesText(ns, namespaceFeed.rows, lastCurrentText(namespaceFeed.info(), now));
  const words = [
    unknownColumnsText(feed.rows.columns, kind.namespaced, sort, cols),
    missing,
    coverageText(feed.info()),
  ].filter((w) => w !== null);
  return words.length === 0 ? null : words.join(" ");
}

/** Returns a text for screen readers: how many rows match the text filter. */
export function matchCountText({ view, kind, feed }: ListState): string {
  const { isComplete: complete, matching, total } = feed.rows;
  return complete && view.q !== "" ? `${formatInteger(matching)} of ${formatInteger(total)} ${plural(kind)}` : "";
}
