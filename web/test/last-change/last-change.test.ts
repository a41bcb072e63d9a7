import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { browser, connect, element, openPage } from "../fake-app.ts";
import { frame, page } from "../fake-page.ts";
import { tableOf } from "../table-encoding.ts";
import { PageServices } from "../../static/src/page-services.ts";
import { columnChoices } from "../../static/src/model/column-set.ts";
import { isCreation, isEdited, tooltipOf } from "../../static/src/last-change/changes.ts";
import { startList } from "../../static/src/list/start-list.ts";

const now = Date.parse("2026-11-21T12:00:00Z");
const ago = (minutes: number): string => new Date(now - 60_000 * minutes).toISOString().replace(".000Z", "Z");
const created = ago(600);

let elapsed = 0;
Object.assign(performance, { now: () => elapsed });
Object.assign(globalThis, {
  getComputedStyle: () => ({ fontSize: "10px", getPropertyValue: () => "10px" }),
});

const columns = [{ name: "Name", type: "string" }, { name: "Ready" }, { name: "Images", type: "string", priority: 1 }];
const row = (name: string, at = created) => ({
  ns: "shop",
  name,
  rv: "1",
  created: at,
  cells: [name, "1/1", `${name}:1`],
});
const item = (name: string, by: string, minutes: number, isCreation = false): object => ({
  ns: "shop",
  name,
  at: ago(minutes),
  by,
  ...(isCreation ? { created: true } : {}),
});

function start({ ref = "apps/v1/deployments", search = "", guest = false, width = 2000, items = [] as object[] } = {}) {
  const section = openPage(`/r/${ref}${search}`, {
    page: "list",
    ref,
    kind: "Deployment",
    resource: "deployments",
    namespaced: "",
  });
  if (guest) page.documentElement.dataset["shared"] = `[{"resource":"${ref}"}]`;
  element("rows").clientWidth = width;
  const services = new PageServices("one");
  const controller = startList(section, services);
  services.page = controller;
  const send = connect(services);
  const { list } = controller;
  assert.ok(list !== null);
  const answer = { items, status: 200, truncated: false };
  browser.response = () =>
    Promise.resolve({
      ok: answer.status === 200,
      status: answer.status,
      json: () => Promise.resolve({ items: answer.items, truncated: answer.truncated }),
    });
  const settle = async (ms = 1000): Promise<void> => {
    for (let waited = 0; waited < ms; waited += 1000) {
      elapsed += 1000;
      mock.timers.tick(1000);
      for (let n = 0; n < 5; n++) await Promise.resolve();
    }
    frame();
  };
  const receive = async (...messages: object[]): Promise<void> => {
    for (const m of messages) send(ref, m);
    await settle(3000); // The page loads the code of the column after a second.
  };
  return { list, receive, settle, answer };
}
const snapshot = (...rows: ReturnType<typeof row>[]): object[] => [
  { type: "snapshot", cursor: "c", columns, table: tableOf(rows), last: true },
  { type: "state", state: "live", since: "", reason: "", namespaces: [] },
];
const update = (name: string, more: object): object => ({
  type: "events",
  cursor: "c2",
  events: [{ op: "update", ns: "shop", name, rv: "2", cells: {}, ...more }],
});
const head = (): string[] =>
  element("table")
    .querySelectorAll("thead th")
    .map((th) => th.textContent);
const rowsShown = () => element("tbody").querySelectorAll("tr[data-name]");
const lastChanges = (): Record<string, string> => {
  const at = head().indexOf("Last change");
  return Object.fromEntries(
    rowsShown().map((tr) => [tr.getAttribute("data-name"), at < 0 ? "" : tr.children[at]?.getAttribute("data-wire")]),
  ) as Record<string, string>;
};
const requests = (): string[] => browser.requests.filter((r) => r.includes("last-changes"));

void test("the column shows who last changed each object, and is after the columns of the server", async () => {
  const { receive } = start({
    search: "?ns=shop&ns=pay",
    items: [item("web", "kubectl-edit", 12), item("other", "x", 1)],
  });
  await receive(...snapshot(row("api"), row("web")));
  assert.deepEqual(requests(), ["/api/v1/last-changes/apps/v1/deployments?ns=pay&ns=shop"]);
  assert.deepEqual(head(), ["Namespace", "Name", "Ready", "Images", "Last change"]);
  assert.deepEqual(lastChanges(), { api: "", web: `kubectl-edit, ${ago(12)}` });
  assert.equal(element("tbody").querySelectorAll("[data-changed]").length, 0, "no cell is highlighted");
});

void test("the column appears only if there is a known change, and space for it", async () => {
  const none = start({ items: [item("other", "helm", 1)] });
  await none.receive(...snapshot(row("web")));
  assert.deepEqual([head().includes("Last change"), none.list.columns.length], [false, 3]);
  const narrow = start({ width: 600, items: [item("web", "helm-with-a-long-name", 1)] });
  await narrow.receive(...snapshot({ ...row("web"), cells: ["web".padEnd(45, "-"), "1/1", "web:1"] }));
  assert.deepEqual(head(), ["Namespace", "Name", "Ready", "Images"], "other wide columns go first");
  assert.deepEqual(
    columnChoices(narrow.list.columns, true, []).map((c) => c.name),
    ["namespace", "name", "ready", "images", "last change"],
  );
  narrow.list.change({ cols: ["name", "last change"] });
  assert.deepEqual(head(), ["Name", "Last change"]);
});

void test("a list with more than 5,000 rows has no such column", async () => {
  const { receive } = start({ items: [item("web", "helm", 1)] });
  const others = Array.from({ length: 5000 }, (_, i) => row(`api-${i}`));
  await receive(...snapshot(...others, row("web")));
  assert.deepEqual([requests(), head().includes("Last change")], [[], false]);
});

void test("a list has no such column if the server does not send all changes, or if it becomes too long", async () => {
  const { receive, answer } = start({ items: [item("web", "helm", 1)] });
  answer.truncated = true;
  await receive(...snapshot(row("web")));
  assert.deepEqual([requests().length, head().includes("Last change")], [1, false]);
  const long = start({ items: [item("web", "helm", 1)] });
  await long.receive(...snapshot(row("web")));
  assert.equal(head().includes("Last change"), true);
  const added = Array.from({ length: 5000 }, (_, i) => ({ op: "add", row: { ...row(`api-${i}`), uid: `${i}` } }));
  await long.receive({ type: "events", cursor: "c2", events: added });
  assert.equal(head().includes("Last change"), false);
});

void test("other labels need another read, because the page did not receive all updates", async () => {
  const { list, receive, answer } = start({ items: [item("web", "helm", 30)] });
  await receive(...snapshot(row("web")));
  answer.items = [item("web", "kubectl-edit", 1)];
  list.change({ labels: "app=web" });
  await receive(...snapshot(row("web")));
  assert.deepEqual([requests().length, lastChanges()], [2, { web: `kubectl-edit, ${ago(1)}` }]);
});

void test("guests, and lists whose objects only controllers change, have no such column", async () => {
  const items = [item("web", "helm", 1)];
  for (const options of [{ guest: true }, { ref: "core/v1/pods" }, { width: 300 }]) {
    const { receive } = start({ ...options, items });
    await receive(...snapshot(row("web")));
    assert.deepEqual([requests(), head().includes("Last change")], [[], false], JSON.stringify(options));
  }
  assert.deepEqual(["apps/v1/replicasets", "batch/v1/jobs", "core/v1/pods", "core/v1/events"].map(isEdited), [
    false,
    false,
    false,
    false,
  ]);
  assert.deepEqual(["batch.volcano.sh/v1alpha1/jobs", "core/v1/services", "core/v1/configmaps"].map(isEdited), [
    true,
    true,
    true,
  ]);
});

void test("an update with the author of a specification changes the cell without a request", async () => {
  const { receive, list, settle } = start({ items: [item("web", "helm", 60), item("api", "helm", 50)] });
  await receive(...snapshot(row("api"), row("web")));
  await receive(update("web", { specBy: ["kubectl-edit", ago(0)] }));
  assert.deepEqual(lastChanges(), { api: `helm, ${ago(50)}`, web: `kubectl-edit, ${ago(0)}` });
  await receive(update("web", { by: ["operator", "Update", "status", ago(0)] }));
  await receive(update("api", { by: ["kubectl-label", "Update", "", ago(0)], cells: { 1: "0/1" } }));
  assert.deepEqual(lastChanges(), { api: `helm, ${ago(50)}`, web: `kubectl-edit, ${ago(0)}` });
  assert.equal(requests().length, 1);
  const [name, ready] = rowsShown()[0]?.children.slice(1) ?? [];
  assert.deepEqual([name?.textContent, ready?.textContent], ["api", "0/1"]);
  // A snapshot, such as after a reconnect, keeps the column. The server's response can be older than the update.
  await receive(...snapshot(row("api"), row("web")));
  assert.deepEqual(lastChanges(), { api: `helm, ${ago(50)}`, web: `kubectl-edit, ${ago(0)}` });
  assert.equal(list.columns.filter((c) => c.name === "Last change").length, 1);
  await settle(10_000);
  assert.equal(requests().length, 2);
  assert.deepEqual(lastChanges(), { api: `helm, ${ago(50)}`, web: `kubectl-edit, ${ago(0)}` });
});

void test("the changes are read again soon after a new object, while the page is visible", async () => {
  const { receive, settle, answer } = start({ items: [item("web", "helm", 60)] });
  await receive(...snapshot(row("web")));
  await settle(600_000);
  assert.equal(requests().length, 1, "later changes arrive with the rows");
  answer.items = [item("web", "argocd", 1), item("new", "helm", 0, true)];
  const added = { type: "events", cursor: "c2", events: [{ op: "add", row: { ...row("new"), uid: "u" } }] };
  await receive(added);
  assert.deepEqual([requests().length, lastChanges()], [2, { new: `helm, ${ago(0)}`, web: `argocd, ${ago(1)}` }]);
  assert.equal(element("tbody").querySelectorAll("[data-changed]").length, 0, "no cell is highlighted");
  await receive(added);
  assert.equal(requests().length, 2, "the page waits 10 s between two requests");
  await settle(10_000);
  assert.equal(requests().length, 3);

  page.hidden = true;
  await receive(added);
  await settle(60_000);
  assert.equal(requests().length, 3);
  page.hidden = false;
  await settle();
  assert.equal(requests().length, 4);
});

void test("while the connection is lost, there is no request; after a reconnect, there is one", async () => {
  const { receive, settle, answer } = start({ items: [item("web", "helm", 60)] });
  answer.status = 503;
  await receive(...snapshot(row("web")));
  await receive(update("web", { specBy: ["kubectl-edit", ago(70)] }));
  assert.deepEqual([requests().length, head().includes("Last change")], [1, false], "other authors are unknown");
  await settle(60_000);
  assert.equal(requests().length, 2, "a failed request is repeated after a minute");
  answer.status = 200;
  browser.socket.drop();
  await settle(60_000);
  assert.equal(requests().length, 2);
  browser.socket.accept();
  await receive(...snapshot(row("web")));
  await settle(60_000);
  assert.deepEqual([requests().length, lastChanges()], [3, { web: `helm, ${ago(60)}` }]);
});

void test("the first change that arrives with the rows adds the column", async () => {
  const { receive } = start();
  await receive(...snapshot(row("api"), row("web")));
  assert.equal(head().includes("Last change"), false);
  await receive(update("web", { specBy: ["kubectl-edit", ago(0)] }));
  assert.deepEqual(lastChanges(), { api: "", web: `kubectl-edit, ${ago(0)}` });
  await receive({
    type: "events",
    cursor: "c3",
    events: [
      { op: "delete", ns: "shop", name: "web" },
      { op: "add", row: row("web") },
    ],
  });
  assert.deepEqual(lastChanges(), { api: "", web: "" }, "a deleted object has no change");
});

void test("a change of an older object with the same name is not shown", async () => {
  const { receive } = start({ items: [item("web", "helm", 30), item("api", "helm", 20)] });
  await receive(...snapshot(row("api"), row("web", ago(10))));
  assert.deepEqual(lastChanges(), { api: `helm, ${ago(20)}`, web: "" });
});

void test("another list has its own changes", async () => {
  const { list, receive, answer } = start({ items: [item("web", "helm", 30)] });
  await receive(...snapshot(row("web")));
  answer.items = [];
  list.change({ ns: ["shop"] });
  await receive(...snapshot(row("web")));
  assert.deepEqual(requests(), [
    "/api/v1/last-changes/apps/v1/deployments?",
    "/api/v1/last-changes/apps/v1/deployments?ns=shop",
  ]);
  assert.equal(head().includes("Last change"), false);
});

void test("rows are sorted by the time of the change, the newest first", async () => {
  const { receive } = start({
    search: "?sort=last+change",
    items: [item("api", "argocd", 30), item("job", "a", 90), item("web", "helm", 20)],
  });
  await receive(...snapshot(row("api"), row("db"), row("job"), row("web")));
  const names = (): (string | null)[] => rowsShown().map((tr) => tr.getAttribute("data-name"));
  assert.deepEqual(names(), ["web", "api", "job", "db"]);
  await receive(update("job", { specBy: ["kubectl-edit", ago(0)] }));
  assert.deepEqual(names(), ["job", "web", "api", "db"]);
});

void test("long names of managers are readable, and the tooltip has name and time", async () => {
  const manager = "a-field-manager-with-a-very-long-name";
  const { receive } = start({ items: [item("api", "helm", 5), item("web", manager, 5, true)] });
  await receive(...snapshot(row("api"), row("web")));
  assert.deepEqual(lastChanges(), {
    api: `helm, ${ago(5)}`,
    web: `a-field-manager-with-a-very-lon…, ${ago(5)}`,
  });
  const cell = rowsShown()[1]?.children.at(-1);
  cell?.dispatch("mouseover");
  assert.match(cell?.getAttribute("title") ?? "", new RegExp(`^Created by ${manager}, .*\\d\\d:\\d\\d:\\d\\d$`));
  assert.deepEqual([isCreation(created, created), isCreation(ago(599), created)], [true, false]);
  assert.match(tooltipOf({ at: ago(5), by: "x", isCreation: false }, now), /^Last write by x, .*:00$/);
  const ready = rowsShown()[1]?.children.at(-2);
  ready?.dispatch("mouseover");
  assert.equal(ready?.hasAttribute("title"), false);
});
