// Some proxies block WebSockets. The page then works as it does without scripts.
//
// Invariant: I38.
import assert from "node:assert/strict";
import { test } from "node:test";
import { browse, newPage, row, status } from "./browser.mjs";
import { configMap, create, namespace, patch } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { become, until } from "./wait.mjs";

await test("a page whose socket cannot open", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  const where = `/api/v1/namespaces/${ns}/configmaps`;
  const name = (i) => `map-${String(i).padStart(3, "0")}`;
  await Promise.all(
    Array.from({ length: 130 }, (_, i) =>
      create(where, configMap(name(i), { text: "x" }, { labels: { half: String(i % 2) } })),
    ),
  );
  const path = "/r/core/v1/configmaps";
  const list = `${new URL(dashboard.url).origin}${path}?ns=${ns}`;
  await until("all rows to be in the HTML", async () =>
    (await (await fetch(list)).text()).includes("first 100 of 131"),
  );
  const names = (page) => page.locator("#tbody tr[data-name]").evaluateAll((rows) => rows.map((r) => r.dataset.name));
  const offline = (page) => page.locator("html[data-offline]").waitFor();
  const blocked = async (t) => {
    const page = await newPage(t, browser);
    const gate = { shut: true };
    await page.routeWebSocket(/\/api\/v1\/live(\?|$)/, (ws) => void (gate.shut ? ws.close() : ws.connectToServer()));
    return { page, gate };
  };

  await t.test("navigates by links and the form, and reports that it is not live", async (t) => {
    const { page } = await blocked(t);
    await page.goto(list);
    await offline(page);
    assert.equal(await status(page), "Not live");
    await until("the banner to explain why the page is not live", async () =>
      new RegExp(
        "^Not live: Glasshouse responds, but the WebSocket connection is not open yet \\(.+\\)\\. " +
          "Showing data from \\d\\d:\\d\\d:\\d\\d\\.",
      ).test(await page.locator("#banner").innerText()),
    );
    assert.equal((await names(page)).length, 100);
    await page.locator("#q").fill("typed");
    await page.locator(".skip").press("Enter");
    await until("the fragment in the URL", () => new URL(page.url()).hash !== "");
    assert.equal(await page.locator("#q").inputValue(), "typed", "the page is not reloaded");
    await page.locator("#q").fill("");
    await page.locator(".pages a", { hasText: "Next" }).click();
    await become("the name of the first row", async () => (await names(page)).at(0), name(99));
    await offline(page);
    await page.locator("thead a", { hasText: "Name" }).click();
    await page.waitForURL(/sort=name/);
    await offline(page);
    await page.locator("thead a", { hasText: "Name" }).click();
    await page.waitForURL(/sort=-name/);
    await become("the name of the first row", async () => (await names(page))[0], name(129));
    await offline(page);
    await page.locator("#labels").fill("half=1");
    await page.locator("#q").fill("map-00");
    await page.locator("#filters button").click();
    await page.waitForURL(/half/);
    assert.deepEqual(await names(page), [9, 7, 5, 3, 1].map(name));
    await page.locator("#ns").fill("kube-system");
    await page.locator("#ns").press("Enter");
    await page.waitForURL(/ns=kube-system/);
    assert.match(await page.locator("#note").innerText(), /^No ConfigMaps match/, "the text of the server is kept");
    await offline(page);
    await page.locator('#picker a[data-ref="core/v1/namespaces"]').click();
    await page.waitForURL(/core\/v1\/namespaces$/);
  });

  await t.test("opens an object on its own page", async (t) => {
    const { page } = await blocked(t);
    await page.goto(list);
    await offline(page);
    await page
      .locator(`#tbody tr[data-name="${name(3)}"] td`)
      .last()
      .click();
    await page.waitForURL(`**/o/core/v1/configmaps/${ns}/${name(3)}`);
    assert.match(await page.locator("pre.yaml").innerText(), new RegExp(`name: ${name(3)}`));
    assert.match(await page.locator("#asof").innerText(), /^As of/);
    await page.goto(`${list}&open=${ns}/${name(4)}&tab=yaml`);
    await page.locator("#panel a", { hasText: "Open the object's page" }).click();
    await page.waitForURL(`**/o/core/v1/configmaps/${ns}/${name(4)}?tab=yaml`);
    await page.goto(`${list}&open=${ns}/${name(4)}`);
    await page.locator("#panel a", { hasText: "Close" }).click();
    await page.waitForURL((url) => !url.searchParams.has("open"));
  });

  await t.test("becomes live when the socket opens, and applies the typed filter", async (t) => {
    const { page, gate } = await blocked(t);
    await page.goto(`${list}&open=${ns}/${name(4)}`);
    await page.locator("#panel .note").waitFor();
    await page.locator("#q").fill("map-00");
    gate.shut = false;
    await page.locator('#status[data-state="live"]').waitFor({ timeout: 30_000 });
    await become(
      "the names of the matching rows",
      () => names(page),
      Array.from({ length: 10 }, (_, i) => name(i)),
    );
    assert.equal(new URL(page.url()).searchParams.get("q"), "map-00");
    await page.locator("#panel [role=tab]").first().waitFor();
    assert.deepEqual(
      [
        await page.locator("html[data-offline]").count(),
        await page.locator("#banner").isHidden(),
        await page.locator("#filters button").isVisible(),
      ],
      [0, true, false],
    );
    await patch(`${where}/${name(2)}`, { data: { more: "y" } });
    await until("the changed cell", async () => (await row(page, name(2)))?.Data === "2");
  });
});
