// Invariant: I19.

import assert from "node:assert/strict";
import { test } from "node:test";
import { browse, chooseNamespaces, newPage, openLive, row, table } from "./browser.mjs";
import { create, deployment, namespace, patch, read, remove } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { atEnd } from "./cleanup.mjs";
import { become, until } from "./wait.mjs";

const age = /^(\d+[smhdy])+$/;

await test("live tables", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);

  await t.test(
    "server-rendered rows are visible before the script starts, and the script starts without an animation frame",
    async (t) => {
      const page = await newPage(t, browser);
      // After this visit, the server watches the list. The HTML of the next visit therefore includes rows.
      await openLive(page, `${dashboard.url}r/core/v1/pods`);
      await page.addInitScript(() => {
        const frame = window.requestAnimationFrame;
        window.requestAnimationFrame = () => 0;
        document.addEventListener("DOMContentLoaded", () =>
          setTimeout(() => {
            window.early = {
              rows: document.querySelectorAll("#tbody tr[data-name]").length,
              started: document.documentElement.dataset.started !== undefined,
            };
            window.requestAnimationFrame = frame;
          }, 100),
        );
      });
      await openLive(page, `${dashboard.url}r/core/v1/pods`);
      const early = await page.evaluate(() => window.early);
      assert.ok(early.rows > 20, `${early.rows} rows`);
      assert.equal(early.started, false);
    },
  );

  await t.test("selects a kind, and shows a scale-up live", async (t) => {
    await create(`/apis/apps/v1/namespaces/${ns}/deployments`, deployment("scaled", 1));
    const page = await newPage(t, browser);
    await openLive(page, `${dashboard.url}r/core/v1/pods`);
    await page.evaluate(() => {
      window.e2e.same = true;
    });
    const groups = await page.evaluate(() =>
      Object.fromEntries(
        [...document.querySelectorAll("#picker-groups .group")].map((g) => [
          g.dataset.group,
          [...g.querySelectorAll(".kind")].map((k) => k.textContent),
        ]),
      ),
    );
    for (const kind of ["Pods", "Deployments", "StatefulSets", "DaemonSets", "Jobs", "CronJobs"])
      assert.ok(groups["Workloads"]?.includes(kind), kind);
    assert.ok(groups["Network"]?.includes("Services"));
    assert.deepEqual(groups["data.example.com"], ["Backups"]);
    assert.deepEqual(groups["shop.example.com"], ["FeatureFlags"]);

    await page.locator("#picker a", { hasText: /^Deployments\d*$/ }).click();
    await page.waitForURL(/\/r\/apps\/v1\/deployments$/);
    await chooseNamespaces(page, ns);
    await page.waitForURL(new RegExp(`ns=${ns}$`));
    await until("the first pod to be ready", async () => (await row(page, "scaled"))?.Ready === "1/1");
    const usual = ["Name", "Why", "Ready", "Up-to-date", "Available", "Age"];
    const fitting = ["Containers", "Images", "Selector", "Last change"];
    await become("the columns of a wide page", async () => (await table(page)).head, [...usual, ...fitting]);
    await page.setViewportSize({ width: 820, height: 900 });
    await become("the columns of a narrow page", async () => (await table(page)).head, usual);
    await page.setViewportSize({ width: 1440, height: 900 });
    await become("the columns of a wide page", async () => (await table(page)).head, [...usual, ...fitting]);
    // Wait for the row, because rows are drawn one frame after the header.
    assert.match((await until("the row of the scaled Deployment", () => row(page, "scaled"))).Age, age);

    await page.evaluate(() => {
      window.e2e.marked = [];
    });
    await patch(`/apis/apps/v1/namespaces/${ns}/deployments/scaled/scale`, { spec: { replicas: 3 } });
    await until("three ready pods", async () => {
      const r = await row(page, "scaled");
      return r?.Ready === "3/3" && r["Up-to-date"] === "3" && r.Available === "3";
    });
    const marked = await until("the highlight of a changed cell", () =>
      page.evaluate(() => window.e2e.marked.filter((m) => m.row === "scaled")),
    );
    assert.ok(
      marked.some((m) =>
        /^\S+ → \S+\nChanged \d\d:\d\d:\d\d by kube-controller-manager \(status\)$/.test(m.title ?? ""),
      ),
      JSON.stringify(marked),
    );
    await become("the number of highlighted cells", () => page.locator("#tbody [data-changed]").count(), 0);
    assert.equal(await page.evaluate(() => window.e2e.same), true, "the page is not reloaded");
    const { status } = await read(`/apis/apps/v1/namespaces/${ns}/deployments/scaled`);
    assert.equal(status.readyReplicas, 3);
  });

  await t.test("shows the columns of a custom resource, and its added and deleted objects", async (t) => {
    const where = "/apis/data.example.com/v1/namespaces";
    const page = await newPage(t, browser, { viewport: { width: 1000, height: 900 } });
    await openLive(page, `${dashboard.url}r/data.example.com/v1/backups`);
    await until("the rows of the demo cluster", async () => (await table(page)).rows.length > 0);
    assert.deepEqual((await table(page)).head, [
      "Namespace",
      "Name",
      "Why",
      "Source",
      "Schedule",
      "Phase",
      "GiB",
      "Last Run",
      "Age",
    ]);
    await page.keyboard.press("w");
    await become("the wide columns", async () => (await table(page)).head, [
      "Namespace",
      "Name",
      "Why",
      "Source",
      "Schedule",
      "Phase",
      "GiB",
      "Last Run",
      "Target",
      "Age",
      "Last change",
    ]);
    assert.match(page.url(), /cols=wide/);

    await create(`${where}/${ns}/backups`, {
      apiVersion: "data.example.com/v1",
      kind: "Backup",
      metadata: { name: "fresh" },
      spec: { source: "orders", schedule: "0 1 * * *", target: "s3://e2e" },
    });
    await until("the new object", () => row(page, "fresh"));
    const ran = new Date(Date.now() - 30_000).toISOString();
    await patch(`${where}/${ns}/backups/fresh/status`, {
      status: { phase: "Succeeded", sizeGiB: 42, lastRunTime: ran },
    });
    const r = await until("the status of the new object", async () => {
      const r = await row(page, "fresh");
      return r?.GiB === "42" && r;
    });
    assert.deepEqual(
      { ...r, Age: "", "Last Run": "", "Last change": r["Last change"].replace(/^\d+s ago/, "") },
      {
        Namespace: ns,
        Name: "fresh",
        Source: "orders",
        Schedule: "0 1 * * *",
        Phase: "Succeeded",
        GiB: "42",
        "Last Run": "",
        Target: "s3://e2e",
        Age: "",
        "Last change": " by e2e",
        Why: "",
      },
    );
    for (const r of (await table(page)).rows) {
      if (r["Last Run"] !== "" && r["Last Run"] !== "<unknown>") assert.match(r["Last Run"], age);
      assert.match(r.Age, age);
    }
    const before = parseInt((await row(page, "fresh"))["Last Run"], 10);
    assert.ok(before >= 29 && before < 90, `30 s ago is shown as ${before}`);
    await until(
      "the shown age to increase",
      async () => parseInt((await row(page, "fresh"))["Last Run"], 10) >= before + 2,
    );

    await remove(`${where}/${ns}/backups/fresh`);
    await until("the deleted object to disappear", async () => (await row(page, "fresh")) === undefined);
  });

  await t.test("states are colored, and no text is truncated if there is room", async (t) => {
    const page = await newPage(t, browser);
    const severities = () =>
      page.evaluate(() =>
        Object.fromEntries(
          [...document.querySelectorAll("#tbody tr[data-severity] [data-state]")].map((e) => [
            e.textContent,
            e.parentElement.dataset.severity,
          ]),
        ),
      );
    const seen = async (path, q, want) => {
      await openLive(page, `${dashboard.url}${path}?q=${q}`);
      await become(`the severity of ${q}`, severities, want);
      const cut = await page.evaluate(() =>
        // Leave out the column Why, because its long texts end with an ellipsis.
        [...document.querySelectorAll("#tbody :is(td:not(.why), th), #table thead button")]
          .filter((e) => e.scrollWidth > e.clientWidth)
          .map((e) => e.textContent),
      );
      assert.deepEqual(cut, []);
    };
    await seen("r/core/v1/pods", "crashloop", { "0/1": "failed", CrashLoopBackOff: "failed" });
    const crashing = await page
      .locator("#tbody tr[data-severity]")
      .first()
      .evaluate((tr) => {
        const [name, status, why] = ["th", "[data-state]", ".why"].map((s) => tr.querySelector(s));
        const color = (e, pseudo) => getComputedStyle(e, pseudo)[pseudo === undefined ? "color" : "backgroundColor"];
        return { why: why.textContent, colors: [color(status), color(why), color(name, "::before")] };
      });
    assert.match(crashing.why, /^Container .+: CrashLoopBackOff, restarted \d+ times/);
    assert.equal(new Set(crashing.colors).size, 1, `state, reason and shape have the same color: ${crashing.colors}`);
    // Two kinds of objects are progressing at first, and failed after 10 minutes: a pod without a node, and a new node
    // that is not ready.
    const severityAt = (time) => (Date.now() - Date.parse(time) > 600_000 ? "failed" : "progressing");
    const { items } = await read("/api/v1/namespaces/data/pods");
    const { conditions } = items.find((p) => p.metadata.name.startsWith("model-trainer-")).status;
    const pending = severityAt(conditions.find((c) => c.type === "PodScheduled").lastTransitionTime);
    await seen("r/core/v1/pods", "model-trainer-", { "0/1": pending, Pending: pending });
    await seen("r/core/v1/pods", "postgres", {});
    // The text SchedulingDisabled of a node must have no color, because someone requested this state on purpose.
    const node = (await read("/api/v1/nodes")).items.find((n) =>
      n.status.conditions.some((c) => c.type === "Ready" && c.status !== "True"),
    );
    await seen("r/core/v1/nodes", "node", { NotReady: severityAt(node.metadata.creationTimestamp) });
    // Events have no Name column, so the link is in the first column that is not a time.
    await openLive(page, `${dashboard.url}r/core/v1/events?q=warning`);
    await until("the warning events", async () => (await table(page)).rows.length > 0);
    assert.equal(await page.locator('#tbody tr[data-name]:not([data-severity="degraded"])').count(), 0);
    assert.ok(!(await table(page)).head.includes("Why"), "events have no additional Why column");
    for (const r of (await table(page)).rows) assert.match(r["Last Seen"], age);
    assert.equal(await page.locator("#tbody tr a").first().innerText(), "Warning");
  });

  await t.test(
    "a kind installed while the page is open appears in the picker within 2 s, and disappears with its definition",
    async (t) => {
      const name = ns.replace(/-/g, "");
      const crd = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions`;
      const page = await newPage(t, browser);
      await openLive(page, `${dashboard.url}r/core/v1/namespaces`);
      atEnd(t, () => remove(`${crd}/${name}s.${name}.example.com`));
      await create(crd, {
        metadata: { name: `${name}s.${name}.example.com` },
        spec: {
          group: `${name}.example.com`,
          scope: "Cluster",
          names: { kind: "Fleeting", plural: `${name}s`, singular: name },
          versions: [
            {
              name: "v1",
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
            },
          ],
        },
      });
      const served = async () => (await read("/apis")).groups.some((g) => g.name === `${name}.example.com`);
      const link = page.locator(`#picker [data-group="${name}.example.com"] a`);
      await until("the API server to serve the new kind", served);
      await link.waitFor({ timeout: 2000 });
      await link.click();
      await page.locator("#note h2", { hasText: "No " }).waitFor();
      await create(`/apis/${name}.example.com/v1/${name}s`, {
        apiVersion: `${name}.example.com/v1`,
        kind: "Fleeting",
        metadata: { name: "one" },
      });
      await until("the object of the new kind", () => row(page, "one"));
      await remove(`${crd}/${name}s.${name}.example.com`);
      await until("the API server to stop serving the kind", async () => !(await served()));
      await until("the kind to disappear from the picker", async () => (await link.count()) === 0, 2000);
    },
  );
});
