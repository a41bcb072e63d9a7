// More rows than a page holds: the server keeps them, and nobody can tell.
import assert from "node:assert/strict";
import { test } from "node:test";
import { browse, newPage, openLive, row, table } from "./browser.mjs";
import { configMap, create, namespace, patch, remove } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { become, until } from "./wait.mjs";

await test("windows", { timeout: 180_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t, { flags: ["--page-rows", "300"] });
  const ns = await namespace(t);
  const where = `/api/v1/namespaces/${ns}/configmaps`;
  const name = (i) => `map-${String(i).padStart(4, "0")}`;
  const all = Array.from({ length: 1200 }, (_, i) => i);
  for (let i = 0; i < all.length; i += 30) await Promise.all(all.slice(i, i + 30).map((n) => create(where, configMap(name(n), n % 2 === 0 ? { a: "1" } : { a: "1", b: "2" }))));
  const list = `${dashboard.url}r/core/v1/configmaps?ns=${ns}`;
  const names = async (page) => (await table(page)).rows.map((r) => r.Name);
  const scroll = (page, to) => page.evaluate((to) => { const e = document.getElementById("rows"); e.scrollTop = to * (e.scrollHeight - e.clientHeight); }, to);
  const views = (page) => page.wire.flatMap((frame) => { try { return [JSON.parse(frame)].flat().filter((m) => m.op === "subscribe" && m.resource === "core/v1/configmaps").map((m) => m.view); } catch { return []; } });

  await t.test("count, scroll, sort and filter as a table does that holds all rows", async (t) => {
    const page = await newPage(t, browser);
    await openLive(page, list);
    await page.locator("#count", { hasText: "1,201" }).waitFor();
    assert.equal(views(page).at(-1), "window", "the server keeps them");
    assert.equal((await names(page))[0], "kube-root-ca.crt");
    assert.equal(await page.locator("#table").getAttribute("aria-rowcount"), "1202");
    await scroll(page, 1);
    await until("the last rows", async () => (await names(page)).at(-1) === name(1199));
    await scroll(page, 0.5);
    const middle = await until("rows of the middle", async () => { const n = await names(page); return n.length > 30 && n.find((x) => x === name(600)) && n; });
    assert.deepEqual(middle, [...middle].sort(), "in order");
    await page.keyboard.press("End");
    await until("the last row by the keyboard", () => page.evaluate((n) => document.querySelector("#tbody tr[data-active]")?.dataset.name === n, name(1199)));
    await page.locator("#q").fill("map-11");
    await page.locator("#count", { hasText: "100 of 1,201" }).waitFor();
    await until("the filtered rows", async () => { const n = await names(page); return n.length > 0 && n.every((x) => x.startsWith("map-11")); });
    await page.locator("#q").fill("");
    await page.locator("#count", { hasText: /^1,201$/ }).waitFor();
    await page.locator("thead button", { hasText: "Data" }).click();
    await page.locator("thead button", { hasText: "Data" }).click();
    await scroll(page, 0);
    await until("those with most keys first", async () => { const n = await names(page); return n[0] === name(1) && n[1] === name(3); });
    assert.equal(new URL(page.url()).searchParams.get("sort"), "-data");
  });

  await t.test("rows come, change and go; the panel follows", async (t) => {
    const page = await newPage(t, browser);
    await openLive(page, list);
    await until("the rows", () => row(page, name(3)));
    await page.mouse.move(700, 20);
    await patch(`${where}/${name(3)}`, { data: { c: "3" } }, { manager: "e2e-painter" });
    await until("the cell", async () => (await row(page, name(3)))?.Data === "3");
    assert.match(await page.locator(`#tbody tr[data-name="${name(3)}"] td`).first().getAttribute("title"), /^2 → 3\nChanged .* by e2e-painter$/);
    await create(where, configMap("a-first"));
    await until("the new one", async () => (await names(page))[0] === "a-first");
    await page.locator("#count", { hasText: "1,202" }).waitFor();
    await remove(`${where}/a-first`);
    await become("the first", async () => (await names(page))[0], "kube-root-ca.crt");
    await page.locator(`#tbody tr[data-name="${name(5)}"] td`).last().click();
    await page.locator("#panel h2", { hasText: name(5) }).waitFor();
    // Far away and back: the page asks for what is looked at.
    await scroll(page, 0.9);
    await until("other rows", async () => (await names(page)).includes(name(1075)));
    await scroll(page, 0);
    await until("the first rows", async () => (await names(page)).includes(name(5)));
    await dashboard.restart();
    await page.locator('#status[data-state="live"]').waitFor();
    await patch(`${where}/${name(7)}`, { data: { c: "3" } });
    await until("what changes after a restart", async () => (await row(page, name(7)))?.Data === "3");
  });
});
