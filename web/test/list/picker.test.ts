import assert from "node:assert/strict";
import { test } from "node:test";
import type { Part } from "../fake-page.ts";
import { openPage, element } from "../fake-app.ts";
import { Picker } from "../../static/src/list/picker.ts";
import type { ListedKind } from "../../static/src/net/kinds.ts";

const kind = (section: string, resource: string, name: string, more: Partial<ListedKind> = {}): ListedKind => ({
  ref: `core/v1/${resource}`,
  kind: name,
  resource,
  namespaced: true,
  group: "core",
  short: [],
  categories: [],
  section,
  isRare: false,
  searchText: `${name} ${resource}`.toLowerCase(),
  state: "",
  reason: "",
  count: null,
  namespaces: 0,
  ...more,
});

const kinds = [
  kind("Workloads", "pods", "Pod"),
  kind("Workloads", "jobs", "Job"),
  kind("Workloads", "podtemplates", "PodTemplate", { isRare: true }),
  kind("Cluster", "nodes", "Node", {
    namespaced: false,
    state: "forbidden",
    reason: "No RBAC rule allows it.",
  }),
  kind("Cluster", "leases", "Lease", { isRare: true }),
];

function start() {
  openPage("/r/core/v1/pods");
  localStorage.removeItem("glasshouse.more");
  const none = (): void => undefined;
  const picker = new Picker(
    element("picker-filter") as unknown as HTMLInputElement,
    element("picker-groups") as unknown as HTMLElement,
    none,
    none,
    none,
    none,
  );
  picker.select("core/v1/pods");
  picker.kindsListed(kinds, new Map());
  return picker;
}

const shown = (group: string): string[] =>
  (element("picker-groups").find("data-group", group)?.querySelectorAll("li") ?? [])
    .filter((li) => !li.hidden)
    .map((li) => (li.querySelector(".kind") ?? li.querySelector(".more"))?.textContent ?? "");
const more = (group: string): Part =>
  element("picker-groups").find("data-group", group)?.querySelector(".more") as Part;
const link = (ref: string): Part => element("picker-groups").find("data-ref", ref) as Part;

void test("rare resources are under More, until the user opens it", () => {
  start();
  assert.deepEqual(shown("Workloads"), ["Pods", "Jobs", "More (1)"]);
  more("Workloads").click();
  assert.deepEqual(shown("Workloads"), ["Pods", "Jobs", "PodTemplates", "Less"]);
  assert.equal(more("Workloads").getAttribute("aria-expanded"), "true");
  assert.deepEqual(shown("Cluster"), ["Nodes", "More (1)"]);
  more("Workloads").click();
  assert.deepEqual(shown("Workloads"), ["Pods", "Jobs", "More (1)"]);
});

void test("after a selection of namespaces, namespaced resources have no counts until the server sends them", () => {
  const picker = start();
  const numbers = (): string[] =>
    ["core/v1/pods", "core/v1/jobs", "core/v1/nodes"].map((ref) =>
      link(ref)
        .children.slice(1)
        .map((e) => e.textContent)
        .join("!"),
    );
  const count = (pods: number, jobs: number, failed: number): void =>
    picker.kindsCounted(
      new Map([
        ["core/v1/pods", pods],
        ["core/v1/jobs", jobs],
        ["core/v1/nodes", 3],
      ]),
      new Map([["core/v1/pods", { failed, degraded: 0 }]]),
    );
  count(900, 7, 4);
  assert.deepEqual(numbers(), ["4!900", "7", "3"]);
  picker.select("core/v1/pods");
  picker.setNamespaces(["shop"]);
  assert.deepEqual(numbers(), ["", "", "3"]);
  const failed = (): unknown => element("picker-groups").find("data-group", "Workloads")?.firstElementChild;
  assert.equal((failed() as Part).getAttribute("data-failed"), null);
  picker.setCount(12);
  assert.deepEqual(numbers(), ["12", "", "3"]);
  picker.select("core/v1/jobs");
  assert.deepEqual(numbers(), ["", "", "3"], "the count of a list that is no longer open");
  count(20, 2, 1);
  assert.deepEqual(numbers(), ["1!20", "2", "3"]);
  assert.equal((failed() as Part).getAttribute("data-failed"), "1");
  picker.setNamespaces([]);
  assert.deepEqual(numbers(), ["", "", "3"]);
  count(900, 7, 4);
  assert.deepEqual(numbers(), ["4!900", "7", "3"]);
});

void test("the filter also finds resources under More", () => {
  start();
  const filter = element("picker-filter");
  filter.value = "lease";
  filter.fire("input");
  assert.deepEqual([shown("Workloads"), shown("Cluster")], [[], ["Leases"]]);
  filter.value = "";
  filter.fire("input");
  assert.deepEqual(shown("Cluster"), ["Nodes", "More (1)"]);
});

void test("a resource without objects is under More, until it has one", () => {
  const picker = start();
  const count = (jobs: number): void => picker.kindsCounted(new Map([["core/v1/jobs", jobs]]), new Map());
  count(0);
  assert.deepEqual(shown("Workloads"), ["Pods", "More (2)"]);
  count(1);
  assert.deepEqual(shown("Workloads"), ["Pods", "Jobs", "More (1)"]);
  count(0);
  assert.deepEqual(shown("Workloads"), ["Pods", "Jobs", "More (1)"], "resources do not move again");
});

void test("the selected resource and resources with problems are never under More", () => {
  const picker = start();
  picker.select("core/v1/leases");
  assert.deepEqual(shown("Cluster"), ["Nodes", "Leases"]);
  picker.select("core/v1/pods");
  assert.deepEqual(shown("Cluster"), ["Nodes", "More (1)"]);
  picker.kindsCounted(new Map([["core/v1/leases", 2]]), new Map([["core/v1/leases", { failed: 0, degraded: 1 }]]));
  assert.deepEqual(shown("Cluster"), ["Nodes", "Leases"]);
});

void test("a resource shows the number of its failed objects, or else that of its degraded objects", () => {
  const picker = start();
  const count = (failed: number, degraded: number): void =>
    picker.kindsCounted(
      new Map([["core/v1/pods", 20]]),
      new Map(failed + degraded > 0 ? [["core/v1/pods", { failed, degraded }]] : []),
    );
  const problems = (): (string | null | undefined)[] => {
    const e = link("core/v1/pods").querySelector(".problems");
    return [e?.textContent, e?.getAttribute("data-severity"), e?.getAttribute("title")];
  };
  const summary = (): string | null =>
    element("picker-groups").find("data-group", "Workloads")?.firstElementChild?.getAttribute("data-failed") ?? null;
  count(1200, 2);
  assert.deepEqual(problems(), ["1,200", "failed", "1,200 failed, 2 degraded"]);
  assert.equal(summary(), "1,200");
  count(0, 2);
  assert.deepEqual([problems(), summary()], [["2", "degraded", "0 failed, 2 degraded"], null]);
  picker.kindsCounted(new Map([["core/v1/pods", 21]]), null);
  assert.equal(problems()[0], "2", "the number of problems stays, because an HTTP response does not contain it");
  count(0, 0);
  assert.deepEqual(
    [problems()[0], link("core/v1/pods").children.map((e) => e.textContent)],
    [undefined, ["Pods", "20"]],
  );
});

void test("a forbidden resource is marked before the user opens it", () => {
  start();
  const a = link("core/v1/nodes");
  assert.equal(a.dataset["state"], "forbidden");
  assert.equal(a.dataset["hint"], "Nodes (core/v1/nodes): forbidden. No RBAC rule allows it.");
});

void test("the name of a kind contains its group if another group has the same kind", () => {
  const picker = start();
  const [pods, events, ours, theirs] = [
    kind("Workloads", "pods", "Pod"),
    kind("Cluster", "events", "Event"),
    kind("Cluster", "events", "Event", { ref: "events.k8s.io/v1/events", group: "events.k8s.io" }),
    kind("x.io", "widgets", "Widget", { ref: "x.io/v1/widgets", group: "x.io" }),
  ] as const;
  picker.kindsListed([pods, events, ours, theirs], new Map());
  assert.deepEqual(
    [pods, events, ours, theirs].map((k) => picker.nameOf(k)),
    ["Pods", "Events", "Events (events.k8s.io)", "Widgets"],
  );
  assert.equal(link(ours.ref).firstElementChild?.dataset["of"], "events.k8s.io");
});
