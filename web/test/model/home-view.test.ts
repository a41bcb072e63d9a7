import assert from "node:assert/strict";
import { test } from "node:test";
import { formatHome, parseHome } from "../../static/src/model/home-view.ts";

void test("a home page has one URL for each view", () => {
  for (const [view, url] of [
    [{ ns: [], q: "" }, "/"],
    [{ ns: [], q: "is:failed web" }, "/?q=is:failed+web"],
    [{ ns: ["shop"], q: "x" }, "/ns/shop?q=x"],
    [{ ns: ["a", "b"], q: "" }, "/?ns=a&ns=b"],
  ] as const) {
    assert.equal(formatHome(view), url);
    const { pathname, search } = new URL(url, "http://glasshouse");
    assert.deepEqual(parseHome(pathname, search), view);
  }
});

void test("if the start page is limited to a namespace, an empty parameter selects all", () => {
  assert.equal(formatHome({ ns: [], q: "" }, true), "/?ns=");
  assert.deepEqual(parseHome("/", "?ns="), { ns: [], q: "" });
  assert.deepEqual(parseHome("/base/ns/a%2Fb/", "").ns, ["a/b"]);
});
