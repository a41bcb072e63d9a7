import assert from "node:assert/strict";
import { test } from "node:test";
import { browse, newPage, openLive } from "./browser.mjs";
import { configMap, create, namespace } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { become, until } from "./wait.mjs";

await test("without script", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  const where = `/api/v1/namespaces/${ns}/configmaps`;
  await create(where, configMap("with-label", { greeting: "good morning" }, { labels: { tier: "front" } }));
  await create(where, configMap("without-label"));
  const names = (page) => page.locator("#tbody tr th a").allInnerTexts();

  await t.test("lists rows, and the picker opens other kinds", async (t) => {
    const page = await newPage(t, browser, { javaScriptEnabled: false });
    // Reload until the page has rows, because the first visits can happen before the server has listed the pods.
    await until("the rows in the HTML", async () => {
      await page.goto(`${dashboard.url}r/core/v1/pods`);
      return (await names(page)).length > 50;
    });
    assert.deepEqual(await page.locator("thead th").allInnerTexts(), [
      "Namespace",
      "Name",
      "Why",
      "Ready",
      "Status",
      "Restarts",
      "Age",
    ]);
    const edges = await page.evaluate(() =>
      ["thead th:last-child", "#rows"].map((e) => document.querySelector(e).getBoundingClientRect().right),
    );
    assert.ok(edges[0] <= edges[1], "a long text in the column Why does not push other columns out of the page");
    const groups = page
      .locator('#picker a[data-kind="Event"] .kind')
      .evaluateAll((all) => all.map((e) => e.dataset.of));
    assert.deepEqual(await groups, [undefined, "events.k8s.io"]);
    assert.match(await page.locator("#asof").innerText(), /^As of \d{4}-/);
    assert.doesNotMatch(
      await page.locator("body").innerText(),
      /\bLive\b/,
      "a page without script does not claim to be live",
    );
    await page.locator("thead a", { hasText: "Name" }).last().click();
    assert.equal(new URL(page.url()).searchParams.get("sort"), "name");
    const forwards = await names(page);
    await page.locator(".pages a", { hasText: "Next" }).click();
    assert.match(await page.locator("#count").innerText(), /^101 to /);
    const second = await names(page);
    assert.ok(second.length > 20 && !second.some((n) => forwards.includes(n)), "the second page contains other rows");
    assert.equal(new URL(page.url()).searchParams.get("sort"), "name", "the sort order is kept");
    await page.locator(".pages a", { hasText: "Previous" }).click();
    await page.locator("thead a", { hasText: "Name" }).last().click();
    assert.equal(new URL(page.url()).searchParams.get("sort"), "-name");
    assert.equal((await names(page))[0], second.at(-1), "the reversed list starts with the last row");
    await page.locator("thead a", { hasText: "Name" }).last().click();
    assert.equal(new URL(page.url()).search, "");
    // Pods have failed, so the default order shows the worst rows first. A click on "Why" reverses this order.
    assert.equal(await page.locator("#tbody tr").first().getAttribute("data-severity"), "failed");
    assert.match(await page.locator("#tbody tr").first().locator(".why").innerText(), /./);
    await page.locator("thead a", { hasText: "Why" }).click();
    assert.equal(new URL(page.url()).searchParams.get("sort"), "-severity");
    assert.equal(await page.locator("#tbody tr").first().getAttribute("data-severity"), null);
    await page.locator("#picker a", { hasText: /^Deployments\d*$/ }).click();
    assert.equal(new URL(page.url()).pathname, "/r/apps/v1/deployments");
    assert.equal(await page.locator("#picker a[aria-current]").count(), 1);
  });

  await t.test("filters with the form", async (t) => {
    const page = await newPage(t, browser, { javaScriptEnabled: false });
    const list = `${dashboard.url}r/core/v1/configmaps`;
    await until("the rows in the HTML", async () => {
      await page.goto(list);
      return (await names(page)).length > 0;
    });
    const apply = async (boxes) => {
      for (const [id, value] of Object.entries(boxes)) await page.locator(`#${id}`).fill(value);
      const loaded = page.waitForEvent("load");
      await page.locator("#filters button").click();
      await loaded;
      return names(page);
    };
    assert.deepEqual((await apply({ ns })).sort(), ["kube-root-ca.crt", "with-label", "without-label"]);
    assert.equal(await page.locator("#ns").inputValue(), ns);
    assert.deepEqual(await apply({ labels: "tier=front" }), ["with-label"]);
    assert.deepEqual(await apply({ labels: "", q: "without" }), ["without-label"]);
    assert.deepEqual(await apply({ q: "nothing has this" }), []);
    assert.match(await page.locator("#note").innerText(), /No ConfigMaps match/);
    await page.locator("#note a").click();
    assert.equal(page.url(), list);
    const head = () => page.locator("thead th").allInnerTexts();
    await page.goto(`${list}?cols=data&cols=age&sort=-name`);
    assert.deepEqual(await apply({ ns }), ["without-label", "with-label", "kube-root-ca.crt"]);
    assert.deepEqual(await head(), ["Name", "Data", "Age"]);
    await page.locator("#filters a", { hasText: "Default columns" }).click();
    await page.locator("#wide").check();
    assert.deepEqual(await apply({ ns: "" }).then(head), ["Namespace", "Name", "Data", "Age", "Last change"]);
    assert.deepEqual(
      [...new URL(page.url()).searchParams].filter(([, value]) => value !== ""),
      [
        ["sort", "-name"],
        ["cols", "wide"],
      ],
    );
  });

  await t.test("works if scripts are allowed but fail to load", async (t) => {
    const list = `${dashboard.url}r/core/v1/configmaps?ns=${ns}`;
    const seen = (page) =>
      page.evaluate(() =>
        ["#filters button", "#ns", "#wide", "#jump", "#theme", "#columns", ".picker-filter", ".not-started"].filter(
          (e) => document.querySelector(e).checkVisibility({ visibilityProperty: true }),
        ),
      );
    const scripted = ["#jump", "#theme", "#columns", ".picker-filter"];
    const live = await newPage(t, browser);
    await openLive(live, list);
    assert.deepEqual(await seen(live), scripted);
    const page = await newPage(t, browser, { allow: [/Failed to load resource/] });
    await page.route("**/static/*.js*", (route) => route.abort());
    await page.goto(list);
    // At first, the page shows the controls that need the script, because the script can still arrive late.
    assert.deepEqual(await seen(page), scripted);
    assert.deepEqual(
      await page.evaluate(() => [document.documentElement.scrollHeight, document.documentElement.scrollWidth]),
      [900, 1440],
    );
    await become("the visible controls for a page without script", () => seen(page), [
      "#filters button",
      "#ns",
      "#wide",
      ".not-started",
    ]);
    assert.match(await page.locator(".not-started").innerText(), /^JavaScript did not load\./);
    await page.locator("#labels").fill("tier=front");
    await page.locator("#filters button").click();
    assert.deepEqual(await names(page), ["with-label"]);
  });

  await t.test("shows an object's YAML", async (t) => {
    const page = await newPage(t, browser, { javaScriptEnabled: false });
    await until("the row in the HTML", async () => {
      await page.goto(`${dashboard.url}r/core/v1/configmaps?ns=${ns}`);
      return (await names(page)).includes("with-label");
    });
    await page.locator("#tbody a", { hasText: "with-label" }).click();
    assert.equal(new URL(page.url()).pathname, `/o/core/v1/configmaps/${ns}/with-label`);
    const yaml = await page.locator("pre.yaml").innerText();
    for (const line of ["kind: ConfigMap", "  greeting: good morning", "    tier: front", `  namespace: ${ns}`])
      assert.ok(yaml.split("\n").includes(line), `${line} in\n${yaml}`);
    await page.locator(".crumbs a", { hasText: ns }).click();
    assert.ok((await names(page)).includes("with-label"));
  });
});
