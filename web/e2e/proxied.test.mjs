// The idle timeout of nginx is 20 s here, longer than the heartbeat interval (15 s). The default of nginx is 60 s.
//
// Invariant: I46.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { browse, newPage, openLive, row, status } from "./browser.mjs";
import { configMap, create, namespace } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { proxy } from "./nginx.mjs";
import { until } from "./wait.mjs";

const timeout = 20; // idle timeout of nginx, in seconds
const base = "/tools/glasshouse";

await test("behind nginx", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t, { flags: ["--base-path", base] });
  const nginx = await proxy(t, `127.0.0.1:${dashboard.port}`, { base, timeout });
  const ns = await namespace(t);
  const where = `/api/v1/namespaces/${ns}/configmaps`;
  await create(where, configMap("existing"));

  await t.test("lists and objects work", async (t) => {
    const page = await newPage(t, browser);
    await openLive(page, `${nginx.url}r/core/v1/configmaps?ns=${ns}`);
    await until("the row of the list", () => row(page, "existing"));
    await create(where, configMap("first"));
    await until("the row of the new object", () => row(page, "first"));
    await page.locator('#tbody tr[data-name="existing"] a').first().click();
    await page.locator('#panel .status[data-state="live"]').waitFor({ state: "attached" });
    assert.ok(page.url().startsWith(nginx.url), page.url());
  });

  await t.test("an idle page is not dropped", async (t) => {
    const page = await newPage(t, browser);
    let sockets = 0;
    page.on("websocket", () => sockets++);
    await openLive(page, `${nginx.url}r/core/v1/configmaps?ns=${ns}`);
    await until("the row of the list", () => row(page, "existing"));
    await page.evaluate(() => {
      window.e2e.states = [];
      const status = document.querySelector("#status");
      new MutationObserver(() => window.e2e.states.push(status.dataset.state)).observe(status, {
        attributes: true,
        attributeFilter: ["data-state"],
      });
    });
    await pause(3.5 * timeout * 1000);
    assert.deepEqual(await page.evaluate(() => window.e2e.states.filter((s) => s !== "live")), []);
    assert.equal(sockets, 1, "the page opens only one connection");
    assert.match(await status(page), /^Live/);
    await create(where, configMap("late"));
    await until("the row that was created after the idle time", () => row(page, "late"));
    assert.doesNotMatch(nginx.log(), /timed out/);
  });
});
