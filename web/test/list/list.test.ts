import assert from "node:assert/strict";
import { test } from "node:test";
import "../fake-page.ts";
import { ListPage } from "../../static/src/list/list.ts";
import { Live } from "../../static/src/net/live.ts";
import { EventRate } from "../../static/src/list/event-rate.ts";
import { defaultView } from "../../static/src/model/view.ts";
import { Browser } from "../fake-browser.ts";

void test("the event rate restarts with another list", () => {
  const before = new EventRate();
  for (const total of [0, 10, 20]) before.tick(total);
  const page = Object.assign(Object.create(ListPage.prototype) as unknown as { subscribe(): unknown }, {
    live: new Live("ws://x", new Browser(), () => undefined),
    view: defaultView("core/v1/nodes"),
    namespaceFeed: null,
    limit: Infinity,
    picker: { countOf: () => 0 },
    activity: { showList: () => undefined },
    charts: { showList: () => undefined },
    eventRate: before,
  });
  assert.equal(page.eventRate.text, "6.7/s");
  page.subscribe();
  assert.equal(page.eventRate.text, "0/s");
});
