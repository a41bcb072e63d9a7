// The dashboard restarts while its page is open.
//
// Invariant: I38.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { browse, newPage, openLive, row, status } from "./browser.mjs";
import { configMap, create, namespace, patch, remove } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { atEnd } from "./cleanup.mjs";
import { until } from "./wait.mjs";

await test("a restart", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  const where = `/api/v1/namespaces/${ns}/configmaps`;
  for (const name of ["to-delete", "to-keep"]) await create(where, configMap(name));

  await t.test("is reported at once, and missed changes arrive afterwards", async (t) => {
    const page = await newPage(t, browser, {
      allow: [/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/],
    });
    await openLive(page, `${dashboard.url}r/core/v1/configmaps?ns=${ns}&open=${ns}/to-keep&tab=yaml`);
    await until("the rows of the list", () => row(page, "to-delete"));
    await page.locator("#panel .line", { hasText: "name: to-keep" }).waitFor();
    await page.evaluate(() => {
      window.e2e.same = true;
    });
    await dashboard.stop();
    const ended = Date.now();
    await page.locator('#status[data-state="bad"]').waitFor({ timeout: 2000 });
    t.diagnostic(`reported ${Date.now() - ended} ms after the end`);
    assert.match(await status(page), /^Connection lost at \d\d:\d\d:\d\d/);
    assert.match(await page.locator("#panel .status").innerText(), /^Connection lost/);
    assert.match(await page.locator("#banner").innerText(), /out of date/);
    assert.ok(await row(page, "to-delete"), "known rows are still shown");
    assert.equal(await page.locator("#picker-groups[data-stale]").count(), 1, "the counts are marked as stale");

    await remove(`${where}/to-delete`);
    await create(where, configMap("during-outage"));
    await patch(`${where}/to-keep`, { data: { meanwhile: "yes" } });
    await dashboard.run("admin", dashboard.port);
    const back = Date.now();
    await page.locator('#status[data-state="live"]').waitFor({ timeout: 30_000 });
    t.diagnostic(`live ${Date.now() - back} ms after the start`);
    await until("the row that was created during the outage", () => row(page, "during-outage"));
    await until("the row of the deleted object to disappear", async () => (await row(page, "to-delete")) === undefined);
    assert.equal((await row(page, "to-keep")).Data, "1");
    await page.locator("#panel .line", { hasText: "meanwhile:" }).waitFor();
    assert.equal(await page.locator("#banner").isHidden(), true);
    assert.equal(await page.locator("#picker-groups[data-stale]").count(), 0);
    await create(where, configMap("later"));
    await until("the row that was created after the restart", () => row(page, "later"));
    assert.equal(await page.evaluate(() => window.e2e.same), true, "the page is not reloaded");
  });

  await t.test("an interrupted connection resumes from its cursor", async (t) => {
    const page = await newPage(t, browser);
    let [down, cut, requests, received] = [false, () => {}, [], []];
    await page.routeWebSocket(/\/api\/v1\/live(\?|$)/, (ws) => {
      if (down) return void ws.close({ code: 3000 });
      const server = ws.connectToServer();
      cut = () => {
        ws.close({ code: 3000 });
        server.close();
      };
      ws.onMessage((m) => {
        requests.push(JSON.parse(m));
        server.send(m);
      });
      server.onMessage((m) => {
        received.push(...[JSON.parse(m)].flat());
        ws.send(m);
      });
    });
    await create(where, configMap("to-delete-offline"));
    await openLive(page, `${dashboard.url}r/core/v1/configmaps?ns=${ns}`);
    await until("the rows of the list", () => row(page, "to-delete-offline"));
    const { Data } = await row(page, "to-keep");
    down = true;
    cut();
    await page.locator("#status", { hasText: "Connection lost at" }).waitFor();
    await patch(`${where}/to-keep`, { data: { cut: "yes" } });
    await remove(`${where}/to-delete-offline`);
    assert.equal((await row(page, "to-keep")).Data, Data);
    [down, requests, received] = [false, [], []];
    await page.locator('#status[data-state="live"]').waitFor({ timeout: 30_000 });
    await until(
      "the cell that changed while disconnected",
      async () => (await row(page, "to-keep")).Data === String(Number(Data) + 1),
    );
    await until(
      "the row that was deleted while disconnected to disappear",
      async () => (await row(page, "to-delete-offline")) === undefined,
    );
    const subscribed = requests.filter((m) => m.op === "subscribe" && m.resource === "core/v1/configmaps");
    assert.deepEqual(
      subscribed.map((m) => typeof m.cursor),
      ["string"],
    );
    assert.deepEqual(
      received.filter((m) => m.id === subscribed[0].id && ["reset", "snapshot"].includes(m.type)),
      [],
    );
    assert.equal(await page.locator("#reloads").isHidden(), true, "the list is not reloaded");
  });

  // Browsers open TCP connections in advance. The shutdown must not wait for them.
  await t.test("an idle connection does not delay the shutdown", async (t) => {
    const socket = connect(dashboard.port, "127.0.0.1");
    atEnd(t, () => socket.destroy());
    await once(socket, "connect");
    socket.on("error", () => {});
    const startTime = Date.now();
    await dashboard.stop();
    assert.ok(Date.now() - startTime < 4000, `the shutdown took ${Date.now() - startTime} ms`);
  });
});
