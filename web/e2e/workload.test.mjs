// The panel of a workload: its pods, logs, events and revisions.
//
// Invariant: I37.

import assert from "node:assert/strict";
import { test } from "node:test";
import { violations } from "./axe.mjs";
import { browse, newPage, openLive } from "./browser.mjs";
import { create, deployment, namespace, patch, read } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { become, until } from "./wait.mjs";

const strategic = { type: "application/strategic-merge-patch+json" };

await test("workload", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  const where = `/apis/apps/v1/namespaces/${ns}/deployments`;
  await create(where, deployment("web", 2));
  const podsOf = async () => (await read(`/api/v1/namespaces/${ns}/pods`)).items;
  await until("two running pods", async () => {
    const pods = await podsOf();
    return pods.length === 2 && pods.every((p) => p.status.containerStatuses?.[0].ready);
  });
  const open = async (t, more = "", options) => {
    const page = await newPage(t, browser, options);
    await openLive(page, `${dashboard.url}r/apps/v1/deployments?ns=${ns}&open=${ns}/web${more}`);
    return page;
  };
  const names = (page) => page.locator(".pods tbody th a").allInnerTexts();

  await t.test("pods and replicas are live, and the worst pod is the cause", async (t) => {
    const page = await open(t);
    const pods = (await podsOf()).map((p) => p.metadata.name);
    await become("the names of the pods", async () => (await names(page)).sort(), pods.sort());
    await become("the shown replicas", () => page.locator(".replicas").innerText(), "2 of 2 ready");
    assert.deepEqual(await violations(page), []);

    const at = new Date(Date.now() - 60_000).toISOString().replace(/\.\d+/, "");
    const [bad] = pods;
    await patch(
      `/api/v1/namespaces/${ns}/pods/${bad}/status`,
      {
        status: {
          conditions: [{ type: "Ready", status: "False", reason: "ContainersNotReady", lastTransitionTime: at }],
          containerStatuses: [
            {
              name: "main",
              image: "registry.example.com/e2e:1",
              imageID: "",
              ready: false,
              restartCount: 7,
              state: { waiting: { reason: "CrashLoopBackOff", message: "back-off 5m0s" } },
              lastState: { terminated: { exitCode: 3, reason: "Error", startedAt: at, finishedAt: at } },
            },
          ],
        },
      },
      strategic,
    );
    await become("the name of the first pod", async () => (await names(page))[0], bad);
    await page.locator(".replicas", { hasText: "1 of 2 ready, 1 failed" }).waitFor();
    await page.locator(".health", { hasText: `Pod ${bad}` }).waitFor();
    assert.match(await page.locator(".health").innerText(), /CrashLoopBackOff.*last exit 3/s);
    assert.deepEqual(await violations(page), []);
    await page.locator(".previous-log").click();
    await become(
      "the parameter of the previous log in the URL",
      () => new URL(page.url()).searchParams.get("previous"),
      "true",
    );
    assert.equal(new URL(page.url()).searchParams.get("open"), `core/v1/pods/${ns}/${bad}`);
    assert.equal(await page.locator("#heading").innerText(), "Deployments", "the list stays");
    await page.goBack();
    await page.locator(".pods").waitFor();
  });

  await t.test("names and kubectl commands can be copied", async (t) => {
    const page = await open(t, "", { permissions: ["clipboard-read", "clipboard-write"] });
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await page.getByRole("button", { name: "Copy Namespace/name" }).click();
    await become("the copied name", copied, `${ns}/web`);
    await page.locator(".kubectl summary").click();
    await page.getByRole("button", { name: "Copy the kubectl command: Describe" }).click();
    await become("the copied command", copied, `kubectl describe deployment/web -n ${ns}`);
  });

  await t.test("the key l opens the merged logs, and P those of previous runs", async (t) => {
    const page = await open(t);
    await page.locator(".pods").waitFor();
    await page.keyboard.press("l");
    await page.locator(".log-foot .status", { hasText: /^(Following|Ended|Loading)/ }).waitFor();
    await until("lines of two pods", async () => {
      const sources = await page.locator(".log-source").evaluateAll((all) => all.map((e) => e.title));
      return new Set(sources).size === 2;
    });
    const line = (await page.locator(".log-line").first().textContent()).slice(-10);
    await page.getByLabel("Show only lines with this text").fill(line);
    await until("only lines that contain the text", async () => {
      const texts = await page.locator(".log-line").allTextContents();
      return texts.length > 0 && texts.every((text) => text.toLowerCase().includes(line.trim().toLowerCase()));
    });
    await until("the filter to report the number of lines", async () =>
      /^\d+ of \d+ lines$/.test(await page.locator(".log-filter .filtered").innerText()),
    );
    assert.deepEqual(await violations(page), []);
    await page.getByLabel("Show only lines with this text").press("Escape");
    await page.keyboard.press("P");
    await become(
      "the parameter of previous runs in the URL",
      () => new URL(page.url()).searchParams.get("previous"),
      "true",
    );
    await page.keyboard.press("P");
    await become(
      "the parameter of previous runs in the URL",
      () => new URL(page.url()).searchParams.get("previous"),
      null,
    );
  });

  await t.test("events of the workload, its ReplicaSets and its pods are merged", async (t) => {
    const page = await open(t, "&tab=events");
    const regarding = async () =>
      new Set((await page.locator(".events .regarding").allInnerTexts()).map((text) => text.trim().split("/")[0]));
    await until("events of Deployment and ReplicaSet", async () => {
      const kinds = await regarding();
      return kinds.has("deployment") && kinds.has("replicaset");
    });
    assert.deepEqual(await violations(page), []);
    await page.locator(".events .regarding a", { hasText: "replicaset/" }).first().click();
    await page.locator("#panel h2", { hasText: `${ns}/web-` }).waitFor();
  });

  await t.test("revisions show their images, and the differences between two", async (t) => {
    const page = await open(t);
    const rows = page.locator(".rollouts tbody tr:not(.revision-diff)");
    await become("the number of revisions", () => rows.count(), 1);
    await patch(
      `${where}/web`,
      { spec: { template: { spec: { containers: [{ name: "main", image: "registry.example.com/e2e:2" }] } } } },
      strategic,
    );
    await become("the number of revisions", () => rows.count(), 2);
    await until("the latest revision with its image", async () =>
      /2\s*latest\s+e2e:2\s+main 1 → 2/.test(await rows.first().innerText()),
    );
    await rows.first().getByRole("button").click();
    const field = page.locator(".revision-fields .field");
    assert.equal(await field.locator(".path").innerText(), "spec.containers[main].image");
    assert.match(await field.innerText(), /e2e:1[\s\S]*e2e:2/);
    assert.deepEqual(await violations(page), []);
  });

  await t.test("limited users see in one sentence that they cannot list the pods", async (t) => {
    const limited = await Dashboard.start(t, { user: "limited" });
    const page = await newPage(t, browser, { allow: [/status of 403/] });
    await page.goto(`${limited.url}r/apps/v1/deployments?ns=shop`);
    const first = page.locator("#tbody tr[data-name]").first();
    if ((await first.count()) === 0) return;
    await first.click();
    await page.locator(".pods").waitFor();
  });
});
