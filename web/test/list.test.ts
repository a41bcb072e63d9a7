import assert from "node:assert/strict";
import { test } from "node:test";
import "./page.ts";
import { ListPage } from "../static/src/list.ts";
import { Live } from "../static/src/live.ts";
import { Rate } from "../static/src/rate.ts";
import { plain } from "../static/src/view.ts";
import { Browser } from "./browser.ts";

void test("the rate is that of what is listed now, not of what was before", () => {
  const before = new Rate();
  for (const total of [0, 10, 20]) before.tick(total);
  const page = Object.assign(Object.create(ListPage.prototype) as unknown as { subscribe(): unknown }, {
    live: new Live("ws://x", new Browser(), () => undefined),
    view: plain("core/v1/nodes"),
    spaces: null,
    limit: Infinity,
    picker: { countOf: () => 0 },
    activity: { follow: () => undefined },
    rate: before,
  });
  assert.equal(page.rate.words, "6.7/s");
  page.subscribe();
  assert.equal(page.rate.words, "0/s");
});
