// Invariant: I33.

import assert from "node:assert/strict";
import { test } from "node:test";
import { page, type Part } from "../fake-page.ts";
import { browser, connect, element, openPage } from "../fake-app.ts";
import { PageServices } from "../../static/src/page-services.ts";
import { itemsOf } from "../../static/src/object/object-menu.ts";
import { startObject } from "../../static/src/object/start-object.ts";

const pod = { page: "object", ref: "core/v1/pods", kind: "Pod", resource: "pods", namespaced: "" };

function start(search = "", shared = "", name = { ns: "shop", name: "web-1" }, kind = pod) {
  const section = openPage(`/o/${kind.ref}/${name.ns}/${name.name}${search}`, { ...kind, ...name });
  if (shared !== "") page.documentElement.dataset["shared"] = shared;
  const services = new PageServices("one");
  const controller = startObject(section, services);
  services.page = controller;
  return {
    controller,
    services,
    selectedTab: () => element("object").find("aria-selected", "true")?.dataset["tab"],
    press: (key: string) =>
      controller
        .commands()
        .find((c) => c.keys.includes(key))
        ?.run(key),
    runEscape: () =>
      controller
        .commands()
        .find((c) => c.keys.includes("Escape"))
        ?.run("Escape"),
  };
}

void test("the page shows the tab of its URL, and each opened tab is a history entry", () => {
  const p = start("?tab=yaml");
  assert.equal(page.title, "shop/web-1 - Pods - Glasshouse");
  assert.equal(p.selectedTab(), "yaml");
  element("tab-changes").fire("click");
  assert.deepEqual([p.selectedTab(), browser.history], ["changes", ["push /o/core/v1/pods/shop/web-1?tab=changes"]]);
  assert.deepEqual(p.controller.content(), {
    kind: { ref: "core/v1/pods", kind: "Pod", resource: "pods", namespaced: true },
    view: null,
    object: { ns: "shop", name: "web-1" },
    tab: "changes",
  });
});

void test("the copy button is next to the name, and the menu of actions next to the breadcrumbs", async () => {
  start();
  for (let microtask = 0; microtask < 20; microtask++) await Promise.resolve();
  const after = (e: Part): Part | null => e.parentElement?.children[e.parentElement.children.indexOf(e) + 1] ?? null;
  assert.equal(after(element("heading"))?.getAttribute("aria-label"), "Copy name");
  const asof = element("asof");
  const before = asof.parentElement?.children[asof.parentElement.children.indexOf(asof) - 1];
  assert.deepEqual([before?.getAttribute("aria-label"), before?.textContent], ["Actions", "⋯"]);
});

void test("guests cannot compare the object", () => {
  const kind = { ref: "core/v1/pods", kind: "Pod", resource: "pods", namespaced: true };
  const labels = (): string[] => itemsOf({ kind, name: { ns: "a", name: "web" } }, () => null).map((i) => i.label);
  start();
  assert.equal(labels().at(-1), "Compare with…");
  start("", JSON.stringify([{ resource: "core/v1/pods" }]));
  assert.deepEqual(labels(), ["Copy name", "Copy kubectl command", "Copy YAML", "Download YAML"]);
});

void test("a tab that the viewer does not have is removed from the URL", () => {
  const guest = JSON.stringify([{ resource: "core/v1/pods" }]);
  assert.equal(start("?tab=related&kiosk=1", guest).selectedTab(), "overview");
  assert.deepEqual(browser.history, ["replace /o/core/v1/pods/shop/web-1?kiosk=1"]);
  assert.equal(start("?tab=related").selectedTab(), "related");
  assert.deepEqual(browser.history, []);
});

void test("back and forward show the tab and the log of the URL", () => {
  const p = start();
  assert.equal(p.selectedTab(), "overview");
  browser.url = new URL("/o/core/v1/pods/shop/web-1?tab=logs&container=proxy", browser.url);
  browser.fire("popstate");
  assert.equal(p.selectedTab(), "logs");
  element("tab-overview").fire("click");
  element("tab-logs").fire("click");
  assert.equal(browser.history.at(-1), "push /o/core/v1/pods/shop/web-1?tab=logs&container=proxy");
});

void test("the search text of a tab is in the URL, but adds no history entry", () => {
  const p = start("?tab=changes&find=is:spec");
  assert.equal(p.selectedTab(), "changes");
  const before = browser.history.length;
  element("tab-yaml").fire("click");
  assert.equal(
    browser.history.at(-1),
    "push /o/core/v1/pods/shop/web-1?tab=yaml",
    "the search text of one tab is not in the URL of another tab",
  );
  element("tab-changes").fire("click");
  assert.equal(browser.history.at(-1), "push /o/core/v1/pods/shop/web-1?tab=changes&find=is%3Aspec");
  assert.equal(browser.history.length, before + 2);
});

void test("one key opens the log of the previous container instance, and switches back", () => {
  const p = start();
  p.press("P");
  assert.equal(browser.history.at(-1), "push /o/core/v1/pods/shop/web-1?tab=logs&previous=true");
  p.press("P");
  assert.equal(browser.history.at(-1), "push /o/core/v1/pods/shop/web-1?tab=logs");
});

void test("the logs shortcut opens the log or shows why there is none", () => {
  const kindOf = (ref: string, kind: string): typeof pod => ({ ...pod, ref, kind, resource: ref.split("/")[2] ?? "" });
  const toast = (): string => page.querySelector("#toast")?.textContent ?? "";
  const deployment = start("", "", undefined, kindOf("apps/v1/deployments", "Deployment"));
  deployment.press("l");
  assert.equal(browser.history.at(-1), "push /o/apps/v1/deployments/shop/web-1?tab=logs");
  start("", "", undefined, kindOf("core/v1/configmaps", "ConfigMap")).press("l");
  assert.equal(toast(), "ConfigMaps have no logs.");
  start("", JSON.stringify([{ resource: "core/v1/pods" }])).press("l");
  assert.equal(toast(), "The share link does not include logs.");
});

void test("Escape opens the list of the object's namespace", () => {
  start().runEscape();
  assert.deepEqual(browser.loads, ["/r/core/v1/pods?ns=shop"]);
  start("", "", { ns: "", name: "node-1" }).runEscape();
  assert.deepEqual(browser.loads, ["/r/core/v1/pods"]);
});

void test("a guest with access to only one object has no command that opens the list", () => {
  const part = { resource: "core/v1/pods", namespaces: ["shop"] };
  start("", JSON.stringify([{ ...part, name: "web-1" }])).runEscape();
  assert.deepEqual(browser.loads, []);
  start("", JSON.stringify([part])).runEscape();
  assert.deepEqual(browser.loads, ["/r/core/v1/pods?ns=shop"]);
});

void test("the time of the server-rendered HTML is hidden once the page is connected", () => {
  const p = start();
  assert.equal(element("asof").hidden, false);
  connect(p.services);
  assert.equal(element("asof").hidden, true);
});

void test("in kiosk mode, the page is reloaded after the server rejects the object", () => {
  const p = start();
  const send = connect(p.services);
  assert.equal(p.controller.retryable?.isRefused, false);
  send("core/v1/pods", { type: "error", problem: { title: "Too many requests", status: 403, detail: "" } });
  assert.equal(p.controller.retryable?.isRefused, true);
  p.controller.retryable?.retry();
  assert.deepEqual(browser.loads, ["reload"]);
});
