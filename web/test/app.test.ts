import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { frame, nextFrameRequest, page, Part } from "./fake-page.ts";
import { browser, element, openPage, snapshotOf } from "./fake-app.ts";

type Data = Readonly<Record<string, string>>;

const pods = { ref: "core/v1/pods", kind: "Pod", resource: "pods", namespaced: "" };
const webPod = { page: "object", ...pods, ns: "shop", name: "web-1" };
const missing = { page: "problem", ref: "example.com/v1/widgets" };

let evaluations = 0;
/** Evaluates app.ts again, in the bundle that test.mjs writes next to this test, as part of the build "one". */
const evaluate = (): Promise<unknown> => import(new URL(`./app.mjs?v=one&n=${++evaluations}`, import.meta.url).href);

const settled = async (): Promise<void> => {
  for (let microtask = 0; microtask < 50; microtask++) await Promise.resolve();
};

/** Creates an element in the page's body, or in a parent. */
function add(tag: string, attributes: Data = {}, parent: { append(part: Part): void } = page.body): Part {
  const e = new Part(tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  parent.append(e);
  return e;
}

/** Opens a page and starts its script. The page's html element has the given data attributes. */
async function start(address: string, data: Data, html: Data = {}, prepare: () => void = () => {}): Promise<void> {
  openPage(address, data);
  Object.assign(page.documentElement.dataset, html);
  add("button", { id: "help" });
  prepare();
  const { ready } = await untilWaiting();
  frame();
  mock.timers.tick(0);
  await ready;
  await settled();
}

/** Evaluates app.ts until it waits for a frame. `ready` resolves when the script has started. */
async function untilWaiting(): Promise<{ ready: Promise<unknown> }> {
  const frameRequest = nextFrameRequest();
  const ready = evaluate();
  await Promise.race([frameRequest, ready]);
  return { ready };
}

const isStarted = (): boolean => page.documentElement.hasAttribute("data-started");

/** Connects the page, and returns what it subscribes to, without the list of resources. */
function subscriptions(): object[] {
  browser.socket.accept();
  return browser.socket.sent
    .filter((m) => m["op"] === "subscribe" && m["view"] !== "resources")
    .map(({ resource, view, ns, name }) => JSON.parse(JSON.stringify({ resource, view, ns, name })) as object);
}

/** Sends a message to the page's subscription for a resource. An empty resource is the list of resources. */
function send(resource: string, message: object): void {
  const request = browser.socket.sent.findLast((m) => m["op"] === "subscribe" && (m["resource"] ?? "") === resource);
  browser.socket.receive({ id: request?.["id"], ...message });
}

/** Presses a key in an element. Returns whether a command ran. */
const press = (key: string, target = page.body): boolean =>
  target.dispatch("keydown", { key, getModifierState: () => false }).defaultPrevented;

/** Lets the style sheet of dialogs load. Returns the text of the dialog that is open then, or "" for none. */
async function openedDialog(): Promise<string> {
  await settled();
  assert.equal(page.querySelector("dialog[open]"), null, "a dialog opens only with its style sheet");
  for (const link of (page as unknown as { head: Part }).head.children) link.fire("load");
  await settled();
  return page.querySelector("dialog[open]")?.textContent ?? "";
}

void test("the script waits until the page is painted", async () => {
  openPage("/", {});
  const { ready } = await untilWaiting();
  frame();
  await settled();
  assert.deepEqual([isStarted(), browser.sockets.length], [false, 0], "painting follows the animation frame");
  mock.timers.tick(0);
  await ready;
  assert.deepEqual([isStarted(), browser.sockets.length], [true, 1]);
});

void test("the script waits for at most 500 ms", async () => {
  openPage("/", {});
  const { ready } = await untilWaiting();
  mock.timers.tick(499);
  await settled();
  assert.equal(isStarted(), false);
  mock.timers.tick(1);
  await ready;
  assert.equal(isStarted(), true);
});

void test("a hidden page is not painted, so its script does not wait", async () => {
  openPage("/", {});
  page.hidden = true;
  await untilWaiting();
  assert.deepEqual([isStarted(), browser.sockets.length], [true, 1]);
});

void test("a list page subscribes to its resource, and has the commands of lists", async () => {
  await start("/r/core/v1/pods?ns=shop", { page: "list", ...pods });
  assert.deepEqual(subscriptions(), [{ resource: "core/v1/pods", view: "table", ns: ["shop"] }]);
  assert.equal(press("Enter", element("q")), true);
  assert.equal(page.activeElement, element("table"));
});

void test("an object page subscribes to its object", async () => {
  await start("/o/core/v1/pods/shop/web-1", webPod);
  assert.equal(page.title, "shop/web-1 - Pods - Glasshouse");
  assert.deepEqual(subscriptions(), [{ resource: "core/v1/pods", view: "object", ns: ["shop"], name: "web-1" }]);
});

void test("the home page subscribes to the overview", async () => {
  await start("/ns/shop", { page: "home" }, {}, () => void add("div", { id: "overview" }));
  assert.deepEqual(subscriptions(), [{ view: "overview", ns: ["shop"] }]);
});

void test("the compare page subscribes to both objects, and informs them when the connection is lost", async () => {
  await start("/compare", { page: "compare" }, {}, () => {
    for (const id of ["a", "b"]) add("input", { id });
    for (const id of ["names", "switches"]) add("div", { id });
    const difference = add("div", { id: "difference" });
    for (const name of ["web-1", "web-2"]) {
      const side = add("section", { class: "side" }, difference);
      Object.assign(side.dataset, { ref: "core/v1/pods", kind: "Pod", ns: "shop", name });
    }
  });
  await openedDialog();
  assert.deepEqual(
    subscriptions(),
    ["web-1", "web-2"].map((name) => ({ resource: "core/v1/pods", view: "object", ns: ["shop"], name })),
  );
  const draw = (): string => {
    mock.timers.tick(0);
    frame();
    return element("status").textContent;
  };
  const ids = browser.socket.sent.filter((m) => m["resource"] === "core/v1/pods").map((m) => m["id"]);
  for (const id of ids) browser.socket.receive({ id, type: "snapshot", cursor: "c", object: null });
  assert.doesNotMatch(draw(), /lost/i);
  browser.socket.drop();
  assert.match(draw(), /lost/i);
});

void test("the status page requests the status of watches", async () => {
  await start("/status", { page: "status" }, {}, () => void add("tbody", { id: "scopes" }));
  assert.ok(browser.requests.includes("/api/v1/status"));
  assert.equal(browser.sockets.length, 1);
});

void test("a page without a controller of its own only connects", async () => {
  for (const data of [{ page: "other" }, {}]) {
    await start("/", data);
    assert.deepEqual(subscriptions(), []);
    assert.equal(isStarted(), true);
  }
});

void test("an error page for a resource is loaded again once the cluster serves the resource", async () => {
  const widgets = { group: "example.com", version: "v1", resource: "widgets", kind: "Widget", verbs: ["list"] };
  for (const resources of [[], [widgets]]) {
    await start("/r/example.com/v1/widgets", missing);
    subscriptions();
    send("", { type: "resources", resources, build: "one" });
    mock.timers.tick(0);
    assert.deepEqual(browser.loads, resources.length === 0 ? [] : ["reload"]);
  }
});

void test("an error page without a resource does not connect", async () => {
  await start("/unknown", { page: "problem", ref: "" });
  assert.deepEqual([isStarted(), browser.sockets.length], [true, 0]);
});

void test("only an error page keeps the time of its last reload", async () => {
  const state = { load: { at: 1, delay: 5000 } };
  for (const [data, want] of [
    [{}, [null]],
    [missing, []],
  ] as const) {
    await start("/", data, {}, () => (browser.state = state));
    assert.deepEqual(browser.savedStates, want);
  }
});

void test("a notice is shown if the server has another build than the script's address", async () => {
  for (const [build, isShown] of [
    ["one", false],
    ["two", true],
  ] as const) {
    await start("/", {}, {}, () => void add("header", { class: "top" }));
    subscriptions();
    send("", { type: "resources", resources: [], build });
    assert.equal(page.getElementById("build") !== null, isShown);
  }
});

void test("both help buttons open the help, and other buttons of the resource picker do not", async () => {
  for (const [pressed, opens] of [
    ["help", true],
    ["second-help", true],
    ["other", false],
  ] as const) {
    await start("/", {}, {}, () => {
      add("button", { id: "other" });
      add("button", { id: "second-help" }, add("p", { class: "picker-foot" }, element("picker")));
    });
    element(pressed).click();
    const text = await openedDialog();
    assert.equal(/Keyboard shortcuts.*Toggle theme/.test(text), opens, pressed);
  }
});

void test("both share buttons open the share dialog and not the help", async () => {
  for (const pressed of ["share", "second-share"]) {
    await start("/r/core/v1/pods", { page: "list", ...pods }, {}, () => {
      add("button", { id: "share", class: "share-button" });
      const foot = add("p", { class: "picker-foot" }, element("picker"));
      add("button", { id: "second-share", class: "share-button" }, foot);
    });
    element(pressed).click();
    await openedDialog();
    assert.deepEqual(
      page.querySelectorAll("dialog[open]").map((dialog) => dialog.id),
      ["sharing"],
    );
  }
});

void test("a guest cannot share, and sees when the link expires", async () => {
  const shared = { shared: JSON.stringify([{ resource: "core/v1/pods" }]) };
  const date = new Date();
  date.setHours(23, 59, 0, 0);
  for (const [html, canShare, until] of [
    [{}, true, ""],
    [shared, false, "23:59"],
  ] as const) {
    await start("/", {}, html, () => void add("time", { id: "until", datetime: date.toISOString() }));
    assert.equal(element("until").textContent, until);
    assert.equal(press("?"), true);
    assert.equal((await openedDialog()).includes("Share this view"), canShare);
  }
});

void test("a kiosk keeps the screen on, and retries refused requests of its page", async () => {
  let wakeLocks = 0;
  Object.assign(navigator, { wakeLock: { request: () => Promise.resolve(++wakeLocks) } });
  const refused = { type: "error", problem: { status: 403, code: "forbidden", title: "", detail: "" } };
  for (const [html, want] of [
    [{}, [0]],
    [{ kiosk: "" }, [1, "reload"]],
  ] as const) {
    await start("/o/core/v1/pods/shop/web-1", webPod, html);
    subscriptions();
    send("core/v1/pods", refused);
    mock.timers.tick(60_000);
    assert.deepEqual([wakeLocks, ...browser.loads], want);
  }
});

void test("keys start the commands of the page and those of all pages", async () => {
  await start("/r/core/v1/pods", { page: "list", ...pods }, {}, () => {
    Object.assign(add("a", { id: "home" }), { href: "/home" });
  });
  subscriptions();
  for (const m of snapshotOf("web-1")) send("core/v1/pods", m);
  frame();
  assert.equal(press("w"), true);
  assert.deepEqual(browser.history, ["push /r/core/v1/pods?cols=wide"]);
  assert.equal(press("h"), true);
  assert.deepEqual(browser.loads, ["/home"]);
  assert.equal(press("C"), true, "the page has a chooser of kubeconfig contexts");
  assert.equal(press("#"), false);
});

void test("without a choice of clusters or a home page, there are no commands for them", async () => {
  await start("/", {}, {}, () => element("cluster").remove());
  assert.deepEqual([press("C"), press("h"), press("t")], [false, false, true]);
});

void test("a button toggles the theme", async () => {
  await start("/", {}, { theme: "light" });
  element("theme").click();
  assert.equal(page.documentElement.dataset["theme"], "dark");
});

void test("a button collapses the resource picker to its icons, and a cookie keeps this with the theme", async () => {
  await start("/", {}, { theme: "dark" });
  element("picker-width").click();
  assert.equal(page.documentElement.dataset["picker"], "icons");
  assert.match(document.cookie, /^look=dark-icons;/);
  element("picker-width").click();
  assert.equal(page.documentElement.dataset["picker"], "");
});

void test("the cluster's name is a button on all pages but error pages, which can reload themselves", async () => {
  await start("/", {});
  assert.equal(element("cluster").localName, "button");
  await start("/r/example.com/v1/widgets", missing);
  assert.equal(element("cluster").localName, "a");
});
