// The screen is 390 pixels wide.
//
// Invariant: I35.
import assert from "node:assert/strict";
import { test } from "node:test";
import { browse, newPage, openLive } from "./browser.mjs";
import { read } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";

await test("a phone", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const pods = `${dashboard.url}r/core/v1/pods`;

  await t.test("has the status page and the help in its menu", async (t) => {
    const page = await newPage(t, browser, { viewport: { width: 390, height: 844 } });
    await openLive(page, pods);
    const menu = page.getByRole("button", { name: "Menu" });
    await menu.click();
    await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
    await page.locator("#keys h2").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("#keys").waitFor({ state: "detached" });
    await menu.click();
    await page.getByRole("link", { name: "Watch status" }).click();
    await page.waitForURL("**/status");
    // The page replaces cells while it loads, so find and measure them in one call.
    const end = await page.waitForFunction(() => {
      const cells = [...document.querySelectorAll(".watch-rows .state .words")];
      return Math.max(0, ...cells.map((cell) => cell.getBoundingClientRect().right));
    });
    const right = await end.jsonValue();
    assert.ok(right <= 390, `the watch state of a kind ends at ${right}`);
    await page.setViewportSize({ width: 1440, height: 900 });
    await openLive(page, pods);
    assert.deepEqual(
      await Promise.all(["#connection", "#help", ".picker-foot"].map((e) => page.locator(e).isVisible())),
      [true, true, false],
      "a wide screen shows both in its header: the status page in the popover of the status",
    );
    await page.locator("#connection").click();
    await page.locator("#connection-pop a", { hasText: "Watch status" }).waitFor();
  });

  await t.test("shows all tab names", async (t) => {
    const { name } = (await read("/api/v1/namespaces/shop/pods")).items[0].metadata;
    const page = await newPage(t, browser, { viewport: { width: 360, height: 780 } });
    for (const address of [`${pods}?open=shop/${name}`, `${dashboard.url}o/core/v1/pods/shop/${name}`]) {
      await page.goto(address);
      const tabs = page.getByRole("tab");
      await tabs.first().waitFor();
      for (const tab of await tabs.all()) {
        await tab.click();
        const cut = await tabs.evaluateAll((all) =>
          all
            .filter(
              (e) =>
                e.getBoundingClientRect().left < 0 ||
                e.getBoundingClientRect().right > innerWidth ||
                e.scrollWidth > e.clientWidth,
            )
            .map((e) => e.textContent),
        );
        assert.deepEqual(cut, []);
      }
      assert.equal(await page.locator(".page-link:visible").count(), 0, "the panel fills the window already");
    }
  });

  await t.test("shows the complete export menu", async (t) => {
    const page = await newPage(t, browser, { viewport: { width: 390, height: 844 } });
    await openLive(page, pods);
    for (const width of [390, 320, 600, 790]) {
      await page.setViewportSize({ width, height: 844 });
      await page.locator("#export summary").click();
      const { left, right } = await page.locator("#export ul").evaluate((e) => e.getBoundingClientRect().toJSON());
      assert.ok(left >= 0 && right <= width, `${left} to ${right} of ${width}`);
      await page.keyboard.press("Escape");
    }
  });
});
