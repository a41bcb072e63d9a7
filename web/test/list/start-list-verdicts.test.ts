import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { frame, type Part } from "../fake-page.ts";
import { browser, connect, element, openPage } from "../fake-app.ts";
import { tableOf } from "../table-encoding.ts";
import { verdictOf } from "../verdicts.ts";
import { PageServices } from "../../static/src/page-services.ts";
import { startList } from "../../static/src/list/start-list.ts";
import type { Verdict } from "../../static/src/net/wire.ts";

const columns = [
  { name: "Name", type: "string" },
  { name: "Status", type: "string" },
];
const row = (name: string, verdict?: Verdict) => ({
  ns: "shop",
  name,
  uid: `u-${name}`,
  rv: "1",
  created: "",
  verdict,
  cells: [name, "Running"],
});
const failed = verdictOf("failed", "Evicted: The node was low on memory", "Evicted");
const live = { type: "state", state: "live", since: "", reason: "", namespaces: [] };

function start(limit?: string) {
  const pods = { page: "list", ref: "core/v1/pods", kind: "Pod", resource: "pods", namespaced: "" };
  const section = openPage("/r/core/v1/pods", limit === undefined ? pods : { ...pods, limit });
  const services = new PageServices("one");
  const controller = startList(section, services);
  services.page = controller;
  const send = connect(services);
  return {
    receive: (...messages: object[]): void => {
      for (const m of messages) send("core/v1/pods", m);
      mock.timers.tick(1000);
      frame();
    },
    click: (a: Part | null | undefined): void => {
      const { pathname, search } = new URL(a?.getAttribute("href") ?? "", browser.url);
      Object.assign(a ?? {}, { pathname, search });
      assert.equal(a?.dispatch("click", { button: 0 }).defaultPrevented, true);
      frame();
    },
  };
}
const snapshot = (...rows: ReturnType<typeof row>[]): object[] => [
  { type: "snapshot", cursor: "c", columns, table: tableOf(rows), last: true },
  live,
];
const head = (): string[] =>
  element("table")
    .querySelectorAll("thead th")
    .map((th) => th.textContent);
const why = (): string[] =>
  element("tbody")
    .querySelectorAll(".why")
    .map((td) => td.textContent);
const names = (): (string | null)[] =>
  element("tbody")
    .querySelectorAll("tr[data-name]")
    .map((tr) => tr.getAttribute("data-name"));
const counts = (): string[] => element("severity-counts").children.map((a) => a.textContent);
const update = (name: string, verdict: Verdict): object => ({
  type: "events",
  cursor: "c2",
  events: [{ op: "update", ns: "shop", name, rv: "1", cells: {}, verdict }],
});

void test("the column Why appears with the first verdict, and stays", () => {
  const { receive } = start();
  receive(...snapshot(row("web-1"), row("web-2")));
  assert.deepEqual([head(), why(), counts()], [["Namespace", "Name", "Status"], [], []]);
  receive(update("web-2", failed));
  assert.deepEqual(head(), ["Namespace", "Name", "Why", "Status"]);
  assert.deepEqual(why(), ["Evicted: The node was low on memory", ""]);
  assert.deepEqual(counts(), ["1 failed"]);
  const [header] = element("table").querySelectorAll("thead tr");
  receive(update("web-2", verdictOf("none")));
  assert.deepEqual([why(), counts()], [["", ""], []]);
  assert.ok(
    element("table").querySelectorAll("thead tr")[0] === header,
    "the header is not drawn again for each verdict",
  );
});

void test("a click on a problem count filters the list at once, and a second click removes the filter", () => {
  const { receive, click } = start();
  receive(...snapshot(row("web-1", verdictOf("ok")), row("web-2", failed), row("web-3", verdictOf("progressing"))));
  assert.deepEqual(
    [names(), counts()],
    [
      ["web-2", "web-3", "web-1"],
      ["1 failed", "1 progressing"],
    ],
  );
  click(element("severity-counts").firstElementChild);
  assert.deepEqual([names(), element("q").value], [["web-2"], "is:failed"]);
  click(element("severity-counts").firstElementChild);
  assert.deepEqual([names(), element("q").value], [["web-2", "web-3", "web-1"], ""]);
  assert.deepEqual(browser.history, ["push /r/core/v1/pods?q=is%3Afailed", "push /r/core/v1/pods"]);
});

void test("a click on Why sorts by severity, without a note about an unknown column", () => {
  const { receive, click } = start();
  receive(...snapshot(row("web-1", verdictOf("ok")), row("web-2", verdictOf("degraded"))));
  const button = element("table").querySelectorAll("thead [data-sort]").at(2);
  click(button);
  assert.deepEqual([names(), browser.history], [["web-2", "web-1"], ["push /r/core/v1/pods?sort=severity"]]);
  assert.equal(button?.parentElement?.getAttribute("aria-sort"), "ascending");
  assert.equal(element("coverage-note").hidden, true);
});

void test("while an object is failed, the worst rows are first, unless the URL contains another order", () => {
  const { receive, click } = start();
  receive(...snapshot(row("web-1", verdictOf("ok")), row("web-2", verdictOf("progressing"))));
  const sorted = (): (string | null | undefined)[] =>
    element("table")
      .querySelectorAll("thead th")
      .filter((th) => th.getAttribute("aria-sort") !== "none")
      .map((th) => th.getAttribute("data-column"));
  assert.deepEqual([names(), sorted()], [["web-1", "web-2"], []]);
  receive(update("web-1", failed), update("web-2", verdictOf("ok")));
  assert.deepEqual([names(), sorted()], [["web-1", "web-2"], ["why"]]);
  receive(update("web-2", failed), update("web-1", verdictOf("degraded")));
  assert.deepEqual([names(), sorted()], [["web-2", "web-1"], ["why"]]);
  const [, name] = element("table").querySelectorAll("thead [data-sort]");
  click(name);
  assert.deepEqual(
    [names(), sorted(), browser.history],
    [["web-1", "web-2"], ["0"], ["push /r/core/v1/pods?sort=name"]],
  );
  click(name);
  click(name);
  assert.deepEqual([names(), sorted()], [["web-2", "web-1"], ["why"]]);
  receive(update("web-2", verdictOf("ok")));
  assert.deepEqual([names(), sorted()], [["web-1", "web-2"], []], "the default order returns once no object is failed");
});

void test("a window has the column Why if a row outside it has a verdict", () => {
  const { receive } = start("1");
  receive(...snapshot(row("web-1"), row("web-2")));
  const window = (failing: number): object => ({
    type: "window",
    cursor: "w",
    columns,
    total: 900,
    matching: 900,
    failing,
    degraded: 0,
    waiting: 0,
    changes: 0,
    offset: 0,
    count: 400,
    rows: [row("web-1"), row("web-2")],
  });
  receive(window(0), live);
  assert.deepEqual([head().includes("Why"), counts()], [false, []]);
  receive(window(7));
  assert.deepEqual([head().includes("Why"), counts()], [true, ["7 failed"]]);
});
