// The charts of a list and of a workload load uPlot only when they are visible. They show the data of the server.
//
// Invariant: I35.

import assert from "node:assert/strict";
import { test } from "node:test";
import { violations } from "./axe.mjs";
import { browse, newPage, openLive } from "./browser.mjs";
import { create, deployment, namespace, patch, read } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { become, until } from "./wait.mjs";

const strategic = { type: "application/strategic-merge-patch+json" };
async function violationsInBothThemes(page) {
  const found = [];
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    found.push(...(await violations(page)).map((rule) => `${colorScheme}: ${rule}`));
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
  return found;
}

const shots = process.env["SHOTS"];
async function shoot(page, name) {
  if (!shots) return;
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: `${shots}/${name}-${colorScheme}.png` });
  }
  await page.emulateMedia({ colorScheme: null });
}

await test("charts", { timeout: 400_000 }, async (t) => {
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
  const restart = async (pod, count) => {
    const [status] = pod.status.containerStatuses;
    await patch(
      `/api/v1/namespaces/${ns}/pods/${pod.metadata.name}/status`,
      { status: { containerStatuses: [{ ...status, restartCount: count }] } },
      strategic,
    );
  };
  const warn = (kind, name, reason) =>
    create(`/api/v1/namespaces/${ns}/events`, {
      metadata: { generateName: "warning-" },
      type: "Warning",
      reason,
      message: "A test",
      count: 1,
      lastTimestamp: new Date().toISOString().replace(/\.\d+/, ""),
      involvedObject: { apiVersion: kind === "Pod" ? "v1" : "apps/v1", kind, namespace: ns, name },
    });
  const loadsPlot = (page) =>
    page.evaluate(() => performance.getEntriesByType("resource").some((r) => /\/plot-\w+\.js/.test(r.name)));
  const sentence = (page, title) =>
    page.locator("figure.chart", { hasText: title }).locator(".chart-sentence").innerText();

  await t.test("a list shows restarts and warnings of its objects, live", async (t) => {
    const page = await newPage(t, browser);
    await openLive(page, `${dashboard.url}r/core/v1/pods?ns=${ns}`);
    const row = page.locator("#tbody tr[data-name]").first();
    const before = await row.boundingBox();
    const button = page.getByRole("button", { name: "Charts" });
    assert.equal(await button.getAttribute("aria-expanded"), "false");
    assert.equal(await loadsPlot(page), false, "uPlot is not loaded before a chart is visible");
    await page.keyboard.press("m");
    assert.equal(await button.getAttribute("aria-expanded"), "true");
    await page.locator("#charts canvas").nth(1).waitFor();
    assert.deepEqual(await row.boundingBox(), before, "the rows stay in place");
    assert.match(
      await sentence(page, "Container restarts"),
      /^No restarts since \d\d:\d\d:\d\d, when the data starts\.$/,
    );

    const [pod] = await podsOf();
    await restart(pod, 3);
    await warn("Pod", pod.metadata.name, "BackOff");
    await warn("Deployment", "web", "Other");
    await until("the chart to show three restarts", async () =>
      /^3 restarts since/.test(await sentence(page, "Container restarts")),
    );
    await until("the chart to show one warning", async () =>
      /^1 warning since/.test(await sentence(page, "Warning events of Pods")),
    );
    assert.deepEqual(await violationsInBothThemes(page), []);
    await shoot(page, "list");

    const figure = page.locator("figure.chart").first();
    await figure.locator(".plot").focus();
    await page.keyboard.press("End");
    await until("the value of the newest time slice", async () =>
      /restarts \d/.test(await figure.locator("output").innerText()),
    );
    await page.keyboard.press("Home");
    await until("a time slice without data", async () =>
      /restarts no data/.test(await figure.locator("output").innerText()),
    );
    assert.equal(await figure.locator(".chart-table tbody tr").count(), 30);

    await page.locator("#q").fill("no-such-pod");
    await until("no restarts with a filter that matches no pod", async () =>
      /^No restarts/.test(await sentence(page, "Container restarts")),
    );
    await page.reload();
    await page.locator("#charts canvas").nth(1).waitFor();
    await page
      .locator("#rows")
      .focus()
      .catch(() => {});
    await page.getByRole("button", { name: "Charts" }).click();
    await page.locator("#charts").waitFor({ state: "hidden" });
  });

  await t.test("a list of Deployments counts the restarts of their pods", async (t) => {
    const page = await newPage(t, browser);
    await openLive(page, `${dashboard.url}r/apps/v1/deployments?ns=${ns}`);
    await page.getByRole("button", { name: "Charts" }).click();
    await page.locator("#charts canvas").nth(1).waitFor();
    await until("the restarts before the page was opened", async () =>
      /^3 restarts/.test(await sentence(page, "Container restarts")),
    );
    await until("the chart to show both warnings", async () =>
      /^2 warnings/.test(await sentence(page, "Warning events of Deployments and their pods")),
    );
    await page.setViewportSize({ width: 700, height: 900 });
    await until("the chart to have the width of its container", async () => {
      const [plot, canvas] = [page.locator("#charts .plot").first(), page.locator("#charts canvas").first()];
      return Math.abs((await plot.boundingBox()).width - (await canvas.boundingBox()).width) < 2;
    });
  });

  await t.test("a workload shows its replicas over time", async (t) => {
    const page = await newPage(t, browser);
    await openLive(page, `${dashboard.url}r/apps/v1/deployments?ns=${ns}&open=${ns}/web`);
    const chart = page.locator(".replica-chart");
    await chart.locator("canvas").waitFor();
    await until("the chart to show the current replicas", async () =>
      /^2 of 2 ready/.test(await chart.locator(".chart-sentence").innerText()),
    );
    await patch(`${where}/web`, { spec: { replicas: 4 } });
    await until("the chart to show four replicas", async () =>
      /^4 of 4 ready/.test(await chart.locator(".chart-sentence").innerText()),
    );
    await chart.locator(".chart-legend", { hasText: "Spec changed" }).waitFor();
    assert.match(await chart.locator(".chart-table").textContent(), /Spec changed at \d\d:\d\d:\d\d by e2e/);
    assert.deepEqual(await violationsInBothThemes(page), []);
    await shoot(page, "workload");
  });

  await t.test("a viewer without permission sees why there are no warnings", async (t) => {
    const limited = await Dashboard.start(t, { user: "limited" });
    const page = await newPage(t, browser, { allow: [/status of 403/] });
    await page.goto(`${limited.url}r/core/v1/pods?ns=${ns}`);
    await page.locator("#status").waitFor();
    await page.getByRole("button", { name: "Charts" }).click();
    await become(
      "the presence of text in the charts",
      async () => (await page.locator("#charts").innerText()) !== "",
      true,
    );
    await until("the reason for the missing warnings", async () =>
      /forbidden|restarts|warnings/i.test(await page.locator("#charts").innerText()),
    );
  });
});
