// The program is upgraded while pages of it are open.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { browse, newPage, openLive, row } from "./browser.mjs";
import { configMap, create, namespace } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { atEnd } from "./ending.mjs";
import { until } from "./wait.mjs";

const root = resolve(import.meta.dirname, "../..");

// Builds the program with another script in it, which says that it is one.
function build(folder, name) {
  const app = join(root, "web/static/dist/app.js");
  const other = join(folder, `${name}.js`);
  writeFileSync(other, `${readFileSync(app, "utf8")}\ndocument.documentElement.dataset.e2eBuild = "${name}";\n`);
  const overlay = join(folder, `${name}.json`);
  writeFileSync(overlay, JSON.stringify({ Replace: { [app]: other } }));
  const binary = join(folder, name);
  execFileSync("go", ["build", "-trimpath", "-ldflags", "-s -w", "-overlay", overlay, "-o", binary, "./cmd/dashboard"], { cwd: root, env: { ...process.env, CGO_ENABLED: "0" }, stdio: "inherit" });
  return binary;
}

await test("an upgrade", { timeout: 300_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "glasshouse-upgrade-"));
  atEnd(t, () => rmSync(folder, { recursive: true }));
  const builds = ["second", "third"].map((name) => build(folder, name));
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  const where = `/api/v1/namespaces/${ns}/configmaps`;
  await create(where, configMap("before"));
  const list = `r/core/v1/configmaps?ns=${ns}`;
  const allow = [/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/];
  const live = (page) => page.locator('#status[data-state="live"]').waitFor({ timeout: 30_000 });
  const told = (page) => page.locator("#build", { hasText: "Glasshouse was updated." });
  const ofBuild = (page, name) => page.locator(`html[data-e2e-build="${name}"]`);

  await t.test("is told in the page, which goes on until it is reloaded", async (t) => {
    const page = await newPage(t, browser, { allow });
    await openLive(page, `${dashboard.url}${list}`);
    await page.locator("#q").fill("e");
    await page.waitForURL(/q=e/);
    const phone = await newPage(t, browser, { allow, viewport: { width: 390, height: 844 } });
    await openLive(phone, `${dashboard.url}${list}&open=${ns}/before`);
    const plain = await newPage(t, browser, { allow });
    await openLive(plain, `${dashboard.url}o/core/v1/configmaps/${ns}/before`);
    for (const p of [page, phone, plain]) await p.evaluate(() => { window.e2e.same = true; });
    await dashboard.restart();
    for (const p of [page, phone, plain]) await live(p);
    await create(where, configMap("restarted"));
    await until("a row after a restart", () => row(page, "restarted"));
    assert.equal(await told(page).count(), 0, "the same program is no other");

    await dashboard.upgrade(builds[0]);
    for (const p of [page, phone, plain]) {
      await told(p).waitFor({ timeout: 30_000 });
      assert.equal(await p.evaluate(() => window.e2e.same), true, "the page was loaded anew");
      assert.equal(await p.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, "the page is too wide");
      const button = p.getByRole("button", { name: "Reload", exact: true });
      assert.equal(await button.evaluate((b) => { const at = b.getBoundingClientRect(); return document.elementFromPoint(at.x + at.width / 2, at.y + at.height / 2) === b; }), true, "the button is covered");
    }
    await live(page);
    await create(where, configMap("between"));
    await until("a row of the other build", () => row(page, "between"));
    await page.getByRole("link", { name: "Coverage" }).focus();
    await until("the button by the keyboard", async () => {
      await page.keyboard.press("Tab");
      return page.evaluate(() => document.activeElement.textContent === "Reload");
    });
    await page.keyboard.press("Enter");
    await ofBuild(page, "second").waitFor();
    await live(page);
    assert.equal(await page.locator("#q").inputValue(), "e");
    await until("the rows", () => row(page, "before"));
    assert.equal(await told(page).count(), 0);
  });

  // Chromium without a window hides no page: it is said to be, and a minute is a second.
  await t.test("reloads a list that nobody looks at, and nothing else", async (t) => {
    const hide = () => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
      document.dispatchEvent(new Event("visibilitychange"));
    };
    const quicken = () => {
      const after = window.setTimeout;
      window.e2e.waited = 0;
      window.setTimeout = (run, ms, ...rest) => (ms < 60_000 ? after(run, ms, ...rest) : after(() => {
        window.e2e.waited++;
        run();
      }, ms / 60));
    };
    const pages = [];
    for (const path of [list, `${list}&open=${ns}/before&tab=yaml`, `${list}&q=be`]) {
      const page = await newPage(t, browser, { allow });
      await page.addInitScript(quicken);
      await openLive(page, dashboard.url + path);
      pages.push(page);
    }
    const [left, open, seen] = pages;
    for (const page of [left, open]) await page.evaluate(hide);
    await dashboard.upgrade(builds[1]);
    for (const page of [open, seen]) await told(page).waitFor({ timeout: 30_000 });
    await ofBuild(left, "third").waitFor({ timeout: 30_000 });
    await live(left);
    assert.equal(await told(left).count(), 0);
    await until("the other one to have had its time twice", () => open.evaluate(() => window.e2e.waited > 1));
    for (const page of [open, seen]) assert.equal(await ofBuild(page, "third").count(), 0);
    assert.equal(await seen.evaluate(() => window.e2e.waited), 0);
  });
});
