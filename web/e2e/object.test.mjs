import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { browse, newPage, openLive, row, table } from "./browser.mjs";
import { configMap, create, namespace, patch, remove } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { become, until } from "./wait.mjs";

await test("objects", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  const where = `/api/v1/namespaces/${ns}/configmaps`;
  const list = `${dashboard.url}r/core/v1/configmaps?ns=${ns}`;
  for (const name of ["a-1", "a-2", "a-3", "a-10"]) await create(where, configMap(name, { text: `of ${name}` }));

  const open = async (t, address = list) => {
    const page = await newPage(t, browser);
    await openLive(page, address);
    await until("the rows of the list", () => row(page, "a-3"));
    return page;
  };
  const panel = (page) => page.locator("#panel");
  const yaml = async (page) => (await page.locator("#panel .line").allTextContents()).join("\n");
  const shows = (page, name) =>
    until(
      `the panel to show ${name}`,
      async () =>
        (await page.locator("#panel h2").innerText()).endsWith(`/${name}`) &&
        (await page.locator("#panel .overview").or(page.locator("#panel .yaml")).innerText()).includes(name),
    );
  const active = (page) => page.evaluate(() => document.querySelector("#tbody tr[data-active]")?.dataset.name ?? null);
  const openOf = (page) => new URL(page.url()).searchParams.get("open");

  await t.test("opens by click, and is live until it is deleted", async (t) => {
    const page = await open(t);
    await page.locator("#tbody tr", { hasText: "a-2" }).locator("td").last().click();
    await shows(page, "a-2");
    assert.equal(openOf(page), `${ns}/a-2`);
    await page.getByRole("tab", { name: "YAML" }).click();
    await until("the YAML of the object", async () => (await yaml(page)).includes("\n  name: a-2\n"));
    assert.equal(new URL(page.url()).searchParams.get("tab"), "yaml");
    await panel(page).locator('.status[data-state="live"]').waitFor({ state: "attached" });
    assert.ok(await panel(page).locator(".status").isHidden(), "only the header shows Live");
    assert.equal(await page.locator("#panel .line[data-changed]").count(), 0, "nothing has changed yet");

    await patch(`${where}/a-2`, { metadata: { labels: { colour: "green" } } }, { manager: "e2e-painter" });
    await until("the label", async () => (await yaml(page)).includes("    colour: green"));
    const marked = (await page.locator("#panel .line[data-changed]").allTextContents()).map((l) => l.trim());
    assert.ok(marked.includes("colour: green"), marked.join());
    assert.ok(!marked.some((l) => /^(text|name|resourceVersion):/.test(l)), marked.join());
    assert.match(await panel(page).locator(".change").innerText(), /^\d\d:\d\d:\d\d changed by e2e-painter$/);

    await remove(`${where}/a-2`);
    await panel(page).locator(".status", { hasText: "Deleted" }).waitFor();
    assert.match(await panel(page).locator(".banner").innerText(), /^Deleted at \d\d:\d\d:\d\d/);
    assert.match(await yaml(page), /colour: green/, "the last known state is kept");
    await until("the deleted row to disappear", async () => (await row(page, "a-2")) === undefined);
    await create(where, configMap("a-2", { text: "of the second a-2" }));
    await until("the recreated object", async () => (await yaml(page)).includes("of the second a-2"));
    await panel(page).locator('.status[data-state="live"]').waitFor({ state: "attached" });

    await page.keyboard.press("Escape");
    await panel(page).waitFor({ state: "hidden" });
    assert.equal(openOf(page), null);
  });

  await t.test("a menu copies and downloads the object", async (t) => {
    const permissions = ["clipboard-read", "clipboard-write"];
    const page = await newPage(t, browser, { allow: [/^download/], permissions });
    for (const address of [`${list}&open=${ns}/a-1`, `${dashboard.url}o/core/v1/configmaps/${ns}/a-1`]) {
      await page.goto(address);
      await page.getByRole("button", { name: "Actions", exact: true }).click();
      const items = ["Copy name", "Copy kubectl command", "Copy YAML", "Download YAML", "Compare with…"];
      await become("the entries of the menu", () => page.getByRole("menuitem").allTextContents(), items);
      await page.getByRole("menuitem", { name: "Copy kubectl command" }).click();
      const copied = () => page.evaluate(() => navigator.clipboard.readText());
      await become("the copied command", copied, `kubectl get configmaps/a-1 -n ${ns} -o yaml`);
      await page.locator(".status, #status", { hasText: /Live/ }).first().waitFor({ state: "attached" });
      await page.getByRole("button", { name: "Actions", exact: true }).click();
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("menuitem", { name: "Download YAML" }).click(),
      ]);
      assert.equal(download.suggestedFilename(), `configmaps-${ns}-a-1.yaml`);
      assert.match(readFileSync(await download.path(), "utf8"), /^apiVersion: v1\n.*\n {2}name: a-1\n/s);
    }
  });

  await t.test("back, forward and a pasted link", async (t) => {
    const page = await open(t);
    await page.locator("#tbody tr", { hasText: "a-1" }).first().locator("td").last().click();
    await shows(page, "a-1");
    await page.locator("#tbody tr", { hasText: "a-3" }).locator("td").last().click();
    await shows(page, "a-3");
    const link = page.url();
    await page.goBack();
    await shows(page, "a-1");
    await page.goBack();
    await panel(page).waitFor({ state: "hidden" });
    await page.goForward();
    await shows(page, "a-1");
    await page.goForward();
    await shows(page, "a-3");
    assert.equal(page.url(), link);

    const other = await open(t, link);
    await shows(other, "a-3");
    assert.equal(await other.locator('#tbody tr[aria-selected="true"]').getAttribute("data-name"), "a-3");
    await other.locator("#panel .page-link").click();
    await other.waitForURL(`${dashboard.url}o/core/v1/configmaps/${ns}/a-3`);
    await other.locator('#status[data-state="live"]').waitFor();
    await other.getByRole("tab", { name: "YAML" }).click();
    await until("the YAML of the object", async () =>
      (await other.locator("#object").innerText()).includes("text: of a-3"),
    );
    await patch(`${where}/a-3`, { data: { text: "changed" } });
    await until("the changed line in the YAML", async () =>
      (await other.locator("#object .line[data-changed]").allTextContents()).includes("  text: changed"),
    );
  });

  await t.test("opens by keyboard only", async (t) => {
    const page = await open(t);
    const keys = async (...list) => {
      for (const k of list) await page.keyboard.press(k);
    };
    const names = (await table(page)).rows.map((r) => r.Name);
    assert.deepEqual(names, ["a-1", "a-10", "a-2", "a-3", "kube-root-ca.crt"]);
    await keys("j");
    await become("the active row", () => active(page), "a-1");
    await keys("j", "j", "j", "k");
    await become("the active row", () => active(page), "a-2");
    assert.equal(
      await page.locator("#table").getAttribute("aria-activedescendant"),
      await page.locator("#tbody tr[data-active]").getAttribute("id"),
    );
    await keys("Enter");
    await shows(page, "a-2");
    await keys("Escape");
    await panel(page).waitFor({ state: "hidden" });
    await keys("k", "Enter");
    await shows(page, "a-10");
    await keys("Escape");
    await keys("/");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "q");
    await page.keyboard.type("a-1");
    await become("the names of the rows", async () => (await table(page)).rows.map((r) => r.Name), ["a-1", "a-10"]);
    assert.equal(new URL(page.url()).searchParams.get("q"), "a-1");
    await keys("Enter");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "table");
    await keys("j");
    await until("a matching row to be active", async () => ["a-1", "a-10"].includes(await active(page)));
    await keys("/", "Escape");
    await become("the number of rows", async () => (await table(page)).rows.length, 5);
    await page.reload();
    await page.locator('#status[data-state="live"]').waitFor();
    await keys("Tab");
    assert.equal(await page.evaluate(() => document.activeElement?.className), "skip");
    await keys("Enter", "j", "Enter");
    await shows(page, "a-1");
    await page.getByRole("tab", { name: "YAML" }).click();
    for (const [key, tab] of [
      ["e", "tab-events"],
      ["y", "tab-yaml"],
    ]) {
      await keys(key);
      await become("the focused tab", () => page.evaluate(() => document.activeElement?.id), tab);
    }
    for (const [key, name] of [
      ["j", "a-10"],
      ["j", "a-2"],
      ["k", "a-10"],
    ]) {
      await keys(key);
      await shows(page, name);
      assert.equal(await page.evaluate(() => document.activeElement?.id), "tab-yaml");
    }
    await page.getByRole("link", { name: "Full page" }).click();
    await page.locator('#status[data-state="live"]').waitFor();
    assert.match(await page.title(), new RegExp(`^${ns}/a-10 - ConfigMaps - \\S+$`));
    await keys("Escape");
    await page.waitForURL(list);
  });

  await t.test("a tooltip can be hovered, and closes with Escape", async (t) => {
    const unprivileged = await Dashboard.start(t, { user: "nobody" });
    const page = await newPage(t, browser, { allow: [/status of 403/] });
    await page.goto(`${unprivileged.url}r/core/v1/pods`);
    const kind = page.locator('#picker a[data-ref="core/v1/pods"][data-hint]');
    await kind.hover();
    const hint = page.getByRole("tooltip");
    await hint.waitFor();
    const box = await hint.boundingBox();
    await page.mouse.move(box.x + 20, box.y + 10, { steps: 5 });
    await page.evaluate(() => new Promise((done) => setTimeout(done, 400)));
    assert.ok(await hint.isVisible(), "the tooltip is visible while the pointer is over it");
    await page.keyboard.press("Escape");
    await hint.waitFor({ state: "hidden" });
    await kind.focus();
    await hint.waitFor();
    await page.mouse.move(box.x + 20, box.y + 10);
    await page.mouse.move(700, 500);
    await hint.waitFor({ state: "hidden" });
  });

  await t.test(
    "a tab whose script failed to load is retried when selected again, and reports nothing in another tab",
    async (t) => {
      const page = await newPage(t, browser, { allow: [/Failed to load resource/] });
      const requested = [];
      await page.route(/\/yaml-tab-\w+\.js$/, (route) => void requested.push(route));
      await openLive(page, `${list}&open=${ns}/a-3&tab=yaml`);
      const next = () => until("the request for the script", () => requested.shift());
      const overview = () => panel(page).getByRole("tab", { name: "Overview" }).click();
      const again = () => panel(page).getByRole("tab", { name: "YAML" }).click();
      const first = await next();
      await overview();
      await page.locator("#panel .overview").waitFor();
      await first.abort();
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
      assert.ok(
        !(await panel(page).innerText()).includes("could not be loaded"),
        "the error of another tab is not shown",
      );
      await again();
      await (await next()).abort();
      await panel(page).getByText("The tab could not be loaded").waitFor();
      await again();
      await (await next()).continue();
      await until("the YAML of the object", async () => (await yaml(page)).includes("name: a-3"));
      assert.ok(!(await panel(page).innerText()).includes("could not be loaded"));
    },
  );

  await t.test("the tab style sheet loads with the first tab, and no tab is shown without it", async (t) => {
    const page = await newPage(t, browser, { allow: [/Failed to load resource/] });
    let [requested, refuse] = [0, true];
    await page.route("**/static/tabs.css", (route) => {
      requested++;
      return refuse ? route.abort() : route.continue();
    });
    await openLive(page, list);
    assert.equal(requested, 0, "a list does not request the style sheet of the tabs");
    await page.goto(`${list}&open=${ns}/a-3`);
    await panel(page).getByText("The tab could not be loaded").waitFor();
    assert.equal(await page.locator("#panel .overview").count(), 0);
    // Once the connection is live, the page repeats the request that failed. Let it fail again before counting
    // requests.
    await page.locator('#status[data-state="live"]').waitFor();
    [requested, refuse] = [0, false];
    await panel(page).getByRole("tab", { name: "Overview" }).click();
    await page.locator("#panel .overview").waitFor();
    assert.equal(
      await page.locator("#panel .overview").evaluate((e) => getComputedStyle(e).containerType),
      "inline-size",
    );
    await panel(page).getByRole("tab", { name: "Related" }).click();
    await page.locator("#panel .related").waitFor();
    assert.equal(requested, 1, "the style sheet is requested once");
  });
});
