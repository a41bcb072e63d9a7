// Invariant: I33.

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { frame, page, type Part } from "../fake-page.ts";
import { browser, connect, element, openPage, snapshotOf } from "../fake-app.ts";
import { PageServices } from "../../static/src/page-services.ts";
import { isSelector } from "../../static/src/list/filter-help.ts";
import { startList } from "../../static/src/list/start-list.ts";
import { defaultView } from "../../static/src/model/view.ts";
import { storedList, storeList } from "../../static/src/ui/preferences.ts";

const pods = { page: "list", ref: "core/v1/pods", kind: "Pod", resource: "pods", namespaced: "" };
const services = { ref: "core/v1/services", kind: "Service", resource: "services", namespaced: true };
const nodes = { ref: "core/v1/nodes", kind: "Node", resource: "nodes", namespaced: false };

function start(address = "/r/core/v1/pods", isLive = true, guestParts = "") {
  const section = openPage(address, pods);
  if (guestParts !== "") page.documentElement.dataset["shared"] = guestParts;
  const shared = new PageServices("one");
  const controller = startList(section, shared);
  shared.page = controller;
  shared.picker.add(services);
  shared.picker.add(nodes);
  const send = connect(shared);
  if (isLive) for (const m of snapshotOf("web-1", "web-2")) send("core/v1/pods", m);
  frame();
  const list = controller.list;
  assert.ok(list !== null);
  return { controller, list, send };
}
type Attributes = Readonly<Record<string, string>>;
/** Clicks on text within a new element. Returns whether the page handled the click instead of the browser. */
function click(tag: string, attributes: Attributes, more: object = {}): boolean {
  const e = page.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  Object.assign(e, { pathname: "/r/core/v1/pods", search: "?q=is%3Afailing" });
  const text = page.createElement("span");
  e.append(text);
  page.body.append(e);
  return text.dispatch("click", { button: 0, ...more }).defaultPrevented;
}
const goBack = (address: string, state: unknown = null): void => {
  browser.url = new URL(address, browser.url);
  browser.state = state;
  browser.fire("popstate");
};

void test("a click on a resource shows its list, and keeps the namespaces of namespaced resources", () => {
  const { list } = start("/r/core/v1/pods?ns=shop&q=web");
  element("picker").open = true;
  assert.equal(click("a", { "data-ref": "core/v1/services" }), true);
  assert.deepEqual(browser.history, ["push /r/core/v1/services?ns=shop"]);
  assert.deepEqual([list.kind.kind, element("picker").open], ["Service", false]);
  click("a", { "data-ref": "core/v1/nodes" });
  assert.deepEqual(browser.history.slice(1), ["push /r/core/v1/nodes"]);
  assert.deepEqual(storedList("kinds"), ["core/v1/nodes", "core/v1/services", "core/v1/pods"]);
});

void test("a tab that guests do not have is removed from the URL of the list", () => {
  const { list } = start("/r/core/v1/pods?open=shop/web-1&tab=related", true, '[{"resource":"core/v1/pods"}]');
  assert.deepEqual([list.view.open?.name, list.view.tab], ["web-1", ""]);
  assert.deepEqual(browser.history, ["replace /r/core/v1/pods?open=shop%2Fweb-1"]);
  assert.equal(start("/r/core/v1/pods?open=shop/web-1&tab=logs").list.view.tab, "logs");
  const node = start("/r/core/v1/pods?open=core/v1/nodes/_/n1&tab=logs").list.view;
  assert.deepEqual(
    [node.open?.ref, node.tab],
    ["core/v1/nodes", ""],
    "an object of another resource keeps its resource and no tab",
  );
});

void test("the open activity feed is in the URL, stays on other lists, and follows the browser's history", () => {
  localStorage.removeItem("glasshouse-activity");
  const { list } = start("/r/core/v1/pods?q=web");
  const isOpen = (): string | null =>
    element("activity").querySelector("button")?.getAttribute("aria-expanded") ?? null;
  assert.equal(isOpen(), "false");
  list.activity.toggle();
  assert.deepEqual([browser.history, isOpen()], [["push /r/core/v1/pods?q=web&activity=list"], "true"]);
  click("a", { "data-ref": "core/v1/services" });
  assert.deepEqual([browser.history[1], isOpen()], ["push /r/core/v1/services?activity=list", "true"]);
  goBack("/r/core/v1/pods?q=web");
  assert.equal(isOpen(), "false");
  goBack("/r/core/v1/pods?activity=all image");
  assert.deepEqual([isOpen(), list.view.activity], ["true", "all image"]);
  list.activity.toggle();
  assert.deepEqual([browser.history[2], isOpen()], ["push /r/core/v1/pods", "false"]);
});

void test("a feed that the user left open opens again, and is added to the URL", () => {
  localStorage.setItem("glasshouse-activity", JSON.stringify({ open: true, all: true, height: 200 }));
  const { list } = start("/r/core/v1/pods");
  localStorage.removeItem("glasshouse-activity");
  assert.equal(list.activity.open, true);
  assert.deepEqual(browser.history, ["replace /r/core/v1/pods?activity=all"]);
});

void test("a feed that is opened before the rows arrive loads no page", () => {
  const { list, send } = start("/r/core/v1/pods", false);
  list.activity.toggle();
  localStorage.removeItem("glasshouse-activity");
  assert.deepEqual([browser.loads, browser.history, list.activity.open], [[], [], true]);
  for (const m of snapshotOf("web-1")) send("core/v1/pods", m);
  assert.deepEqual(browser.history, ["replace /r/core/v1/pods?activity=list"]);
});

void test("a click on the shown resource clears its filters, and keeps its columns", () => {
  storeList("columns.core/v1/pods", ["name"]);
  const { list } = start("/r/core/v1/pods?ns=shop&q=web");
  click("a", { "data-ref": "core/v1/pods" });
  assert.deepEqual([browser.history, list.view.cols], [["push /r/core/v1/pods"], []]);
  click("a", { "data-ref": "core/v1/services" });
  click("a", { "data-ref": "core/v1/pods" });
  storeList("columns.core/v1/pods", []);
  assert.deepEqual(list.view.cols, ["name"], "another resource is shown with its preferred columns");
});

void test("the page ignores clicks with a modifier key, with another button, and handled clicks", () => {
  start();
  for (const more of [{ ctrlKey: true }, { metaKey: true }, { shiftKey: true }, { altKey: true }, { button: 1 }])
    assert.equal(click("a", { "data-ref": "core/v1/services" }, more), false, JSON.stringify(more));
  click("a", { "data-ref": "core/v1/services" }, { defaultPrevented: true });
  assert.deepEqual(browser.history, []);
});

void test("before data arrives, links load pages", () => {
  start("/r/core/v1/pods", false);
  assert.equal(click("a", { "data-ref": "core/v1/services" }), false);
  assert.equal(click("a", { "data-address": "" }), false);
  assert.deepEqual([browser.history, browser.loads], [[], []]);
  click("button", { "data-sort": "name" });
  assert.deepEqual([browser.history, browser.loads], [[], ["/r/core/v1/pods?sort=name"]]);
});

void test("a resource that the page does not know is loaded as a page", () => {
  start();
  click("a", { "data-ref": "example.com/v1/widgets" });
  assert.deepEqual([browser.history, browser.loads], [[], ["/r/example.com/v1/widgets"]]);
});

void test("a link with a filter is shown without a page load, and a click on a header sorts", () => {
  start();
  assert.equal(click("a", { "data-address": "" }), true);
  assert.equal(click("button", { "data-sort": "name" }), true);
  assert.deepEqual(browser.history, [
    "push /r/core/v1/pods?q=is%3Afailing",
    "push /r/core/v1/pods?q=is%3Afailing&sort=name",
  ]);
});

void test("each link in the panel to an object keeps the list, and back returns to the first object", () => {
  const { list } = start("/r/core/v1/pods?sort=-name");
  list.openObject({ ns: "shop", name: "web-1" }, "related");
  const first = "/r/core/v1/pods?sort=-name&open=shop/web-1&tab=related";
  const follow = (search: string, into = element("panel")): void => {
    const link = page.createElement("a");
    link.setAttribute("data-address", "");
    Object.assign(link, { pathname: "/r/core/v1/nodes", search });
    into.append(link);
    link.dispatch("click", { button: 0 });
  };
  follow("?open=_/node-1&tab=related");
  const second = "/r/core/v1/pods?sort=-name&open=core/v1/nodes/_/node-1&tab=related";
  assert.deepEqual(browser.history, [`push ${first}`, `push ${second}`]);
  assert.deepEqual([list.kind.kind, list.openedKind.kind, list.listedObject], ["Pod", "Node", null]);
  list.step(1);
  assert.deepEqual(browser.history.length, 2, "the list has no next object");
  goBack(first);
  assert.deepEqual([list.openedKind.kind, list.listedObject?.name], ["Pod", "web-1"]);
  follow("?q=node");
  assert.equal(browser.history.at(-1), "push /r/core/v1/nodes?q=node", "a link to a list replaces the list");
  goBack(first);
  follow("?open=_/node-1", page.body);
  assert.equal(browser.history.at(-1), "push /r/core/v1/nodes?open=_/node-1", "a link outside the panel does too");
  list.close();
});

void test("a click on a row opens its object, unless the user selects text", () => {
  const { list } = start();
  const cell = element("tbody").querySelectorAll("tr[data-name]")[1]?.firstElementChild as Part;
  browser.selection = "web";
  assert.equal(cell.dispatch("click", { button: 0 }).defaultPrevented, false);
  browser.selection = "";
  assert.equal(cell.dispatch("click", { button: 0 }).defaultPrevented, true);
  assert.deepEqual(browser.history, ["push /r/core/v1/pods?open=shop/web-2"]);
  assert.equal(list.table.activeEntry?.name, "web-2");
  list.close();
});

void test("back and forward show the view of the URL, at its scroll position", () => {
  const { list } = start();
  element("rows").clientHeight = 20;
  click("button", { "data-sort": "name" });
  goBack("/r/core/v1/pods?q=web", { place: 1 });
  frame();
  assert.deepEqual([list.view.q, list.view.sort, element("rows").scrollTop], ["web", null, 20]);
  goBack("/r/core/v1/pods");
  frame();
  assert.deepEqual([list.view.q, element("rows").scrollTop], ["", 0]);
  assert.equal(browser.loads.length, 0);
  goBack("/r/example.com/v1/widgets");
  assert.deepEqual(browser.loads, ["reload"], "a resource that the page does not know is loaded with a page load");
});

void test("before data arrives, another URL is loaded with a page load, but not another fragment", () => {
  start("/r/core/v1/pods?q=web", false);
  goBack("/r/core/v1/pods?q=web#main");
  assert.deepEqual(browser.loads, []);
  goBack("/r/core/v1/pods");
  assert.deepEqual(browser.loads, ["reload"]);
});

void test("the scroll position is saved before another view is shown", () => {
  start();
  element("rows").scrollTop = 20;
  click("button", { "data-sort": "name" });
  assert.deepEqual([browser.savedStates.at(-1), browser.state], [{ place: 1 }, null]);
});

void test("typing filters and replaces the history entry, other fields and the form add one", () => {
  const { list } = start();
  element("q").value = "web-1";
  element("q").fire("input");
  assert.deepEqual([browser.history, list.view.q], [["replace /r/core/v1/pods?q=web-1"], "web-1"]);
  element("labels").value = "app=web";
  element("labels").fire("change");
  element("ns").value = "shop";
  const submit = element("filters").dispatch("submit");
  assert.equal(submit.defaultPrevented, true);
  assert.deepEqual(browser.history.slice(1), [
    "push /r/core/v1/pods?q=web-1&labels=app=web",
    "push /r/core/v1/pods?ns=shop&q=web-1&labels=app=web",
  ]);
});

void test("labels are applied a moment after the last key, if they are complete", async () => {
  const { list } = start();
  const type = async (text: string): Promise<void> => {
    element("labels").value = text;
    element("labels").fire("input");
    for (let n = 0; n < 20; n++) await Promise.resolve();
  };
  await type("app");
  await type("app=we");
  assert.deepEqual(browser.history, []);
  mock.timers.tick(400);
  await type("app=we,tier in (a");
  mock.timers.tick(400);
  assert.equal(list.view.labels, "app=we", "the last complete selector stays");
  await type("app=we,tier in (a)");
  mock.timers.tick(400);
  assert.deepEqual(browser.history, [
    "replace /r/core/v1/pods?labels=app=we",
    "replace /r/core/v1/pods?labels=app=we,tier+in+%28a%29",
  ]);
});

void test("complete label selectors are recognized", () => {
  const complete = [
    "",
    "a",
    "!a",
    "a=",
    "a=b",
    "a == b",
    "a!=b,c",
    "x.io/a-b=c_d",
    "a in (b, c)",
    "a notin (b)",
    "a>1",
  ];
  for (const text of complete) assert.ok(isSelector(text), text);
  for (const text of ["=", "a,", "a in", "a in (", "a in (b", "ain (b)", "a=b c", "a=-", "a=b,=", "(a)", "!"])
    assert.ok(!isSelector(text), text);
});

void test("a filter that is not supported and hides all rows is explained", async () => {
  start();
  const note = async (q: string): Promise<string> => {
    element("q").value = q;
    element("q").fire("input");
    frame();
    for (let n = 0; n < 20; n++) await Promise.resolve();
    return element("note").textContent;
  };
  assert.match(await note('"web-1"'), /2 hidden\..*Quotes and wildcards have no special meaning.*Clear filters$/);
  assert.match(await note("ns:shop"), /“ns:shop”/);
  assert.equal(await note("zzz"), "No Pods match the filter 2 hidden. Clear filters", "a plain word has no hint");
});

void test("a label key that no object has is explained", async () => {
  const { send } = start("/r/core/v1/pods?labels=web-1", false);
  for (const m of snapshotOf()) send("core/v1/pods", m);
  frame();
  for (let n = 0; n < 20; n++) await Promise.resolve();
  assert.match(element("note").textContent, /^No Pods match .*To select by value, type the key, too: app=web-1\./);
});

void test("before data arrives, the browser submits the form", () => {
  start("/r/core/v1/pods", false);
  element("q").value = "web";
  element("q").fire("input");
  assert.equal(element("filters").dispatch("submit").defaultPrevented, false);
  assert.deepEqual([browser.history, browser.loads], [[], []]);
});

void test("a truncated cell gets its text as tooltip", () => {
  start();
  const [first, second] = element("tbody").querySelectorAll("tr[data-name]");
  const hover = (tr: Part | undefined, width: number): string | null | undefined => {
    const cell = tr?.firstElementChild;
    Object.assign(cell ?? {}, { scrollWidth: width, clientWidth: 100 });
    cell?.dispatch("mouseover");
    return cell?.getAttribute("title");
  };
  assert.deepEqual([hover(first, 101), hover(second, 100)], ["shop", null]);
});

void test("the palette opens objects of the list in the panel, and others in their list", () => {
  const { controller, list } = start();
  controller.open("core/v1/pods", { ns: "shop", name: "web-1" });
  assert.deepEqual(browser.history, ["push /r/core/v1/pods?open=shop/web-1"]);
  const content = controller.content();
  assert.deepEqual(content !== null && "object" in content && content.object, { ns: "shop", name: "web-1" });
  controller.open("core/v1/services", { ns: "shop", name: "web" });
  controller.open("core/v1/nodes", { ns: "", name: "node-1" });
  assert.deepEqual(browser.history.slice(1), [
    "push /r/core/v1/services?ns=shop&open=shop/web",
    "push /r/core/v1/nodes?open=_/node-1",
  ]);
  controller.go(defaultView("core/v1/pods"));
  assert.equal(list.kind.kind, "Pod");
});

void test("a lost connection updates the status of the list", () => {
  start();
  assert.equal(element("status").textContent.trim(), "Live");
  browser.socket.drop();
  assert.match(element("status").textContent, /^Connection lost at .*, reconnecting…/);
});

void test("the texts of the list are updated every second", () => {
  start("/r/core/v1/pods", false);
  assert.match(element("status").textContent, /^Connecting…/);
  const { now } = Date;
  Date.now = () => now() + 4000;
  try {
    mock.timers.tick(1000);
    assert.match(element("status").textContent, /^Not live/);
  } finally {
    Date.now = now;
  }
});
