// The page runs under --base-path, behind a reverse proxy with another address.
//
// Invariant: I26.
import assert from "node:assert/strict";
import { test } from "node:test";
import { browse, newPage, openLive, row, table } from "./browser.mjs";
import { configMap, create, namespace, patch } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { proxied } from "./proxied.mjs";
import { become, until } from "./wait.mjs";

const base = "/team/glasshouse";

await test("a base path behind a proxy", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const proxy = await proxied(t);
  const ns = await namespace(t);
  const where = `/api/v1/namespaces/${ns}/configmaps`;
  for (const name of ["a-1", "a-2"]) await create(where, configMap(name, { text: name }));
  const path = (page) => new URL(page.url()).pathname;
  const query = (page) => new URL(page.url()).searchParams;

  await t.test("is refused until configured, and the error names the flag", async (t) => {
    const dashboard = await Dashboard.start(t, { flags: ["--base-path", base] });
    proxy.to = new URL(dashboard.url);
    const page = await newPage(t, browser, { allow: [/403/] });
    // The first HTML waits 250 ms for its rows. Without a stream, rows that are read later do not get into the page.
    await until("the list to load", async () =>
      (await page.request.get(`${dashboard.url}api/v1/snapshot/core/v1/configmaps?ns=${ns}`)).ok(),
    );
    await page.goto(`${proxy.origin}${base}/r/core/v1/configmaps?ns=${ns}`);
    await until("the request for the page's script", () =>
      proxy.requests.some((a) => a.startsWith(`${base}/static/app.js`)),
    );
    assert.notEqual(await page.locator("#status").getAttribute("data-state"), "live");
    await until("the rows in the HTML", () => row(page, "a-2"));
    const answer = await page.evaluate(async (address) => {
      const a = await fetch(address, { method: "GET", headers: { accept: "application/json" } });
      return a.status;
    }, `${base}/healthz`);
    assert.equal(answer, 200, "a read without an Origin header is served");
    const refused = await (
      await page.request.get(`${proxy.origin}${base}/healthz`, { headers: { origin: proxy.origin } })
    ).json();
    assert.match(refused.detail, new RegExp(`--allowed-origin=${proxy.origin}`));
  });

  const dashboard = await Dashboard.start(t, { flags: ["--base-path", base, "--allowed-origin", proxy.origin] });
  proxy.to = new URL(dashboard.url);
  proxy.requests.length = 0;
  assert.equal(new URL(dashboard.url).pathname, `${base}/`, "the printed URL contains the base path");

  await t.test("list and object pages work below the base path", async (t) => {
    const page = await newPage(t, browser, { allow: [/download: /] });
    await openLive(page, `${proxy.origin}${base}/`);
    await become("the path of the first page", () => path(page), `${base}/`);
    await page.locator("#picker a", { hasText: /^ConfigMaps\d*$/ }).click();
    await become("the path of the list", () => path(page), `${base}/r/core/v1/configmaps`);
    await page.goto(`${proxy.origin}${base}/r/core/v1/configmaps?ns=${ns}`);
    await until("the rows of the list", () => row(page, "a-2"));
    await page.locator("#tbody tr", { hasText: "a-1" }).locator("td").last().click();
    await become("the open object in the URL", () => query(page).get("open"), `${ns}/a-1`);
    for (const tab of ["YAML", "Related", "Events", "Changes"]) {
      await page.getByRole("tab", { name: tab }).click();
      await page.locator(`#panel [role=tab][aria-selected="true"]`, { hasText: tab }).waitFor();
    }
    await page.getByRole("tab", { name: "YAML" }).click();
    await until("the YAML", async () =>
      (await page.locator("#panel .line").allTextContents()).join("\n").includes("\n  name: a-1\n"),
    );
    await patch(`${where}/a-1`, { data: { text: "changed" } });
    await until("the changed line in the YAML", async () =>
      (await page.locator("#panel .line").allTextContents()).join("\n").includes("text: changed"),
    );
    await page.reload();
    await until("the panel to show the same object after a reload", async () =>
      (await page.locator("#panel h2").innerText()).endsWith("/a-1"),
    );
    // Wait until the page is live. Before that, Escape would close the panel by loading another page.
    await page.locator('#status[data-state="live"]').waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.locator("#palette-box").waitFor();
    await page.keyboard.type("deploy");
    await until(
      "the palette to offer Deployments",
      async () => (await page.locator('#palette [aria-selected="true"] .label').innerText()) === "Deployments",
    );
    await page.keyboard.press("Enter");
    await become("the path of the chosen list", () => path(page), `${base}/r/apps/v1/deployments`);
    await page.goBack();
    await become("the path of the previous page", () => path(page), `${base}/r/core/v1/configmaps`);
    await until("the rows of the previous page", async () => (await table(page)).rows.length > 0);
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      (async () => {
        await page.locator("#export summary").click();
        await page.locator("#export a", { hasText: "Rows as CSV" }).click();
      })(),
    ]);
    assert.match(file.url(), new RegExp(`${base}/api/v1/snapshot/core/v1/configmaps`));
    await page.locator("#theme").click();
    const [themeCookie] = (await page.context().cookies()).filter((c) => c.name === "look");
    assert.equal(themeCookie.path, `${base}/`);
    await page.locator("#connection").click();
    await page.locator("#connection-pop a", { hasText: "Watch status" }).click();
    await become("the path of the watch status page", () => path(page), `${base}/status`);
    await until("the list of watched resources", () => page.locator("#scopes tr").count());
    await page
      .locator("#scopes a", { hasText: /^ConfigMaps$/ })
      .first()
      .click();
    await become(
      "the path of the list that a line of the status page links to",
      () => path(page),
      `${base}/r/core/v1/configmaps`,
    );
    await page.goto(`${proxy.origin}${base}/o/core/v1/configmaps/${ns}/a-2`);
    await page.locator('#status[data-state="live"]').waitFor();
    await page.goto(`${proxy.origin}${base}/compare?a=core/v1/configmaps/${ns}/a-1&b=a-2`);
    await until("the comparison", async () => (await page.locator("#difference").innerText()).includes("changed"));
    assert.equal(path(page), `${base}/compare`);
  });

  await t.test("works without script", async (t) => {
    const page = await newPage(t, browser, { javaScriptEnabled: false });
    await page.goto(`${proxy.origin}${base}/`);
    await page
      .locator("#picker a", { hasText: /^ConfigMaps/ })
      .first()
      .click();
    assert.equal(path(page), `${base}/r/core/v1/configmaps`);
    await page.locator("#q").fill(`${ns}/a-1`); // Other tests also create objects with this name.
    await page.locator("#filters button[type=submit]").click();
    assert.equal(path(page), `${base}/r/core/v1/configmaps`);
    await page.locator("#tbody a", { hasText: "a-1" }).first().click();
    assert.equal(path(page), `${base}/o/core/v1/configmaps/${ns}/a-1`);
    assert.match(await page.locator("#object").innerText(), /name: a-1/);
  });

  assert.deepEqual(
    proxy.requests.filter((a) => !a.startsWith(`${base}/`) && a !== "/favicon.ico"),
    [],
    "all requests are below the base path",
  );
});
