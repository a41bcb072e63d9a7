import assert from "node:assert/strict";
import { test } from "node:test";
import { page } from "../fake-page.ts";
import { browser, element, openPage } from "../fake-app.ts";
import { comparisonOf, runRowCommand } from "../../static/src/list/row-actions.ts";
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

const plain = (url: string): string => decodeURIComponent(url);
