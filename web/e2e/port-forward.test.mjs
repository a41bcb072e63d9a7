// The page uses a real kubectl port-forward.
//
// Invariant: I46.
import assert from "node:assert/strict";
import { test } from "node:test";
import { browse, newPage, openLive, row, status } from "./browser.mjs";
import { configMap, create, namespace, remove } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { Forward, account, containerPort, deploy } from "./deployed.mjs";
import { until } from "./wait.mjs";

await test("through kubectl port-forward", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  deploy(t, "cluster");
  const dashboard = await Dashboard.start(t, { config: await account(t), port: containerPort() });
  const forward = await Forward.start(t);
  const ns = await namespace(t);
  const where = `/api/v1/namespaces/${ns}/configmaps`;
  for (const name of ["to-delete", "to-keep"]) await create(where, configMap(name));

  await t.test("the page opens at once, and Secrets show why they are forbidden", async (t) => {
    const page = await newPage(t, browser);
    await openLive(page, `${forward.url}r/core/v1/configmaps?ns=${ns}`);
    await until("the rows of the list", () => row(page, "to-keep"));
    await create(where, configMap("first"));
    await until("the row of the new object", () => row(page, "first"));
    await page.goto(`${forward.url}r/core/v1/secrets`);
    await page.locator("#status", { hasText: "Forbidden" }).waitFor();
  });

  await t.test("if kubectl ends, the page reports it, and receives missed changes after a restart", async (t) => {
    const page = await newPage(t, browser, {
      allow: [/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/],
    });
    await openLive(page, `${forward.url}r/core/v1/configmaps?ns=${ns}`);
    await until("the rows of the list", () => row(page, "to-delete"));
    await page.evaluate(() => {
      window.e2e.same = true;
    });
    const { port } = forward;
    await forward.kill();
    const ended = Date.now();
    await page.locator('#status[data-state="bad"]').waitFor({ timeout: 5000 });
    t.diagnostic(`reported ${Date.now() - ended} ms after the end`);
    assert.match(await status(page), /^Connection lost at \d\d:\d\d:\d\d/);
    assert.ok(await row(page, "to-delete"), "known rows are still shown");

    await remove(`${where}/to-delete`);
    await create(where, configMap("during-outage"));
    await forward.run(port);
    const back = Date.now();
    await page.locator('#status[data-state="live"]').waitFor({ timeout: 35_000 });
    t.diagnostic(`live ${Date.now() - back} ms after kubectl was there again`);
    await until("the row that was created during the outage", () => row(page, "during-outage"));
    await until("the row of the deleted object to disappear", async () => (await row(page, "to-delete")) === undefined);
    assert.equal(await page.evaluate(() => window.e2e.same), true, "the page is not reloaded");
  });

  await t.test("if the pod's process ends, the page reports it and reconnects", async (t) => {
    const page = await newPage(t, browser, {
      allow: [/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|Connection closed before/],
    });
    await openLive(page, `${forward.url}r/core/v1/configmaps?ns=${ns}`);
    await until("the rows of the list", () => row(page, "to-keep"));
    const { port } = forward;
    await dashboard.stop();
    await page.locator("#status", { hasText: "Connection lost at" }).waitFor();
    await create(where, configMap("later"));
    await dashboard.run(dashboard.user, dashboard.port);
    // kubectl port-forward exits when a connection fails. So start it again, as a user must.
    await forward.kill();
    await forward.run(port);
    await page.locator('#status[data-state="live"]').waitFor({ timeout: 35_000 });
    await until("the row that was created after the restart", () => row(page, "later"));
  });
});
