// Invariant: I33.

import assert from "node:assert/strict";
import { test } from "node:test";
import { browse, chooseNamespaces, newPage, openLive, row, table } from "./browser.mjs";
import { configMap, create, namespace, remove } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { atEnd } from "./cleanup.mjs";
import { become, until } from "./wait.mjs";

await test("filters", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const [ns, other] = [await namespace(t), await namespace(t)];
  const put = (ns, name, keys, labels) =>
    create(
      `/api/v1/namespaces/${ns}/configmaps`,
      configMap(name, Object.fromEntries(Array.from({ length: keys }, (_, i) => [`k${i}`, ""])), { labels }),
    );
  await put(ns, "map-2", 11, { tier: "front" });
  await put(ns, "map-10", 9, { tier: "back" });
  await put(ns, "other", 2, {});
  await put(other, "far", 1, { tier: "front" });
  const list = `${dashboard.url}r/core/v1/configmaps`;
  const names = async (page) => (await table(page)).rows.map((r) => r.Name).filter((n) => n !== "kube-root-ca.crt");
  const search = (page) => new URL(page.url()).searchParams;

  await t.test("apply while typing, by columns, in several namespaces", async (t) => {
    const page = await newPage(t, browser);
    await openLive(page, `${list}?ns=${ns}`);
    await become("the names of the rows", () => names(page), ["map-10", "map-2", "other"]);
    await page.locator("#q").pressSequentially("map");
    await become("the names of the matching rows", () => names(page), ["map-10", "map-2"]);
    await page.locator("#count", { hasText: "2 of 4" }).waitFor();
    assert.equal(search(page).get("q"), "map");
    await put(ns, "map-new", 1, {});
    await put(ns, "not-it", 1, {});
    await become("the names of the matching rows, with the new one", () => names(page), ["map-10", "map-2", "map-new"]);
    await page.locator("#count", { hasText: "3 of 6" }).waitFor();
    await page.locator("#q").fill("zzz");
    await page.locator("#note h2", { hasText: "No ConfigMaps match the filter" }).waitFor();
    await page.locator("#q").fill("map-*");
    await page.locator("#note", { hasText: "Quotes and wildcards have no special meaning" }).waitFor();
    await page.locator("#note a").click();
    await become("the query of the URL", () => search(page).toString(), "");

    await openLive(page, `${list}?ns=${ns}&q=map`);
    const head = (name) => page.locator("#table thead th", { has: page.locator("button", { hasText: name }) });
    await head("Data").locator("button").click();
    await become("the names of the rows, sorted by number", () => names(page), ["map-new", "map-10", "map-2"]);
    assert.equal(await head("Data").getAttribute("aria-sort"), "ascending");
    assert.equal(search(page).get("sort"), "data");
    await head("Data").locator("button").click();
    await become("the names of the rows, in reverse order", () => names(page), ["map-2", "map-10", "map-new"]);
    await head("Name").locator("button").click();
    await become("the names of the rows, in natural order", () => names(page), ["map-2", "map-10", "map-new"]);
    const link = page.url();
    await chooseNamespaces(page, ns, other);
    await page.locator("#q").fill("");
    await page.locator("#labels").pressSequentially("tier=front,x in (");
    await page.locator("#labels").fill("tier=front");
    await become("the names of the matching rows of two namespaces", async () => (await names(page)).sort(), [
      "far",
      "map-2",
    ]);
    assert.deepEqual(search(page).getAll("ns"), [ns, other].sort());
    assert.equal((await row(page, "far")).Namespace, other);
    await page.goBack();
    await until("the rows of the previous view", async () => (await names(page)).length >= 3);
    const pasted = await newPage(t, browser, { javaScriptEnabled: false });
    await pasted.goto(link);
    assert.deepEqual(await pasted.locator("#tbody tr th a").allInnerTexts(), ["map-2", "map-10", "map-new"]);
  });

  await t.test("an invalid selector is explained", async (t) => {
    // The server answers an invalid selector with the status 400, which Chromium logs.
    const page = await newPage(t, browser, { allow: [/status of 400/] });
    await openLive(page, `${list}?ns=${ns}`);
    await page.locator("#labels").fill("tier in (front");
    await page.keyboard.press("Enter");
    // Wait for this text, because a loading note can appear first.
    await page.locator("#note h2", { hasText: /selector/i }).waitFor();
    assert.match(await page.locator("#note").innerText(), /tier in \(front/);
    assert.doesNotMatch(await page.locator("#status").innerText(), /Live/);
    await page.locator("#labels").fill("tier in (front)");
    await page.keyboard.press("Enter");
    await become("the rows with a valid selector", () => names(page), ["map-2"]);
    await page.locator('#status[data-state="live"]').waitFor();
    const answer = await page.goto(`${list}?ns=${ns}&labels=tier+in+(front`);
    assert.equal(answer.status(), 400);
    await page.locator("#note h2", { hasText: /selector/i }).waitFor();
    await page.locator("#note a").click();
    await until("the rows", async () => (await names(page)).length > 0);
  });

  await t.test("a missing one of several namespaces is named until it exists", async (t) => {
    const later = `${ns}-later`;
    const words = `Namespace ${later} does not exist.`;
    const plain = await newPage(t, browser, { javaScriptEnabled: false });
    await until("the note about the missing namespace without script", async () => {
      await plain.goto(`${list}?ns=${ns}&ns=${later}`);
      return (await plain.locator("#coverage-note").innerText()) === words;
    });
    const page = await newPage(t, browser);
    await openLive(page, `${list}?ns=${ns}&ns=${later}`);
    await become("the note about the missing namespace", () => page.locator("#coverage-note").innerText(), words);
    atEnd(t, () => remove(`/api/v1/namespaces/${later}`));
    await create("/api/v1/namespaces", { metadata: { name: later, labels: { "glasshouse/e2e": "" } } });
    await page.locator("#coverage-note").waitFor({ state: "hidden" });
    await plain.reload();
    assert.equal(await plain.locator("#coverage-note").isHidden(), true);
    await openLive(page, `${list}?ns=${ns}&ns=${ns}-never`);
    await become(
      "the note about the missing namespace",
      () => page.locator("#coverage-note").innerText(),
      `Namespace ${ns}-never does not exist.`,
    );
    await chooseNamespaces(page, ns);
    await page.locator("#coverage-note").waitFor({ state: "hidden" });
  });

  await t.test("a missing namespace links to the list of namespaces", async (t) => {
    // The server answers a missing namespace with the status 404, which Chromium logs.
    const page = await newPage(t, browser, { allow: [/status of 404/] });
    const answer = await page.goto(`${list}?ns=${ns}-never`);
    assert.equal(answer.status(), 404);
    await page.locator('#note[data-note*="view-namespaces"] a', { hasText: "View namespaces" }).click();
    await page.locator("#heading", { hasText: "Namespaces" }).waitFor();
    await page.locator('#status[data-state="live"]').waitFor();
  });

  await t.test("an unknown column is named on every page", async (t) => {
    const few = await Dashboard.start(t, { flags: ["--page-rows", "2"] });
    const words =
      "No column “colour” to sort by, and no column “weight” to show. " +
      "Available: namespace, name, data, age, last change.";
    for (const [what, { url }, javaScriptEnabled] of [
      ["of the complete list", dashboard, true],
      ["of the windowed list", few, true],
      ["of the list without script", dashboard, false],
    ]) {
      const page = await newPage(t, browser, { javaScriptEnabled });
      await until(`the rows ${what}`, async () => {
        await page.goto(`${url}r/core/v1/configmaps?ns=${ns}&sort=colour&cols=data&cols=weight`);
        return (await names(page)).length > 0;
      });
      if (javaScriptEnabled) await page.locator('#status[data-state="live"]').waitFor();
      assert.equal(await page.locator("#coverage-note").innerText(), words, what);
      assert.deepEqual(
        [(await names(page))[0], await page.locator("thead th").allInnerTexts()],
        ["map-10", ["Name", "Data"]],
        what,
      );
    }
  });

  await t.test("an unknown URL suggests where to go", async (t) => {
    const page = await newPage(t, browser, { allow: [/status of 40[04]/] });
    for (const [path, status] of [
      ["r/example.org/v1/unicorns", 404],
      ["nothing/here", 404],
      ["r/core/v1/pods?colour=red", 400],
    ]) {
      const answer = await page.goto(dashboard.url + path);
      assert.equal(answer.status(), status, path);
      assert.match(answer.headers()["content-type"], /text\/html/);
      assert.equal(await page.locator(".note .code").innerText(), String(status));
      assert.ok((await page.locator(".note h1").innerText()).length > 5);
      await page.locator(".note a").first().click();
      await page.locator('#status[data-state="live"]').waitFor();
    }
  });
});
