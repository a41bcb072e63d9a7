// The home page shows the problems of the demo cluster, worst first, and stays live. Guests see only what they share.
//
// Invariant: I35.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { browse, newPage, openLive } from "./browser.mjs";
import { create, deployment, namespace, patch } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { openLink, share } from "./sharing.mjs";
import { become, until } from "./wait.mjs";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"];

await test("home", { timeout: 600_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  const names = (page) => page.locator("#rows > .finding .what .object-link").allInnerTexts();
  const severities = (page) =>
    page.locator("#rows > .finding").evaluateAll((all) => all.map((li) => li.dataset.severity));
  // Reports whether every problem contains a failed object. This can be another object than the one that the problem
  // names.
  const haveFailedObjects = (page) =>
    page
      .locator("#rows > .finding")
      .evaluateAll((all) => all.every((li) => li.outerHTML.includes('data-severity="failed"')));
  const home = async (page, address = dashboard.url) => {
    await openLive(page, address);
    await until("the problems", async () => (await names(page)).length > 0);
  };

  await t.test("shows problems, worst first, with one line for each cause", async (t) => {
    const page = await newPage(t, browser);
    await home(page);
    const shown = await severities(page);
    assert.deepEqual(
      shown,
      shown.toSorted((a, b) => (a === b ? 0 : a === "failed" ? -1 : 1)),
    );
    assert.ok(shown.includes("failed"));
    const keys = await page.locator("#rows > .finding").evaluateAll((all) => all.map((li) => li.dataset.key));
    assert.equal(new Set(keys).size, keys.length, "each object is listed once");
    const [, failed] = /^\((\d+)\) Home - demo$/.exec(await page.title()) ?? [];
    const filter = await page.locator("#severity-counts [data-severity=failed]").innerText();
    assert.equal(`${failed} failed`, filter.replaceAll(",", ""), "title and filter count the same objects");
    const strip = await page.locator(".strip").innerText();
    for (const fact of [
      /API server v1\./,
      /Responds/,
      /Nodes ready\s+\d+ of \d+/,
      /Pods \d+/,
      /CPU requested/,
      /Memory requested/,
    ])
      assert.match(strip, fact);
    await until("all resources to be loaded", async () => (await page.locator(".watched li").count()) > 10);
  });

  await t.test("a new problem appears and disappears without a reload", async (t) => {
    await create(`/apis/apps/v1/namespaces/${ns}/deployments`, deployment("fine", 1));
    const page = await newPage(t, browser);
    await openLive(page, `${dashboard.url}ns/${ns}`);
    await page.evaluate(() => {
      window.e2e.same = true;
    });
    await become(
      "the note of the empty page",
      () =>
        page
          .locator(".empty-title")
          .innerText()
          .then((s) => s.slice(0, 11)),
      "No problems",
    );
    // No node has this label, so the pods stay pending.
    const spec = { template: { spec: { nodeSelector: { "e2e.example.com/none": "true" } } } };
    await create(`/apis/apps/v1/namespaces/${ns}/deployments`, {
      ...deployment("stuck", 3),
      spec: { ...deployment("stuck", 3).spec, progressDeadlineSeconds: 5 },
    });
    await patch(`/apis/apps/v1/namespaces/${ns}/deployments/stuck`, { spec });
    await until("the new problem", async () => (await names(page)).join().includes("stuck"), 90_000);
    assert.equal(
      (await names(page)).filter((name) => name.includes("stuck")).length,
      1,
      "the pods of the Deployment are one problem",
    );
    await patch(`/apis/apps/v1/namespaces/${ns}/deployments/stuck`, { spec: { replicas: 0 } });
    await until("the problem to disappear", async () => !(await names(page)).join().includes("stuck"), 90_000);
    assert.ok(await page.evaluate(() => window.e2e.same));
  });

  await t.test("the keys of lists work, and the filter is in the URL", async (t) => {
    const page = await newPage(t, browser);
    await home(page);
    const all = await names(page);
    await page.keyboard.press("/");
    await page.keyboard.type("is:failed");
    await until("only problems with failed objects", () => haveFailedObjects(page));
    assert.equal(new URL(page.url()).searchParams.get("q"), "is:failed");
    await page.keyboard.press("Escape");
    await become("the number of problems", async () => (await names(page)).length, all.length);
    await page.keyboard.press("Enter");
    const focused = () => page.evaluate(() => document.activeElement.innerText);
    assert.equal(await focused(), all[0]);
    await page.keyboard.press("j");
    assert.equal(await focused(), all[1]);
    await page.keyboard.press("k");
    await page.keyboard.press("PageDown");
    const paged = all.indexOf(await focused());
    assert.ok(paged > 1 || all.length === 2, "Page Down moves by more than one problem");
    await page.keyboard.press("PageUp");
    assert.equal(await focused(), all[0]);
    await page.keyboard.press(".");
    const menu = page.locator(".row-menu");
    await menu.getByRole("menuitem", { name: "YAML" }).waitFor();
    assert.match(await menu.innerText(), /Overview.*Open in new tab\s+Copy name/s);
    await page.keyboard.press("Escape");
    await become("the number of open menus", () => menu.count(), 0);
    assert.equal(await focused(), all[0]);
    await page.keyboard.press("?");
    const help = page.locator("#keys");
    await help.waitFor();
    for (const label of [
      "Actions",
      "Copy name",
      "Page down",
      "YAML",
      "Events",
      "Logs",
      "Mark object to compare",
      "Export problems",
    ])
      assert.equal(await help.getByText(label, { exact: true }).count(), 1, label);
    await page.keyboard.press("Escape");
    await page.keyboard.press("y");
    await page.waitForURL(/\?tab=yaml$/);
    await page.goBack();
    await home(page, page.url());
    await page.keyboard.press("j");
    const href = await page.evaluate(() => document.activeElement.href);
    await page.keyboard.press("Enter");
    await page.waitForURL(href);
    await page.locator('#status[data-state="live"]').waitFor();
    await page.keyboard.press("h");
    await page.waitForURL(dashboard.url);
    await page.locator('#status[data-state="live"]').waitFor();
    await page.keyboard.press(":");
    await page.locator("#palette-box").waitFor();
    await page.keyboard.type("ns shop");
    await page.getByRole("option", { name: "Problems in shop" }).first().waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(`${dashboard.url}ns/shop`);
    await home(page, page.url());
    assert.ok((await names(page)).every((name) => name.startsWith("shop/") || !name.includes("/")));
    await page.getByRole("link", { name: "All namespaces" }).click();
    await page.waitForURL(dashboard.url);
  });

  await t.test("an unknown namespace gets an error page", async (t) => {
    const page = await newPage(t, browser, { allow: [/status of 404/] });
    const answer = await page.goto(`${dashboard.url}ns/nowhere`);
    assert.equal(answer.status(), 404);
    await page.getByRole("heading", { name: "Unknown namespace" }).waitFor();
    await page.getByRole("link", { name: "View namespaces" }).click();
    await page.waitForURL(/namespaces$/);
  });

  await t.test("works without script", async (t) => {
    const page = await newPage(t, browser, { javaScriptEnabled: false });
    await until("problems in the HTML", async () => {
      await page.goto(dashboard.url);
      return (await names(page)).length > 3;
    });
    const count = (await names(page)).length;
    await page.locator("#q").fill("is:failed");
    await page.locator("#filters button[type=submit]").click();
    await page.waitForURL(/q=is%3Afailed/);
    assert.ok((await names(page)).length <= count);
    assert.ok(await haveFailedObjects(page));
  });

  await t.test("a guest sees only what the link shares", async (t) => {
    const owner = await newPage(t, browser);
    await openLive(owner, `${dashboard.url}r/core/v1/pods?ns=shop`);
    const created = await owner.evaluate(async () => {
      const response = await fetch("/api/v1/shares", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          parts: ["core/v1/pods", "apps/v1/deployments"].map((resource) => ({ resource, namespaces: ["shop"] })),
          to: "/",
        }),
      });
      return response.json();
    });
    const guest = await newPage(t, browser);
    await openLink(guest, created.url);
    assert.equal(guest.url(), dashboard.url);
    await openLive(guest, `${dashboard.url}r/core/v1/pods?ns=shop`);
    await guest.locator("a#home").click();
    await guest.waitForURL(dashboard.url);
    await until("problems", async () => (await names(guest)).length > 0);
    assert.ok((await names(guest)).every((name) => name.startsWith("shop/")));
    const hrefs = await guest.locator("main a").evaluateAll((all) => all.map((a) => a.pathname));
    for (const href of hrefs) assert.match(href, /^\/(r|o)\/(core\/v1\/pods|apps\/v1\/deployments)(\/shop\/|$)|^\/$/);
    await guest.loaded();
    assert.doesNotMatch(guest.wire.join("\n"), /"ns":"(payments|data|kube-system)"/);
    assert.match(
      await guest.locator(".strip").innerText(),
      /API server\s+Responds(?! in)/,
      "the guest sees no facts about the cluster",
    );
  });

  await t.test("the share dialog offers the page, and the link shows its problems", async (t) => {
    const owner = await newPage(t, browser);
    await home(owner, `${dashboard.url}ns/shop?q=is:failed`);
    await until("the resources in the picker", async () => (await owner.locator("#picker a[data-ref]").count()) > 10);
    const shown = await names(owner);
    await owner.keyboard.press("L");
    await owner.locator(".share-form").waitFor();
    assert.equal(await owner.locator("input[name=what]:checked").inputValue(), "home");
    assert.match(await owner.locator(".share-visible").innerText(), /^The link shows Pods, .* in shop\./);
    assert.ok(await owner.getByLabel("Include logs").isVisible());
    await owner.keyboard.press("Escape");
    const url = await share(owner, async (form) => {
      assert.equal(await form.locator("input[name=what]:checked").inputValue(), "home");
    });
    const guest = await newPage(t, browser);
    await openLink(guest, url);
    assert.equal(guest.url(), `${dashboard.url}ns/shop?q=is:failed`);
    // The guest can see more problems than the owner: if the link does not share the common cause of several problems,
    // the guest sees these problems separately.
    await until("the guest to see the problems that the owner shared", async () => {
      const seen = await names(guest);
      return shown.every((name) => seen.includes(name)) && seen.every((name) => name.startsWith("shop/"));
    });
    await guest.loaded();
    assert.doesNotMatch(guest.wire.join("\n"), /"ns":"(payments|data|kube-system)"/);
  });

  await t.test("is accessible in both themes, on a phone and on a wall display", async (t) => {
    const page = await newPage(t, browser);
    await page.addInitScript({ path: axe });
    for (const [colorScheme, width, address] of [
      ["light", 1440, dashboard.url],
      ["dark", 1440, `${dashboard.url}ns/shop`],
      ["light", 390, dashboard.url],
      ["dark", 390, dashboard.url],
      ["dark", 1920, `${dashboard.url}?kiosk=1`],
    ]) {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.setViewportSize({ width, height: 844 });
      await home(page, address);
      const found = await page.evaluate(
        async (values) =>
          (await window.axe.run(document, { runOnly: { type: "tag", values }, preload: false })).violations.map(
            (v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html)}`,
          ),
        tags,
      );
      assert.deepEqual(found, [], `${address} in ${colorScheme} with ${width} pixels`);
      const widths = await page.evaluate(() =>
        [document.documentElement, document.querySelector("#overview")].map((e) => e.scrollWidth - e.clientWidth),
      );
      assert.deepEqual(widths, [0, 0], "the page does not scroll sideways");
    }
  });
});
