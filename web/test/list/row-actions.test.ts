import assert from "node:assert/strict";
import { test } from "node:test";
import { page, Part } from "../fake-page.ts";
import { browser, element, openPage } from "../fake-app.ts";
import { comparisonOf, itemsOf, linkInvolved, runRowCommand } from "../../static/src/list/row-actions.ts";
import { kubectlCommand } from "../../static/src/list/copy-items.ts";
import type { ListPage } from "../../static/src/list/list.ts";
import type { ObjectName } from "../../static/src/model/view.ts";

const a = { ns: "shop", name: "web-1" };
const b = { ns: "shop", name: "web-2" };
const c = { ns: "", name: "node-1" };

function list(active: ObjectName | undefined) {
  openPage("/r/core/v1/pods");
  const marked = new Map<string, ObjectName>();
  const fake = {
    table: { activeEntry: active, marked, schedule: () => undefined },
    view: { ref: "core/v1/pods", open: null },
  };
  const run = async (row: ObjectName | undefined, command: "copy" | "mark" | "compare"): Promise<string> => {
    fake.table.activeEntry = row;
    await runRowCommand(fake as unknown as ListPage, command);
    return page.getElementById("toast")?.textContent ?? "";
  };
  return { run, marked };
}

void test("two marked rows are compared, and a third mark replaces the first one", async () => {
  const { run, marked } = list(a);
  assert.match(await run(undefined, "mark"), /^Select a row first/);
  assert.match(await run(a, "compare"), /^Mark two rows first/);
  assert.match(await run(a, "mark"), /^shop\/web-1 marked\. Mark another row/);
  assert.match(await run(b, "mark"), /^shop\/web-2 marked\. .*press =/);
  await run(b, "compare");
  assert.deepEqual(browser.loads.map(plain), ["/compare?a=core/v1/pods/shop/web-1&b=core/v1/pods/shop/web-2"]);
  await run(c, "mark");
  assert.deepEqual([...marked.values()], [b, c]);
  assert.match(await run(b, "mark"), /^shop\/web-2 is no longer marked/);
  assert.deepEqual([...marked.values()], [c]);
});

void test("the copied name has the same format as on the page", async () => {
  const copied: string[] = [];
  Object.assign(navigator, { clipboard: { writeText: (text: string) => Promise.resolve(void copied.push(text)) } });
  const { run } = list(a);
  assert.equal(await run(a, "copy"), "Copied shop/web-1");
  assert.equal(await run(c, "copy"), "Copied node-1");
  assert.deepEqual(copied, ["shop/web-1", "node-1"]);
  assert.ok(element("rows"));
});

void test("a comparison and a kubectl command name the resource completely", () => {
  assert.equal(
    plain(comparisonOf("apps/v1/deployments", a, b)),
    plain("/compare?a=apps/v1/deployments/shop/web-1&b=apps/v1/deployments/shop/web-2"),
  );
  assert.match(comparisonOf("core/v1/nodes", c, c), /&b=core\/v1\/nodes\/_\/node-1$/);
  assert.equal(kubectlCommand("core/v1/pods", a), "kubectl get pods/web-1 -n shop -o yaml");
  assert.equal(kubectlCommand("apps/v1/deployments", a), "kubectl get deployments.v1.apps/web-1 -n shop -o yaml");
  assert.equal(kubectlCommand("core/v1/nodes", c), "kubectl get nodes/node-1 -o yaml");
  // Names of Roles can contain almost any characters.
  assert.equal(
    kubectlCommand("rbac.authorization.k8s.io/v1/roles", { ns: "shop", name: "--server=https://example.com; id" }),
    "kubectl get 'roles.v1.rbac.authorization.k8s.io/--server=https://example.com; id' -n shop -o yaml",
  );
});

void test("an Event links to the object that it regards", () => {
  openPage("/r/core/v1/events");
  const opened: unknown[] = [];
  const kinds = [
    { ref: "core/v1/nodes", kind: "Node", namespaced: false, group: "core" },
    { ref: "core/v1/services", kind: "Service", namespaced: true, group: "core" },
    { ref: "serving.knative.dev/v1/services", kind: "Service", namespaced: true, group: "serving.knative.dev" },
  ];
  const view = { ref: "core/v1/events", open: null };
  const list = {
    table: { marked: new Map() },
    view,
    kind: { ref: view.ref, resource: "events", kind: "Event", namespaced: true },
    picker: { listedKinds: () => kinds },
    openObject: (object: unknown) => opened.push(object),
  } as unknown as ListPage;
  const part = (tag: string, ...children: (Part | string)[]): Part => {
    const e = new Part(tag);
    e.append(...children);
    return e;
  };
  element("table").children[0]?.append(part("tr", part("th", "Reason"), part("th", "Object")));
  const row = (object: string): [HTMLElement, Part] => {
    const cell = part("td", object);
    const tr = part("tr", part("td", "BackOff"), cell);
    Object.assign(tr.dataset, { ns: "default", name: "event-1" });
    element("tbody").replaceChildren(tr);
    return [tr as unknown as HTMLElement, cell];
  };
  const opens = (): string[] =>
    itemsOf(list, { ns: "default", name: "event-1" })
      .map((i) => i.label)
      .filter((label) => /^Open (?!in)/.test(label));

  const [node, nodeCell] = row("node/node-1");
  linkInvolved(list, node);
  assert.equal(nodeCell.querySelector("a")?.getAttribute("href"), "/o/core/v1/nodes/_/node-1");
  assert.equal(nodeCell.textContent, "node/node-1");
  assert.deepEqual(opens(), ["Open Node node-1"]);
  itemsOf(list, { ns: "default", name: "event-1" })[0]?.run?.();
  assert.deepEqual(opened, [{ ns: "", name: "node-1", ref: "core/v1/nodes" }]);

  const [service, serviceCell] = row("service/web");
  linkInvolved(list, service);
  assert.equal(serviceCell.querySelector("a"), null, "the API group is not clear");
  assert.deepEqual(opens(), ["Open Service web (core)", "Open Service web (serving.knative.dev)"]);

  row("unlisted/web");
  assert.deepEqual(opens(), [], "the viewer cannot list this kind");
  row("node/node-1");
  Object.assign(view, { ref: "core/v1/pods" });
  assert.deepEqual(opens(), [], "only Events regard other objects");
});

const plain = (url: string): string => decodeURIComponent(url);
