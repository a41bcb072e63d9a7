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
  const draw = (): void => mount(root, <Totals count={(s) => list.countSeverity(s)} cluster={clusterName()} />, state);
  byId("progress").before(root);
  draw();
  setInterval(draw, 1000);
}
