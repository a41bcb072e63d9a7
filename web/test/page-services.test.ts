import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { page } from "./fake-page.ts";
import { browser, connect, element, openPage } from "./fake-app.ts";
import { defaultController, PageServices, type PageController } from "../static/src/page-services.ts";
import { defaultView } from "../static/src/model/view.ts";
import { storeList } from "../static/src/ui/preferences.ts";

const settled = async (): Promise<void> => {
  for (let microtask = 0; microtask < 20; microtask++) await Promise.resolve();
};

function start(address = "/r/core/v1/pods", more: Partial<PageController> = {}): PageServices {
  openPage(address);
  const services = new PageServices("one");
  services.page = { ...defaultController, ...more };
  return services;
}

void test("the WebSocket uses the cluster of the page, and ws or wss to match the page's protocol", () => {
  page.documentElement.dataset["cluster"] = "demo";
  try {
    connect(start());
    connect(start("https://glasshouse/r/core/v1/pods"));
    assert.equal(browser.socketUrls[0], "wss://glasshouse/api/v1/live?cluster=demo&parts=true");
    connect(start());
    assert.equal(browser.socketUrls[0], "ws://glasshouse/api/v1/live?cluster=demo&parts=true");
  } finally {
    page.documentElement.removeAttribute("data-cluster");
  }
});

void test("a lost connection grays out the resource list, and the page is refreshed at each change", () => {
  let refreshes = 0;
  connect(start("/", { refresh: () => refreshes++ }));
  assert.deepEqual([refreshes, element("picker-groups").hasAttribute("data-stale")], [1, false]);
  browser.socket.drop();
  assert.deepEqual([refreshes, element("picker-groups").hasAttribute("data-stale")], [2, true]);
});

void test("the page reconnects at once when the network is back or the tab becomes visible", () => {
  connect(start());
  browser.socket.drop();
  assert.equal(browser.sockets.length, 1);
  browser.fire("online");
  assert.equal(browser.sockets.length, 2);
  browser.socket.drop();
  page.hidden = true;
  page.fire("visibilitychange");
  assert.equal(browser.sockets.length, 2);
  page.hidden = false;
  page.fire("visibilitychange");
  assert.equal(browser.sockets.length, 3);
});

void test("the status in the header has a button that opens the details of the connection", () => {
  start();
  const button = element("connection");
  assert.equal(button.getAttribute("aria-controls"), "connection-pop");
  assert.equal(element("connection-pop").getAttribute("aria-label"), "Connection");
});

void test("the page checks a login that ended, and is left after a share link has ended", async () => {
  connect(start());
  browser.response = () => Promise.resolve({ ok: false });
  browser.socket.drop(4401);
  await settled();
  assert.deepEqual(browser.loads, ["reload"]);

  openPage("/r/core/v1/pods");
  page.documentElement.dataset["shared"] = "[]";
  const services = new PageServices("one");
  assert.equal(services.isGuest, true);
  connect(services);
  browser.socket.drop(4403);
  assert.deepEqual(browser.loads, ["replace /share#ended"]);
});

void test("after a switch of the cluster, the start page is loaded", () => {
  connect(start());
  browser.socket.drop(4409);
  assert.deepEqual(browser.loads, ["/"]);
});

void test("the page is idle unless a reload would lose typed text, a dialog or a selection", () => {
  const { isIdle } = start();
  assert.equal(isIdle(), true);
  const filter = element("picker-filter");
  filter.value = "po";
  assert.equal(isIdle(), false);
  filter.value = "";
  browser.selection = "web-1";
  assert.equal(isIdle(), false);
  browser.selection = "";
  const popover = page.createElement("div");
  popover.setAttribute("popover", "auto");
  page.body.append(popover);
  assert.equal(isIdle(), true);
  popover.open = true;
  assert.equal(isIdle(), false);
  popover.remove();
  const dialog = page.createElement("dialog");
  page.body.append(dialog);
  assert.equal(isIdle(), true);
  dialog.showModal();
  assert.equal(isIdle(), false);
});

void test("a hidden page reloads for another build only if its list can be reloaded and the page is idle", async () => {
  for (const [canReload, typed, want] of [
    [true, "", ["reload"]],
    [false, "", []],
    [null, "", []],
    [true, "po", []],
  ] as const) {
    sessionItems.clear();
    const list = canReload === null ? null : ({ canReload } as unknown as NonNullable<PageController["list"]>);
    const services = start("/", { list });
    services.picker.start(services.live);
    const send = connect(services);
    browser.response = () =>
      Promise.resolve({ ok: true, text: () => Promise.resolve('<script src="/static/app.js?v=two">') });
    send("", { type: "resources", resources: [], build: "two" });
    element("picker-filter").value = typed;
    page.hidden = true;
    page.fire("visibilitychange");
    mock.timers.tick(59_000);
    await settled();
    assert.deepEqual(browser.loads, []);
    mock.timers.tick(61_000);
    await settled();
    assert.deepEqual(browser.loads, want, `can reload: ${canReload}, typed: ${typed}`);
  }
});
const sessionItems = new Map<string, string>();
Object.assign(globalThis, {
  sessionStorage: {
    getItem: (key: string) => sessionItems.get(key) ?? null,
    setItem: (key: string, value: string) => void sessionItems.set(key, value),
  },
});

void test("the page's controller is notified when the list of resources has arrived", () => {
  let lists = 0;
  const services = start("/", { kindsListed: () => lists++ });
  services.picker.start(services.live);
  const send = connect(services);
  assert.equal(lists, 0);
  send("", { type: "resources", resources: [], build: "one" });
  assert.equal(lists, 1);
});

void test("a page without a list opens lists with the preferred columns, and objects, with a page load", () => {
  storeList("columns.core/v1/pods", ["name", "ready"]);
  const { page: controller } = start("/status");
  controller.go(defaultView("core/v1/pods"));
  controller.open("core/v1/pods", { ns: "shop", name: "web-1" });
  storeList("columns.core/v1/pods", []);
  assert.deepEqual(browser.loads, ["/r/core/v1/pods?cols=name&cols=ready", "/o/core/v1/pods/shop/web-1"]);
});
