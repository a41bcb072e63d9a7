import assert from "node:assert/strict";
import { test } from "node:test";
import { browse, newPage, openLive, status, table } from "./browser.mjs";
import { read } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { become } from "./wait.mjs";

await test("permissions", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const allow = [/status of 403/];

  await t.test("a user without permissions sees an explanation", async (t) => {
    const dashboard = await Dashboard.start(t, { user: "nobody" });
    const page = await newPage(t, browser, { allow });
    const plain = await newPage(t, browser, { allow, javaScriptEnabled: false });
    await page.goto(`${dashboard.url}r/core/v1/pods`);
    await become("the status", () => status(page), "Forbidden");
    const note = page.locator("#note");
    assert.match(await note.innerText(), /Forbidden: you cannot list Pods/);
    assert.match(await note.innerText(), /User "[^"]+" cannot list resource "pods"/);
    assert.match(await note.innerText(), /Select a namespace that you can read, or ask your cluster admin/);
    assert.match(await note.innerText(), /Check with: kubectl auth can-i list pods$/m);
    assert.equal((await table(page)).rows.length, 0);
    await page.locator('#picker a[data-ref="core/v1/pods"][data-state="forbidden"]').waitFor();
    await page.locator('#picker a[data-ref="core/v1/pods"]').focus();
    await become(
      "the tooltip to explain the missing permission",
      async () =>
        /Pods \(core\/v1\/pods\): forbidden\. User "[^"]+" cannot list resource "pods"/.test(
          await page.getByRole("tooltip").innerText(),
        ),
      true,
    );
    await page.locator("#picker-filter").focus();
    await page.getByRole("tooltip").waitFor({ state: "hidden" });
    await page.locator('#picker a[data-ref="core/v1/pods"]').hover();
    await page.getByRole("tooltip").waitFor();
    await page.locator("#heading").hover();

    await page.goto(`${dashboard.url}r/apps/v1/deployments?ns=shop`);
    await page.getByText("Check with: kubectl auth can-i list deployments.apps -n shop").waitFor();
    await plain.goto(`${dashboard.url}r/apps/v1/deployments?ns=shop`);
    await plain.getByText("Check with: kubectl auth can-i list deployments.apps -n shop").waitFor();

    await plain.goto(`${dashboard.url}r/core/v1/pods`);
    assert.match(await plain.locator("#note").innerText(), /Forbidden: you cannot list Pods/);
    const answer = await plain.goto(`${dashboard.url}o/core/v1/pods/shop/no-such-pod`);
    assert.equal(answer.status(), 403);
    assert.match(await plain.locator(".note").innerText(), /forbidden|may not/i);
  });

  await t.test("a user with one namespace sees that namespace", async (t) => {
    const dashboard = await Dashboard.start(t, { user: "limited" });
    const page = await newPage(t, browser, { allow });
    await openLive(page, `${dashboard.url}r/core/v1/pods?ns=shop`);
    const want = (await read("/api/v1/namespaces/shop/pods")).items.map((p) => p.metadata.name).sort();
    assert.ok(want.length > 5);
    await page.locator("#count", { hasText: new RegExp(`^${want.length}$`) }).waitFor();
    const drawn = (await table(page)).rows.map((r) => r.Name);
    assert.ok(drawn.length > 5 && drawn.every((name) => want.includes(name)));
    // Users without permission to list namespaces can enter a name.
    await page.keyboard.press("n");
    await page.locator("#namespace-button-pop .pop-note", { hasText: "Namespaces cannot be listed" }).waitFor();
    assert.deepEqual(await page.locator("#namespace-button-pop .pop-list .name").allInnerTexts(), ["shop"]);
    await page.keyboard.type("payments");
    await page.locator("#namespace-button-pop .pop-note", { hasText: "Press Enter to show payments." }).waitFor();
    await page.keyboard.press("Enter");
    await become("the status", () => status(page), "Forbidden");
    assert.match(await page.locator("#note").innerText(), /list pods -n payments/);
    const plain = await newPage(t, browser, { allow, javaScriptEnabled: false });
    await plain.goto(page.url());
    for (const shown of [page, plain])
      await shown.locator("#note a", { hasText: "Show Pods in all namespaces where you can list them" }).click();
    await become("the query of the URL without script", () => new URL(plain.url()).search, "");
    await become(
      "the note about the covered namespaces without script",
      async () => {
        await plain.reload();
        return plain.locator("#coverage-note").innerText();
      },
      "Showing namespace shop only (no access to others).",
    );
    await become("the query of the URL", () => new URL(page.url()).search, "");
    await become(
      "the note about the covered namespaces",
      () => page.locator("#coverage-note").innerText(),
      "Showing namespace shop only (no access to others).",
    );
    await page.locator("#count", { hasText: new RegExp(`^${want.length}$`) }).waitFor();
    await page.goBack();
    await page.goBack();
    await page.locator('#status[data-state="live"]').waitFor();
    assert.deepEqual(
      (await table(page)).rows.map((r) => r.Name),
      drawn,
    );
  });
});
