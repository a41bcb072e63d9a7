// The large numbers of objects by severity, above a list in kiosk mode. The home page shows the same totals.

import "../shared-code.ts";
import { clusterName } from "../net/base-path.ts";
import { byId, h } from "../ui/dom.ts";
import { Totals } from "../ui/totals.tsx";
import { mount, ViewState } from "../ui/view.tsx";
import type { ListPage } from "./list.ts";

export function showTotals(list: ListPage, now: () => number): void {
  const root = h("div");
  const state = new ViewState(now);
  let { eventCount } = list;
  let changedAt: number | null = null;
  const draw = (): void => {
    // Another view of the page counts from 0 again.
    if (list.eventCount > eventCount) changedAt = now();
    ({ eventCount } = list);
    mount(root, <Totals count={(s) => list.countSeverity(s)} cluster={clusterName()} changedAt={changedAt} />, state);
  };
  byId("progress").before(root);
  draw();
  setInterval(draw, 1000);
}
