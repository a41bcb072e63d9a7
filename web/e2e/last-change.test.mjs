// The column "Last change": who last changed the specification of each object of a list.
//
// Invariant: I3, I30.
import assert from "node:assert/strict";
import { test } from "node:test";
import { browse, newPage, openLive, row, table } from "./browser.mjs";
import { create, deployment, namespace, patch } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { openLink, share } from "./sharing.mjs";
import { become, until } from "./wait.mjs";

await test("the column Last change", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  const where = `/apis/apps/v1/namespaces/${ns}/deployments`;
  for (const name of ["api", "web"]) await create(where, deployment(name, 1), { manager: "e2e-maker" });
  const list = `${dashboard.url}r/apps/v1/deployments?ns=${ns}`;
  const wide = { viewport: { width: 1920, height: 900 } };
  // Records the requests of the column.
  const open = async (t, address, options) => {
    const page = await newPage(t, browser, options);
    const requests = [];
    page.on("request", (r) => r.url().includes("/api/v1/last-changes/") && requests.push(r.url()));
    await openLive(page, address);
    return { page, requests };
  };
  const authorOf = async (page, name) => (await row(page, name))?.["Last change"]?.replace(/, \S+$/, "");
  // Waits for the next second. managedFields contain times in full seconds, so changes in one second have equal times.
  const second = () => {
    const now = () => Math.floor(Date.now() / 1000);
    const startTime = now();
    return until("the next second", () => now() > startTime);
  };

  await t.test("shows the authors, and each new author at once", async (t) => {
    const { page, requests } = await open(t, list, wide);
    await become("the author of web", () => authorOf(page, "web"), "e2e-maker");
    assert.equal((await table(page)).head.at(-1), "Last change");
    assert.match((await row(page, "web"))["Last change"], /^e2e-maker, \d+[smhd]/);
    await second();
    await patch(`${where}/web`, { spec: { replicas: 2 } }, { manager: "e2e-editor" });
    await become("the new author of web", () => authorOf(page, "web"), "e2e-editor");
    assert.equal(await authorOf(page, "api"), "e2e-maker");

    // A label is not part of the specification.
    await second();
    await patch(`${where}/web`, { metadata: { labels: { "example.com/tier": "front" } } }, { manager: "e2e-labeller" });
    await second();
    await patch(`${where}/api`, { spec: { replicas: 2 } }, { manager: "e2e-other" });
    await become("the new author of api", () => authorOf(page, "api"), "e2e-other");
    assert.equal(await authorOf(page, "web"), "e2e-editor");
    assert.equal(requests.length, 1, "the page read the authors once");

    const cell = page.locator('#tbody tr[data-name="web"] td').last();
    await cell.hover();
    await become(
      "the tooltip",
      async () => /^Last write by e2e-editor, .*\d\d:\d\d:\d\d$/.test(await cell.getAttribute("title")),
      true,
    );
    await page.locator("#table thead button", { hasText: "Last change" }).click();
    const names = async () => (await table(page)).rows.map((r) => r.Name);
    await become("the order by age", names, ["api", "web"]);
    await page.locator("#table thead button", { hasText: "Last change" }).click();
    await become("the reverse order", names, ["web", "api"]);
    await second();
    await patch(`${where}/api`, { spec: { replicas: 1 } }, { manager: "e2e-latest" });
    await become("the latest author of api", () => authorOf(page, "api"), "e2e-latest");
    await page.reload();
    await become("the reverse order after a reload", names, ["web", "api"]);
    await become("the author after a reload", () => authorOf(page, "web"), "e2e-editor");
    assert.equal(await authorOf(page, "api"), "e2e-latest", "the server sends the latest author");
  });

  await t.test("is a choice in the list of columns, and leaves space to the other columns", async (t) => {
    const { page, requests } = await open(t, list, { viewport: { width: 1024, height: 700 } });
    await until("the request of the authors", () => requests.length > 0);
    await page.locator("#columns").click();
    const choice = page.getByRole("checkbox", { name: "Last change" });
    await choice.check();
    await page.keyboard.press("Escape");
    await become("the columns", async () => (await table(page)).head.includes("Last change"), true);
    await page.reload();
    await become("the author after a reload", () => authorOf(page, "api"), "e2e-latest");
    assert.equal(await page.getByText("No column").count(), 0, "the page knows the column");
  });

  await t.test("does not exist for guests and for pods", async (t) => {
    const { page: host } = await open(t, list, wide);
    await become("the author of web", () => authorOf(host, "web"), "e2e-editor");
    const url = await share(host);
    const guest = await newPage(t, browser, wide);
    const requests = [];
    guest.on("request", (r) => r.url().includes("/api/v1/last-changes/") && requests.push(r.url()));
    await openLink(guest, url);
    const pods = await open(t, `${dashboard.url}r/core/v1/pods?ns=${ns}`, wide);
    // The page of a guest loads the code of the column after a second.
    await guest.waitForFunction(() =>
      performance.getEntriesByType("resource").some((e) => /last-change-/.test(e.name)),
    );
    await pods.page.waitForFunction(() =>
      performance.getEntriesByType("resource").some((e) => /last-change-/.test(e.name)),
    );
    await guest.waitForTimeout(2000);
    for (const page of [guest, pods.page]) assert.equal((await table(page)).head.includes("Last change"), false);
    assert.deepEqual([requests, pods.requests], [[], []]);
    assert.equal((await guest.content()).includes("e2e-editor"), false);
    assert.equal(
      guest.wire.some((text) => text.includes("e2e-editor")),
      false,
    );
  });
});
