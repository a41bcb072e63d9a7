import assert from "node:assert/strict";
import { test } from "node:test";
import { clearPage, page, Part } from "../fake-page.ts";
import { Charts } from "../../static/src/list/charts.ts";
import type { Live } from "../../static/src/net/live.ts";
import { preferences } from "../../static/src/ui/preferences.ts";

const open = (): { charts: Charts; state: () => unknown[] } => {
  clearPage();
  const button = new Part("button");
  const root = new Part("div");
  button.setAttribute("id", "charts-button");
  root.setAttribute("id", "charts");
  root.hidden = true;
  page.body.append(button, root);
  const charts = new Charts({} as Live, () => 0);
  return { charts, state: () => [root.hidden, button.getAttribute("aria-expanded")] };
};

void test("charts are closed at first, and the browser remembers that they are open", () => {
  preferences.remove("glasshouse-charts");
  const first = open();
  assert.deepEqual(first.state(), [true, null]);
  first.charts.toggle();
  assert.deepEqual(first.state(), [false, "true"]);
  const second = open();
  assert.deepEqual(second.state(), [false, "true"]);
  second.charts.toggle();
  assert.deepEqual(second.state(), [true, "false"]);
  assert.deepEqual(open().state(), [true, null]);
});
