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
  const open = async (t, address, options) => {
    const page = await newPage(t, browser, options);
    await openLive(page, address);
    return page;
  };
  const authorOf = async (page, name) => (await row(page, name))?.["Last change"]?.replace(/^.* ago by /, "");
  // Waits for the next second. managedFields contain times in full seconds, so changes in one second have equal times.
  const second = () => {
    const now = () => Math.floor(Date.now() / 1000);
    const startTime = now();
    return until("the next second", () => now() > startTime);
  };

  await t.test("shows the authors, and each new author at once", async (t) => {
    const page = await open(t, list, wide);
    await become("the author of web", () => authorOf(page, "web"), "e2e-maker");
    assert.equal((await table(page)).head.at(-1), "Last change");
    assert.match((await row(page, "web"))["Last change"], /^\d+[smhd]\S* ago by e2e-maker$/);
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

    await page.locator("#table thead button", { hasText: "Last change" }).click();
    const names = async () => (await table(page)).rows.map((r) => r.Name);
    await become("the order by age", names, ["api", "web"]);
    await page.locator("#table thead button", { hasText: "Last change" }).click();
    await become("the reverse order", names, ["web", "api"]);
    await page.reload();
    await become("the reverse order after a reload", names, ["web", "api"]);
    await become("the author after a reload", () => authorOf(page, "web"), "e2e-editor");
  });

  await t.test("is a choice in the list of columns, also without the script", async (t) => {
    const page = await open(t, list, { viewport: { width: 1024, height: 700 } });
    await page.locator("#columns").click();
    await page.getByRole("checkbox", { name: "Last change" }).check();
    await page.keyboard.press("Escape");
    await become("the columns", async () => (await table(page)).head.includes("Last change"), true);
    const plain = await newPage(t, browser, { javaScriptEnabled: false });
    await plain.goto(page.url());
    assert.match(await plain.locator("#tbody tr", { hasText: "api" }).textContent(), / ago by e2e-other/);
  });

  await t.test("does not exist for guests and for pods", async (t) => {
    const host = await open(t, list, wide);
    await become("the author of web", () => authorOf(host, "web"), "e2e-editor");
    const guest = await newPage(t, browser, wide);
    await openLink(guest, await share(host));
    const pods = await open(t, `${dashboard.url}r/core/v1/pods?ns=${ns}`, wide);
    await until("the rows of the guest", async () => (await row(guest, "web")) !== undefined);
    for (const page of [guest, pods]) assert.equal((await table(page)).head.includes("Last change"), false);
    assert.equal((await guest.content()).includes("e2e-editor"), false);
    assert.equal(
      guest.wire.some((text) => text.includes("e2e-editor")),
      false,
    );
  });
});
