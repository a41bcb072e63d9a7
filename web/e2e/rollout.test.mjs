// A new image rolls out while pages are open.
//
// Invariant: I1.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { browse, newPage, openLive, row, table } from "./browser.mjs";
import { create, deployment, namespace, patch, read } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { become, until } from "./wait.mjs";

// This function runs in the page. It records which rows were shown, marked as added, or marked as deleted.
function noteRows() {
  const note = (window.e2e.rows = { seen: [], fadedIn: [], struck: [] });
  const record = () => {
    for (const tr of document.querySelectorAll("#tbody tr[data-name]")) {
      const lists = [
        tr.hasAttribute("data-gone") ? note.struck : note.seen,
        ...(tr.hasAttribute("data-added") ? [note.fadedIn] : []),
      ];
      for (const list of lists) if (!list.includes(tr.dataset.name)) list.push(tr.dataset.name);
    }
  };
  new MutationObserver(record).observe(document.getElementById("tbody"), {
    subtree: true,
    childList: true,
    attributes: true,
  });
  record();
}

await test("a rollout is shown live", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  const where = `/apis/apps/v1/namespaces/${ns}/deployments`;
  const web = deployment("web", 3);
  web.spec.strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } };
  await create(where, web);

  const deployments = await newPage(t, browser);
  await openLive(deployments, `${dashboard.url}r/apps/v1/deployments?ns=${ns}`);
  const pods = await newPage(t, browser);
  await openLive(pods, `${dashboard.url}r/core/v1/pods?ns=${ns}&cols=wide`);
  const shown = async () => (await table(pods)).rows.map((r) => [r.Name, r.Ready, r.Status, r.IP, r.Node]);
  const listed = async () => {
    const { items } = await read(`/api/v1/namespaces/${ns}/pods`);
    return items
      .map(({ metadata, spec, status }) => [
        metadata.name,
        `${status.containerStatuses?.filter((c) => c.ready).length ?? 0}/${spec.containers.length}`,
        status.phase,
        status.podIP,
        spec.nodeName,
      ])
      .sort(([a], [b]) => (a < b ? -1 : 1));
  };
  const ready = (r) => r?.Ready === "3/3" && r["Up-to-date"] === "3" && r.Available === "3";
  await until(
    "three ready pods",
    async () => ready(await row(deployments, "web")) && (await shown()).filter((r) => r[1] === "1/1").length === 3,
  );
  const old = (await listed()).map(([name]) => name);

  await deployments.evaluate(() => {
    window.e2e.marked = [];
  });
  await pods.evaluate(noteRows);
  await patch(
    `${where}/web`,
    { spec: { template: { spec: { containers: [{ name: "main", image: "registry.example.com/e2e:2" }] } } } },
    { type: "application/strategic-merge-patch+json", manager: "e2e-roller" },
  );

  await until(
    "only the new pods",
    async () => {
      const names = (await shown()).map(([name]) => name);
      return names.length === 3 && !names.some((name) => old.includes(name));
    },
    60_000,
  );
  await until("all pods to be ready again", async () => ready(await row(deployments, "web")), 30_000);
  await until("the shown pods to match those of the API server", async () =>
    isDeepStrictEqual(await shown(), await listed()),
  );
  const { items } = await read(`/api/v1/namespaces/${ns}/pods`);
  assert.deepEqual(
    items.map((p) => p.spec.containers[0].image),
    Array.from({ length: 3 }, () => "registry.example.com/e2e:2"),
  );

  const { seen, fadedIn, struck } = await pods.evaluate(() => window.e2e.rows);
  for (const { metadata } of items)
    assert.ok(fadedIn.includes(metadata.name) && !old.includes(metadata.name), `${metadata.name} faded in`);
  await become("the number of rows that fade in", () => pods.locator("#tbody [data-added]").count(), 0);
  for (const name of old)
    assert.ok(
      seen.includes(name) && struck.includes(name),
      `${name} was shown, and was struck through when it was deleted`,
    );
  const marked = (await deployments.evaluate(() => window.e2e.marked)).filter((m) => m.row === "web");
  const by = String.raw`\nChanged \d\d:\d\d:\d\d by kube-controller-manager \(status\)$`;
  for (const change of ["3/3 → 2/3", "2/3 → 3/3", "2 → 3"]) {
    assert.ok(
      marked.some((m) => new RegExp(`^${change}${by}`).test(m.title ?? "")),
      `${change} in ${JSON.stringify(marked)}`,
    );
  }
});
