// Invariant: I31.
import assert from "node:assert/strict";
import { test } from "node:test";
import { browse, newPage, openLive } from "./browser.mjs";
import { create, namespace, remove } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { become, until } from "./wait.mjs";

const columns = [
  "Resource",
  "Scope",
  "State",
  "Objects",
  "Readers",
  "Cache",
  "History",
  "Last event",
  "Relists",
  "Reconnects",
  "Resyncs",
  "Gaps",
];
const scopes = (page) =>
  page.evaluate(() => {
    const head = [...document.querySelectorAll(".watch-status thead th")].map((th) => th.textContent);
    return [...document.querySelectorAll("#scopes tr")].map((tr) =>
      Object.fromEntries([...tr.children].map((td, i) => [head[i], td.textContent])),
    );
  });
const limitRanges = async (page) => (await scopes(page)).find((s) => s.Resource.startsWith("LimitRanges"));

await test("status", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);

  await t.test("reports that nothing is watched, then the watches that pages start", async (t) => {
    const page = await newPage(t, browser);
    // Read the HTML without running its script. The server watches nothing yet.
    const html = await (await page.request.get(`${dashboard.url}status`, { headers: { accept: "text/html" } })).text();
    assert.match(html, /<h2>Nothing is watched<\/h2>/);
    assert.doesNotMatch(html, /<tbody id="scopes"><tr/);
    await page.goto(`${dashboard.url}status`);
    await become("the status", () => page.locator("#status").innerText(), "Updated every 2 s");

    const list = await newPage(t, browser);
    await openLive(list, `${dashboard.url}r/core/v1/limitranges`);
    const seen = await until("the row of the watched resource, with its reader", async () => {
      const one = await limitRanges(page);
      return one?.Readers === "1" && /^Live/.test(one.State) && one;
    });
    assert.deepEqual(Object.keys(seen), columns);
    assert.match(seen.State, /^Live for \d+s$/);
    assert.deepEqual([seen.Scope, seen.Readers, seen.Gaps], ["all", "1", "none"]);
    assert.ok(await page.locator("#note").isHidden());

    const before = Number(seen.Objects);
    const where = `/api/v1/namespaces/${ns}/limitranges`;
    await create(where, { metadata: { name: "counted" }, spec: { limits: [{ type: "Pod", max: { cpu: "1" } }] } });
    await become("the number of objects", async () => (await limitRanges(page)).Objects, String(before + 1));
    await until(
      "the shown time to increase",
      async () => parseInt((await limitRanges(page)).State.slice("Live for ".length), 10) >= 2,
    );
    await remove(`${where}/counted`);
    await become("the number of objects", async () => (await limitRanges(page)).Objects, String(before));

    await page
      .locator("#scopes a")
      .filter({ hasText: /^LimitRanges$/ })
      .click();
    await page.locator('#status[data-state="live"]', { hasText: "Live" }).waitFor();
    await page.locator("#connection").click();
    await page.getByRole("link", { name: "Watch status" }).filter({ visible: true }).click();
    await page.locator("#heading", { hasText: "Watch status" }).waitFor();
  });

  await t.test("without script, it shows the time of its data", async (t) => {
    const page = await newPage(t, browser, { javaScriptEnabled: false });
    await page.goto(`${dashboard.url}status`);
    assert.match(await page.locator("#asof").innerText(), /^As of \d{4}-/);
    assert.match(await page.locator("#scopes tr", { hasText: "LimitRanges" }).innerText(), /Live for/);
    assert.doesNotMatch(await page.locator("#status").innerText(), /Live|Updated/);
  });

  await t.test("an unreachable Glasshouse is reported, and its data is not shown as current", async (t) => {
    const allow = [/ERR_CONNECTION_REFUSED/, /WebSocket/, /Failed to load resource/];
    const restarted = await Dashboard.start(t);
    const page = await newPage(t, browser, { allow });
    await page.goto(`${restarted.url}status`);
    await become("the status", () => page.locator("#status").innerText(), "Updated every 2 s");
    await restarted.stop();
    await page.locator('#status[data-state="bad"]', { hasText: "No updates since" }).waitFor();
    assert.match(await page.locator("#banner").innerText(), /Data may be out of date/);
    await restarted.run("admin", restarted.port);
    await become("the status", () => page.locator("#status").innerText(), "Updated every 2 s");
    assert.ok(await page.locator("#banner").isHidden());
  });
});
