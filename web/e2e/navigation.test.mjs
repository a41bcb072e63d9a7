// Invariant: I32, I33.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { browse, newPage, openLive, table } from "./browser.mjs";
import { configMap, create, namespace, read, remove } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { become, until } from "./wait.mjs";

await test("navigation", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const [ns, other] = [await namespace(t), await namespace(t)];
  const where = (ns) => `/api/v1/namespaces/${ns}/configmaps`;
  // The search "web 10" cannot match random namespaces, which contain only hexadecimal digits.
  for (const name of ["a-1", "a-2", "web-10"]) await create(where(ns), configMap(name, { text: name }));
  await create(where(other), configMap("remote", { k: "", l: "" }));
  const list = `${dashboard.url}r/core/v1/configmaps?ns=${ns}`;

  const query = (page) => new URL(page.url()).searchParams;
  const path = (page) => new URL(page.url()).pathname;
  const names = async (page) => (await table(page)).rows.map((r) => r.Name).filter((n) => n !== "kube-root-ca.crt");
  const keys = async (page, ...list) => {
    for (const k of list) await page.keyboard.press(k);
  };
  const options = (page) => page.locator("#palette [role=option]");
  const chosen = (page) => page.locator('#palette [role=option][aria-selected="true"] .label').innerText();
  const open = async (t, address = list, options) => {
    const page = await newPage(t, browser, options);
    await openLive(page, address);
    await until("the rows of the list", async () => (await table(page)).rows.length > 0);
    return page;
  };
  // Chromium logs failed search requests.
  const allowedErrors = { allow: [/\/api\/v1\/search/] };

  await t.test("the palette opens kinds, namespaces and objects, and runs commands", async (t) => {
    const page = await open(t, list, { allow: [/\/api\/v1\/search/, /popup: /] });
    await keys(page, "Control+k");
    await page.locator("#palette-box").waitFor();
    await page.keyboard.type("deploy");
    await become("the selected entry of the palette", () => chosen(page), "Deployments");
    assert.equal(
      await page.locator("#palette-box").getAttribute("aria-activedescendant"),
      await page.locator('#palette [aria-selected="true"]').getAttribute("id"),
    );
    await keys(page, "Enter");
    await become(
      "the path and namespace",
      () => `${path(page)} ${query(page).get("ns")}`,
      `/r/apps/v1/deployments ${ns}`,
    );
    await page.goBack();
    await become("the names of the rows", () => names(page), ["a-1", "a-2", "web-10"]);

    await page.locator("#jump").click();
    await page.keyboard.type("web 10");
    await become("the selected entry of the palette", () => chosen(page), `${ns}/web-10`);
    await until("the palette to report what was searched", async () =>
      / Also searched: the names of \d+ resource types, \d+ namespaces and 4 ConfigMaps in this list\./.test(
        await page.locator(".palette-coverage").innerText(),
      ),
    );
    await keys(page, "Enter");
    await become("the open object in the URL", () => query(page).get("open"), `${ns}/web-10`);
    await keys(page, "Escape");
    await page.locator("#panel").waitFor({ state: "hidden" });

    await keys(page, "Control+k");
    await page.keyboard.type(other);
    await until("the palette to offer the namespace", async () =>
      (await options(page).allInnerTexts()).some((o) => o.includes(other)),
    );
    await become("the selected entry of the palette", () => chosen(page), other);
    await keys(page, "Enter");
    await become("the names of the rows", () => names(page), ["remote"]);
    await page.goBack();

    await keys(page, "Control+k");
    await page.keyboard.type("toggle theme");
    await keys(page, "Enter");
    await become("the theme", () => page.evaluate(() => document.documentElement.dataset.theme), "dark");
    await keys(page, "Control+k");
    await page.keyboard.type("secrets");
    await become("the selected entry of the palette", () => chosen(page), "Secrets");
    const [tab] = await Promise.all([page.context().waitForEvent("page"), keys(page, "Control+Enter")]);
    await tab.waitForURL(/\/r\/core\/v1\/secrets/);
    await tab.close();
    await keys(page, "Escape");
    await page.locator("#palette").waitFor({ state: "hidden" });
    assert.equal(path(page), "/r/core/v1/configmaps");
  });

  await t.test("the palette shows server results, and which resources were searched", async (t) => {
    const page = await open(t, list, allowedErrors);
    const found = () => page.locator('#palette [role=group]:has-text("Other resources") .label').allInnerTexts();
    await keys(page, "Control+k");
    await page.keyboard.type("remote");
    await become("the search results from another namespace", found, [`${other}/remote`]);
    await page.locator("#palette input").fill("checkout");
    await until("the search result of another kind", async () => (await found()).includes("shop/checkout"));
    const coverage = page.locator(".palette-coverage");
    await until("all resources to be searched", async () =>
      /^Searched \d[\d,]* objects of \d\d resource types\. .* Not searched: .*Leases/.test(await coverage.innerText()),
    );
    assert.match(await coverage.getAttribute("title"), /^Searched: .*12 Nodes.*\nNot searched: .*Leases/);
    await page.keyboard.press("Enter");
    await page.waitForURL(/deployments.*open=shop\/checkout/);
    await page.locator("#panel h2", { hasText: "shop/checkout" }).waitFor();
  });

  await t.test("the palette of a new server finds objects of resources without readers", async (t) => {
    const fresh = await Dashboard.start(t);
    const page = await newPage(t, browser, allowedErrors);
    await openLive(page, `${fresh.url}r/core/v1/pods?ns=shop`);
    await keys(page, "Control+k");
    await page.keyboard.type("storefront-config");
    const labels = () => options(page).locator(".label").allInnerTexts();
    await until("the palette to offer the ConfigMap", async () => (await labels()).includes("shop/storefront-config"));
    await page.locator("#palette input").fill("recommender");
    for (const kind of ["Deployment", "Service"])
      await until(kind, async () =>
        (await options(page).allInnerTexts()).some((o) => o.startsWith("shop/recommender") && o.endsWith(kind)),
      );
    await page.locator("#palette input").fill("storefront-config");
    await until("the ConfigMap to be the first result", async () => (await chosen(page)) === "shop/storefront-config");
    await page.keyboard.press("Enter");
    await page.waitForURL(/configmaps.*storefront-config/);
  });

  await t.test("a colon command opens a kind and a namespace", async (t) => {
    const page = await open(t, list, allowedErrors);
    await page.keyboard.type(":po");
    await become("the selected entry of the palette", () => chosen(page), "Pods");
    await page.keyboard.type(" sho");
    await become("the selected entry of the palette", () => chosen(page), "Pods in shop");
    await keys(page, "Enter");
    await become("the URL", () => page.url(), `${dashboard.url}r/core/v1/pods?ns=shop`);
    await page.keyboard.type(":deploy data");
    await become("the selected entry of the palette", () => chosen(page), "Deployments in data");
    await keys(page, "Enter");
    await become("the URL", () => page.url(), `${dashboard.url}r/apps/v1/deployments?ns=data`);
    for (const [word, expectedHint] of [
      ["ctx", /one cluster/],
      ["q", /^Close the browser tab to quit/],
      ["nosuchkind", /No resource types match “nosuchkind”/],
    ]) {
      await page.keyboard.type(`:${word}`);
      await until(word, async () => expectedHint.test(await page.locator(".palette-words").innerText()));
      await keys(page, "Escape");
      await page.locator("#palette").waitFor({ state: "hidden" });
    }
    await page.keyboard.type(":svc");
    await keys(page, "Tab");
    await become("the completed text", () => page.locator("#palette-box").inputValue(), ":svc ");
    await keys(page, "Enter");
    await become("the URL", () => page.url(), `${dashboard.url}r/core/v1/services`);
  });

  await t.test("shortcuts match the help, and do not act while typing", async (t) => {
    const page = await open(t, list, { permissions: ["clipboard-read", "clipboard-write"] });
    await keys(page, "?");
    const help = page.locator("dialog.help");
    await help.waitFor();
    const helpByKey = await help
      .locator("dl > div")
      .evaluateAll((lines) =>
        Object.fromEntries(
          lines.flatMap((l) =>
            [...l.querySelectorAll("kbd")].map((k) => [k.textContent, l.querySelector("dd").textContent]),
          ),
        ),
      );
    for (const key of [
      "/",
      "j",
      "k",
      "g",
      "G",
      "PgDn",
      "PgUp",
      "Enter",
      "Esc",
      "n",
      "y",
      "o",
      "[",
      "]",
      "p",
      "w",
      "s",
      "x",
      "t",
      "?",
      ":",
      "Ctrl K",
    ])
      assert.ok(helpByKey[key], `the help has no ${key}`);
    const notices = await page.request.get(
      await help.getByRole("link", { name: "Third-party notices" }).evaluate((a) => a.href),
    );
    assert.match(await notices.text(), /^THIRD-PARTY NOTICES\n.*@dagrejs\/dagre/s);
    await keys(page, "Escape");
    await help.waitFor({ state: "hidden" });

    // WCAG 2.1.4: users of speech input must be able to disable single-key shortcuts.
    const singleKeyCheckbox = help.getByRole("checkbox", { name: /^Enable single-key shortcuts/ });
    const setSingleKeys = async (on) => {
      await page.locator("#help").click();
      await singleKeyCheckbox.setChecked(on);
      await keys(page, "Escape");
      await help.waitFor({ state: "hidden" });
    };
    await setSingleKeys(false);
    await page.reload();
    await page.locator('#status[data-state="live"]').waitFor();
    await page.locator("#table").focus();
    await keys(page, "t", "/", "?", "ArrowDown", "Enter");
    await become("the open object in the URL", () => query(page).get("open"), `${ns}/a-1`);
    await keys(page, "Escape");
    await page.locator("#panel").waitFor({ state: "hidden" });
    assert.deepEqual(
      await page.evaluate(() => [
        document.documentElement.dataset.theme,
        document.activeElement.id,
        document.querySelectorAll("dialog[open]").length,
      ]),
      ["", "table", 0],
    );
    await keys(page, "Control+k");
    await page.locator("#palette-box").waitFor();
    assert.deepEqual(
      (await page.locator("#palette kbd").allInnerTexts()).filter((k) => k.length === 1 && k !== "↵"),
      [],
      "the page does not offer keys without effect",
    );
    await keys(page, "Escape");
    await setSingleKeys(true);
    await openLive(page, list);

    await keys(page, "j", "y");
    await become(
      "the open object and tab in the URL",
      () => `${query(page).get("open")} ${query(page).get("tab")}`,
      `${ns}/a-1 yaml`,
    );
    await keys(page, "]");
    await become("the open object in the URL", () => query(page).get("open"), `${ns}/a-2`);
    await keys(page, "]", "[", "[");
    await become("the open object in the URL", () => query(page).get("open"), `${ns}/a-1`);
    await keys(page, "[");
    await page.locator("#toast", { hasText: "first" }).waitFor();
    await keys(page, "o");
    await become("the tab in the URL", () => query(page).get("tab"), null);
    await keys(page, "Escape");
    await page.locator("#panel").waitFor({ state: "hidden" });

    await keys(page, "w");
    await become("the columns in the URL", () => query(page).get("cols"), "wide");
    await keys(page, "w");
    await become("the columns in the URL", () => query(page).get("cols"), null);
    await keys(page, "ArrowRight", "ArrowRight", "s");
    await become("the sort order in the URL", () => query(page).get("sort"), "data");
    await keys(page, "s", "t", "d");
    await become("the sort order in the URL", () => query(page).get("sort"), "-data");
    assert.deepEqual(
      await page.evaluate(() => [document.documentElement.dataset.theme, document.documentElement.dataset.density]),
      ["dark", "roomy"],
    );
    await until("the height of the rows to change", () =>
      page.evaluate(() => document.querySelector("#tbody tr[data-name]").offsetHeight === 30),
    );
    await keys(page, "u");
    await become("the copied link", () => page.evaluate(() => navigator.clipboard.readText()), page.url());

    await keys(page, "/");
    await page.keyboard.type("t?jwx:");
    await become("the filter in the URL", () => query(page).get("q"), "t?jwx:");
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
    assert.equal(await page.locator("dialog[open]").count(), 0);
    await keys(page, "Escape", "Escape");
    await page.evaluate(() => {
      window.taken = [];
      document.addEventListener("keydown", (e) => window.taken.push(`${e.key} ${e.defaultPrevented}`));
    });
    await keys(page, "Control+j", "Alt+t", "Shift+F1");
    assert.ok((await page.evaluate(() => window.taken)).every((k) => k.endsWith("false")));
  });

  await t.test("namespaces can be chosen, and are updated as they are created and deleted", async (t) => {
    const page = await open(t);
    const pop = page.locator("#namespace-button-pop");
    const offered = () => pop.locator(".pop-list .name").allInnerTexts();
    assert.equal(await page.locator("#namespace-button").innerText(), ns);
    await keys(page, "n");
    await until("all namespaces to be offered", async () => (await offered()).includes("kube-system"));
    assert.equal((await offered())[0], ns, "the chosen namespace is first");
    await page.keyboard.type(other.slice(4));
    await become("the offered namespaces", offered, [other]);
    await keys(page, "ArrowDown", "ArrowDown", "Space");
    await become("the namespaces in the URL", () => query(page).getAll("ns"), [ns, other].sort());
    await become("the names of the rows", async () => (await names(page)).sort(), ["a-1", "a-2", "remote", "web-10"]);
    assert.ok(
      [`${[ns, other].sort().join(", ")}`, "2 namespaces"].includes(
        await page.locator("#namespace-button").innerText(),
      ),
    );
    const made = await namespace(t);
    await pop.locator('input[type="text"]').fill(made);
    await become("the offered namespaces", offered, [made]);
    await remove(`/api/v1/namespaces/${made}`);
    await pop.locator('input[type="text"]').fill("no such namespace");
    await pop.locator(".pop-note", { hasText: "No namespaces match" }).waitFor();
    await keys(page, "Escape");
    await pop.waitFor({ state: "hidden" });
    await page.goBack();
    await become("the namespaces in the URL", () => query(page).getAll("ns"), [ns]);
    // Open the chooser again. The page watches namespaces only while the chooser is open.
    await page.locator("#namespace-button").click();
    await pop.locator("[data-all]").check();
    await become("the namespaces in the URL", () => query(page).getAll("ns"), []);
    assert.equal(await page.locator("#namespace-button").innerText(), "All namespaces");
    await page.mouse.click(700, 62);
    await pop.waitFor({ state: "hidden" });
    await page.goto(`${dashboard.url}r/core/v1/nodes`);
    await page.locator('#status[data-state="live"]').waitFor();
    assert.equal(await page.locator("#namespace-button").isVisible(), false, "nodes have no namespace");
  });

  await t.test("columns can be chosen, and are stored in the URL", async (t) => {
    const page = await open(t, `${dashboard.url}r/core/v1/pods`);
    const head = async () => (await table(page)).head;
    // The column Why is always shown, because pods have verdicts.
    const usual = ["Namespace", "Name", "Why", "Ready", "Status", "Restarts", "Age"];
    const chosen = ["Namespace", "Name", "Why", "Ready", "Status", "Age", "Node"];
    assert.deepEqual(await head(), usual);
    await page.locator("#columns").click();
    const box = (name) => page.locator("#columns-pop label", { hasText: name }).locator("input");
    await become(
      "the offered wide columns",
      () => page.locator("#columns-pop li", { hasText: "wide" }).locator(".name").allInnerTexts(),
      ["IP", "Node", "Nominated Node", "Readiness Gates"],
    );
    await box("Restarts").uncheck();
    await page.locator("#columns-pop label", { hasText: /^Node/ }).first().locator("input").check();
    await become("the shown columns", head, chosen);
    assert.deepEqual(query(page).getAll("cols"), ["namespace", "name", "ready", "status", "age", "node"]);
    const height = () => page.evaluate(() => document.querySelector("#tbody tr[data-name]")?.offsetHeight);
    const tops = await page
      .locator("#columns-pop label:has([name=density])")
      .evaluateAll((all) => all.map((e) => e.getBoundingClientRect().top));
    assert.equal(new Set(tops).size, 1, "the densities are in one row");
    await page.locator("#columns-pop label", { hasText: "Compact" }).click();
    await become("the height of a row", height, 20);
    await keys(page, "Escape");
    await page.reload();
    await become("the shown columns", head, chosen);
    await become("the height of a row", height, 20);
    await page.locator('#picker a[data-ref="core/v1/services"]').click();
    await page.waitForURL(/services/);
    await page.locator('#picker a[data-ref="core/v1/pods"]').click();
    await become("the number of columns in the URL", () => query(page).getAll("cols").length, 6);
    await become("the shown columns", head, chosen);
    await openLive(page, `${dashboard.url}r/core/v1/pods`);
    await become("the shown columns", head, usual);
    await page.locator("#columns").click();
    await page.locator("#columns-pop button", { hasText: "All" }).click();
    await become("the number of shown columns", async () => (await head()).length, 11);
    await page.locator("#columns-pop button", { hasText: "Default" }).click();
    await become("the shown columns", head, usual);
    assert.deepEqual(query(page).getAll("cols"), []);
  });

  await t.test("exports match the view", async (t) => {
    const page = await open(t, `${dashboard.url}r/core/v1/configmaps?ns=${ns}`, { allow: [/^download: /] });
    const take = async (label) => {
      await keys(page, "x");
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.locator("#export a", { hasText: label }).first().click(),
      ]);
      return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
    };
    await page.locator("#q").fill("a-");
    await become("the names of the rows", () => names(page), ["a-1", "a-2"]);
    await page.locator("#table").focus();
    await keys(page, "ArrowRight", "s", "s");
    await become("the names of the rows", () => names(page), ["a-2", "a-1"]);
    let file = await take("Rows as CSV");
    assert.match(file.name, new RegExp(`^configmaps-${ns}-\\d{8}T\\d{4}\\.csv$`));
    const lines = file.text.trim().split("\n");
    assert.equal(lines[0], "Namespace,Name,Data,Age");
    assert.deepEqual(
      lines.slice(1).map((l) => l.split(",")[1]),
      ["a-2", "a-1"],
    );
    await openLive(page, `${dashboard.url}r/core/v1/configmaps?ns=${ns}&q=web-&cols=data`);
    await become("the names of the rows", () => names(page), ["web-10"]);
    file = await take("Rows as JSON");
    assert.deepEqual(
      JSON.parse(file.text).rows.map((r) => r.cells),
      [["web-10", 1]],
    );
    file = await take("Objects as YAML");
    assert.match(file.text, /^---\napiVersion: v1\ndata:\n {2}text: web-10\nkind: ConfigMap\n/);
    assert.equal(file.text.match(/^---$/gm).length, 1);
    await keys(page, "x", "ArrowDown", "Escape");
    assert.equal(await page.locator("#export").getAttribute("open"), null);
    assert.equal(await page.evaluate(() => document.activeElement?.tagName), "SUMMARY");
  });

  await t.test("the picker has pins, folding, a filter and live counts", async (t) => {
    const page = await open(t, list);
    const link = (ref, group) =>
      page.locator(
        `#picker .group${group ? `[data-group="${group}"]` : ":not([data-group=Pinned])"} a[data-ref="${ref}"]`,
      );
    const other = await page.context().newPage();
    await openLive(other, list);
    await link("apps/v1/deployments").hover();
    await page.getByRole("button", { name: "Pin Deployments" }).click();
    await keys(page, "p");
    for (const tab of [page, other])
      await become("the pinned kinds", () => tab.locator('#picker [data-group="Pinned"] .kind').allInnerTexts(), [
        "Deployments",
        "ConfigMaps",
      ]);
    await other.close();
    assert.equal(await page.locator("#picker .group").first().getAttribute("data-group"), "Pinned");
    await page.locator('#picker [data-group="Storage"] summary').click();
    await page.reload();
    await page.locator('#status[data-state="live"]').waitFor();
    await become("the pinned kinds", () => page.locator('#picker [data-group="Pinned"] .kind').allInnerTexts(), [
      "Deployments",
      "ConfigMaps",
    ]);
    assert.equal(await page.locator('#picker [data-group="Storage"]').getAttribute("open"), null);
    const seen = () => page.locator("#picker a:visible .kind").allInnerTexts();
    for (const [typed, want] of [
      ["pvc", ["PersistentVolumeClaims"]],
      ["storage.k8s.io class", ["StorageClasses", "VolumeAttributesClasses"]],
    ]) {
      await page.locator("#picker-filter").fill(typed);
      await until(
        `the kinds that match ${typed}`,
        async () => want.every((w) => seen().then((all) => all.includes(w))) && (await seen()).includes(want[0]),
      );
    }
    await page.locator("#picker-filter").fill("unicorn");
    await page.locator(".picker-none", { hasText: "No resources match “unicorn”." }).waitFor();
    await page.locator("#picker-filter").fill("");
    assert.equal(
      await page.locator('#picker [data-group="Storage"]').getAttribute("open"),
      null,
      "the group is folded as before the filter",
    );
    await keys(page, "Escape");
    await page.locator("#table").focus();
    await keys(page, "p");
    await become("the pinned kinds", () => page.locator('#picker [data-group="Pinned"] .kind').allInnerTexts(), [
      "Deployments",
    ]);

    await openLive(page, `${dashboard.url}r/core/v1/secrets`);
    const count = async () => Number((await link("core/v1/configmaps").locator(".count").innerText()).replace(",", ""));
    await until("the count of a kind", count);
    const requested = [];
    page.on("request", (r) => requested.push(r.url()));
    for (let i = 0; i < 5; i++) await create(where(ns), configMap(`more-${i}`));
    // Objects of earlier tests are still being deleted, so read the expected count in each attempt.
    await until("the changed count", async () => (await count()) === (await read("/api/v1/configmaps")).items.length);
    assert.deepEqual(
      requested.filter((url) => url.endsWith("/api/v1/resources")),
      [],
    );
  });
});
