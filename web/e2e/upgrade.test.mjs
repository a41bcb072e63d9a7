// The dashboard is upgraded while its pages are open.
//
// Invariant: I38.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { browse, newPage, openLive, row } from "./browser.mjs";
import { configMap, create, namespace } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { atEnd } from "./cleanup.mjs";
import { until } from "./wait.mjs";

const root = resolve(import.meta.dirname, "../..");

// Builds the dashboard with an app.js that sets an attribute with the build's name.
function build(folder, name) {
  const app = join(root, "web/static/dist/app.js");
  const other = join(folder, `${name}.js`);
  writeFileSync(other, `${readFileSync(app, "utf8")}\ndocument.documentElement.dataset.e2eBuild = "${name}";\n`);
  const overlay = join(folder, `${name}.json`);
  writeFileSync(overlay, JSON.stringify({ Replace: { [app]: other } }));
  const binary = join(folder, name);
  execFileSync(
    "go",
    ["build", "-trimpath", "-ldflags", "-s -w", "-overlay", overlay, "-o", binary, "./cmd/dashboard"],
    { cwd: root, env: { ...process.env, CGO_ENABLED: "0" }, stdio: "inherit" },
  );
  return binary;
}

await test("an upgrade", { timeout: 600_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "glasshouse-upgrade-"));
  atEnd(t, () => rmSync(folder, { recursive: true }));
  const builds = ["second", "third"].map((name) => build(folder, name));
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  const where = `/api/v1/namespaces/${ns}/configmaps`;
  await create(where, configMap("before"));
  const list = `r/core/v1/configmaps?ns=${ns}`;
  // Until discovery has succeeded, a server that has just started responds with 503.
  const allow = [/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|status of 503/];
  const live = (page) => page.locator('#status[data-state="live"]').waitFor({ timeout: 30_000 });
  const updateNotice = (page) => page.locator("#build", { hasText: "Glasshouse was updated." });
  const ofBuild = (page, name) => page.locator(`html[data-e2e-build="${name}"]`);

  await t.test("is reported in the page, which keeps working until it is reloaded", async (t) => {
    const page = await newPage(t, browser, { allow });
    await openLive(page, `${dashboard.url}${list}`);
    await page.locator("#q").fill("e");
    await page.waitForURL(/q=e/);
    const phone = await newPage(t, browser, { allow, viewport: { width: 390, height: 844 } });
    await openLive(phone, `${dashboard.url}${list}&open=${ns}/before`);
    const plain = await newPage(t, browser, { allow });
    await openLive(plain, `${dashboard.url}o/core/v1/configmaps/${ns}/before`);
    for (const p of [page, phone, plain])
      await p.evaluate(() => {
        window.e2e.same = true;
      });
    await dashboard.restart();
    for (const p of [page, phone, plain]) await live(p);
    await create(where, configMap("restarted"));
    await until("the row that was created after a restart", () => row(page, "restarted"));
    assert.equal(await updateNotice(page).count(), 0, "a restart of the same build shows no update notice");

    await dashboard.upgrade(builds[0]);
    for (const p of [page, phone, plain]) {
      await updateNotice(p).waitFor({ timeout: 30_000 });
      assert.equal(await p.evaluate(() => window.e2e.same), true, "the page is not reloaded");
      assert.equal(
        await p.evaluate(() => document.documentElement.scrollWidth > innerWidth),
        false,
        "the page does not scroll sideways",
      );
      const button = p.getByRole("button", { name: "Reload", exact: true });
      assert.equal(
        await button.evaluate((b) => {
          const at = b.getBoundingClientRect();
          return document.elementFromPoint(at.x + at.width / 2, at.y + at.height / 2) === b;
        }),
        true,
        "the button is not covered",
      );
    }
    await live(page);
    await create(where, configMap("between"));
    await until("the row that was created after the upgrade", () => row(page, "between"));
    await page.locator("#connection").focus();
    await until("the Reload button to be reached with Tab", async () => {
      await page.keyboard.press("Tab");
      return page.evaluate(() => document.activeElement.textContent === "Reload");
    });
    await page.keyboard.press("Enter");
    await ofBuild(page, "second").waitFor();
    await live(page);
    assert.equal(await page.locator("#q").inputValue(), "e");
    await until("the rows after the reload", () => row(page, "before"));
    assert.equal(await updateNotice(page).count(), 0);
  });

  // Headless Chromium never hides a page, so override document.hidden. Timers of one minute or more run 60 times
  // faster.
  await t.test("reloads only hidden lists without state", async (t) => {
    const hide = () => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
      document.dispatchEvent(new Event("visibilitychange"));
    };
    const quicken = () => {
      const after = window.setTimeout;
      window.e2e.waited = 0;
      window.setTimeout = (run, ms = 0, ...rest) =>
        ms < 60_000
          ? after(run, ms, ...rest)
          : after(() => {
              window.e2e.waited++;
              run();
            }, ms / 60);
    };
    const open = async (query = "", hear = null) => {
      const page = await newPage(t, browser, { allow: [...allow, /ERR_FAILED/] });
      await page.addInitScript(quicken);
      if (hear !== null)
        await page.routeWebSocket(/\/api\/v1\/live(\?|$)/, (ws) => {
          const server = ws.connectToServer();
          server.onMessage((frame) => {
            for (const m of [JSON.parse(frame)].flat()) hear(m, ws);
          });
        });
      await openLive(page, `${dashboard.url}${list}${query}`);
      await until("the row of the list", () => row(page, "before"));
      return page;
    };
    let stopped = false;
    const sockets = [];
    // Forwards messages up to the first one that announces the new build. After that, it closes all connections.
    const cut = (m, ws) => {
      if (stopped === "permanently") return void ws.close({ code: 3000 });
      ws.send(JSON.stringify(m));
      if (stopped && m.build !== undefined) {
        stopped = "permanently";
        ws.close({ code: 3000 });
      }
    };
    // Drops messages with the state of a subscription, so that the page does not become live.
    const suppressState = (m, ws) => {
      if (!stopped || m.type !== "state") return void ws.send(JSON.stringify(m));
      if (!sockets.includes(ws)) sockets.push(ws);
    };
    const back = (page) => page.evaluate(() => dispatchEvent(new Event("online")));
    // Intercepts only requests of the page's script, not those of the browser for a navigation.
    const intercepted = (answer) => (page) =>
      page.route("**/r/**", (route) => (route.request().isNavigationRequest() ? route.continue() : answer(route)));
    const other = (route) =>
      route.fulfill({ contentType: "text/html", body: '<script type="module" src="/static/app.js?v=0"></script>' });
    // Each entry: a reason not to reload a page, the page, a function that creates the reason, and one that removes it.
    const blockers = [
      ["an open object", await open(`&open=${ns}/nowhere`), () => {}, (page) => page.locator("#panel .close").click()],
      ["the open activity", await open(), (page) => page.keyboard.press("a"), (page) => page.keyboard.press("a")],
      [
        "an incomplete selector",
        await open(),
        (page) => page.locator("#labels").pressSequentially("app in ("),
        (page) => page.locator("#labels").fill(""),
      ],
      [
        "a filter of the picker",
        await open(),
        (page) => page.locator("#picker-filter").fill("map"),
        (page) => page.locator("#picker-filter").fill(""),
      ],
      ["an open dialog", await open(), (page) => page.keyboard.press("?"), (page) => page.keyboard.press("Escape")],
      [
        "an open popover",
        await open(),
        (page) => page.locator("#columns").click(),
        (page) => page.keyboard.press("Escape"),
      ],
      ["an active row", await open(), (page) => page.keyboard.press("j"), null],
      [
        "selected text",
        await open(),
        (page) => page.evaluate(() => getSelection().selectAllChildren(document.getElementById("heading"))),
        (page) => page.evaluate(() => getSelection().removeAllRanges()),
      ],
      ["a lost connection", await open("", cut), () => {}, (page) => back(page)],
      [
        "rows that are not live",
        await open("", suppressState),
        () => {},
        (page) => {
          for (const ws of sockets) ws.close({ code: 3000 });
          return back(page);
        },
      ],
      ["a failed request", await open(), intercepted((route) => route.abort()), (page) => page.unroute("**/r/**")],
      ["a response of another build", await open(), intercepted(other), (page) => page.unroute("**/r/**")],
    ];
    const [left, seen] = [await open(), await open("&q=be")];
    for (const [, page, block] of blockers) await block(page);
    for (const page of [left, ...blockers.map(([, page]) => page)]) await page.evaluate(hide);
    await dashboard.stop();
    stopped = true;
    await dashboard.upgrade(builds[1]);
    await updateNotice(seen).waitFor({ timeout: 30_000 });
    await ofBuild(left, "third").waitFor({ timeout: 30_000 });
    await live(left);
    assert.equal(await updateNotice(left).count(), 0);
    const reloadedEarly = [];
    for (const [what, page] of blockers) {
      await until(
        `the page with ${what} to check twice whether it can reload`,
        async () => (await ofBuild(page, "third").count()) > 0 || page.evaluate(() => window.e2e.waited > 1),
        30_000,
      );
      if ((await ofBuild(page, "third").count()) > 0) reloadedEarly.push(what);
    }
    assert.deepEqual(reloadedEarly, []);
    assert.equal(await ofBuild(seen, "third").count(), 0);
    assert.equal(await seen.evaluate(() => window.e2e.waited), 0);
    stopped = false;
    for (const [what, page, , release] of blockers) {
      if (release === null) continue;
      await release(page);
      await until(`the page to reload without ${what}`, () => ofBuild(page, "third").count(), 30_000);
    }
  });
});
