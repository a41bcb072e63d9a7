import assert from "node:assert/strict";
import { test } from "node:test";
import {
  formatView,
  objectHref,
  pageHref,
  parseView,
  sameObject,
  titleOf,
  logHref,
  findIn,
} from "../../static/src/model/view.ts";

const same: string[] = [
  "/r/core/v1/pods",
  "/r/core/v1/pods?ns=a&ns=b&q=web+1&labels=app=web,tier!=db&sort=-age&cols=wide&open=a/web-1&tab=yaml",
  "/r/core/v1/pods?cols=status&cols=ip+address",
  "/r/core/v1/pods?open=a/web-1&tab=logs",
  "/r/core/v1/pods?open=a/web-1&tab=logs&container=side&previous=true",
  "/r/core/v1/pods?open=a/web-1&tab=logs&find=two&filter=is%3Aerror+time+out",
  "/r/core/v1/pods?open=a/web-1&tab=changes&find=is%3Aspec+image",
  "/r/core/v1/pods?open=apps/v1/deployments/a/web&tab=related",
  "/r/core/v1/pods?q=web&open=core/v1/nodes/_/node-1",
  "/r/core/v1/pods?open=a/web-1&tab=yaml&activity=all",
  "/r/core/v1/pods?activity=list+image+anna",
  "/r/rbac.authorization.k8s.io/v1/clusterroles?open=_/system:node",
  "/r/core/v1/events?sort=last+seen",
  "/r/core/v1/events?ns=a&sort=-last+seen",
  "/r/core/v1/events?sort=namespace",
];
for (const href of same) {
  void test(`the view parsed from ${href} is formatted as the same URL`, () => {
    const url = new URL(href, "http://x");
    const view = parseView(url.pathname, url.search, "");
    const back = new URL(formatView(view), "http://x");
    assert.deepEqual(parseView(back.pathname, back.search, ""), view);
    assert.equal(decodeURIComponent(back.search), decodeURIComponent(url.search));
  });
}

void test("a log is in the URL only with its tab", () => {
  const view = parseView("/r/core/v1/pods", "?open=a/web-1&tab=logs&container=side&previous=true", "");
  assert.deepEqual(view.open, { ns: "a", name: "web-1", log: { container: "side", previous: true } });
  assert.equal(formatView({ ...view, tab: "yaml" }), "/r/core/v1/pods?open=a/web-1&tab=yaml");
  assert.deepEqual(parseView("/r/core/v1/pods", "?open=a/web-1&tab=yaml&container=side", "").open, {
    ns: "a",
    name: "web-1",
  });
  assert.equal(
    formatView({ ...view, open: { ns: "a", name: "web-2" } }),
    "/r/core/v1/pods?open=a/web-2&tab=logs",
    "another object has other logs",
  );
});

void test("the URL of a list can open an object of another resource", () => {
  const view = parseView("/r/core/v1/pods", "?open=core/v1/nodes/_/node-1", "");
  assert.deepEqual(view.open, { ref: "core/v1/nodes", ns: "", name: "node-1" });
  assert.deepEqual(parseView("/r/core/v1/pods", "?open=core/v1/pods/a/b", "").open, { ns: "a", name: "b" });
  for (const invalid of ["a", "a/", "/a", "a/b/c", "core/v1/a/b", "a/b/c/d/e/f"])
    assert.equal(parseView("/r/core/v1/pods", `?open=${invalid}`, "").open, null, invalid);
  assert.equal(pageHref(view), "/o/core/v1/nodes/_/node-1");
  assert.equal(sameObject(view.open, { ns: "", name: "node-1" }), false);
});

void test("the URL of a form without script is parsed", () => {
  const view = parseView("/r/core/v1/pods", "?q=&ns=b%2Ca&labels=&sort=", "");
  assert.deepEqual([view.ns, view.q, view.sort], [["a", "b"], "", null]);
});

void test("the newest events are first, unless the user chooses another order", () => {
  for (const ref of ["core/v1/events", "events.k8s.io/v1/events"]) {
    const view = parseView(`/r/${ref}`, "", "");
    assert.deepEqual(view.sort, { column: "last seen", descending: false });
    assert.equal(formatView({ ...view, sort: null }), `/r/${ref}?sort=namespace`);
  }
  assert.equal(parseView("/r/example.com/v1/events", "", "").sort, null);
});

void test("the root URL shows the kind that the server chose", () =>
  assert.equal(parseView("/", "", "core/v1/pods").ref, "core/v1/pods"));

void test("names are escaped in paths", () =>
  assert.equal(objectHref("a/b/c", { ns: "", name: "x?/y" }), "/o/a/b/c/_/x%3F%2Fy"));

void test("the page title names the open object", () => {
  assert.equal(titleOf("Pods", { ns: "shop", name: "web-1" }), "shop/web-1 - Pods - Glasshouse");
  assert.equal(titleOf("Nodes", { ns: "", name: "node-1" }), "node-1 - Nodes - Glasshouse");
  assert.equal(titleOf("Pods", null), "Pods - Glasshouse");
  assert.equal(titleOf("Pods", { ns: "shop", name: "web-1" }, 1234), "(1,234) shop/web-1 - Pods - Glasshouse");
  assert.equal(titleOf("Pods", { ns: "", name: "a\u202eb" }), "a[U+202E]b - Pods - Glasshouse");
});

void test("a link to a log names the pod, the container and the run", () => {
  const address = logHref("core/v1/pods", { ns: "a", name: "web-1" }, { container: "side", previous: true });
  assert.equal(address, "/r/core/v1/pods?ns=a&open=a/web-1&tab=logs&container=side&previous=true");
});

void test("the search text belongs to one tab, and other tabs do not show it", () => {
  const view = parseView("/r/core/v1/pods", "?open=a/web-1&tab=yaml&find=image", "");
  assert.deepEqual(view.open, { ns: "a", name: "web-1", find: { tab: "yaml", text: "image" } });
  assert.equal(findIn(view.open?.find, "yaml"), "image");
  assert.equal(findIn(view.open?.find, "changes"), "");
  assert.equal(formatView({ ...view, tab: "changes" }), "/r/core/v1/pods?open=a/web-1&tab=changes");
});
