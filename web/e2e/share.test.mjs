// Guests are viewers of a share link.
//
// Invariant: I30.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { browse, newPage, openLive, row, table } from "./browser.mjs";
import { configMap, create, namespace, patch, read } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { atEnd } from "./cleanup.mjs";
import { proxied } from "./proxied.mjs";
import { made, openLink, readCode, revoke, share } from "./sharing.mjs";
import { become, until } from "./wait.mjs";

await test("sharing", { timeout: 600_000 }, async (t) => {
  const browser = await browse(t);
  const dir = mkdtempSync(join(tmpdir(), "glasshouse-e2e-"));
  atEnd(t, () => rmSync(dir, { recursive: true, force: true }));
  const dashboard = await Dashboard.start(t, { flags: ["--data-dir", dir, "--log-level", "debug"] });
  const [ns, other] = [await namespace(t), await namespace(t)];
  const maps = `/api/v1/namespaces/${ns}/configmaps`;
  for (const name of ["a-1", "a-2"])
    await create(maps, configMap(name, { key: "a-value-that-is-masked" }, { labels: { app: "web" } }));
  await create(`/api/v1/namespaces/${other}/configmaps`, configMap("elsewhere"));
  const list = `${dashboard.url}r/core/v1/configmaps?ns=${ns}&labels=app%3Dweb`;
  const names = async (page) => (await table(page)).rows.map((r) => r.Name);
  const [pod] = (await read("/api/v1/namespaces/shop/pods")).items.map((p) => p.metadata.name);
  const tokens = [];
  const withToken = (url) => {
    tokens.push(new URL(url).hash.slice(1));
    return url;
  };

  // Chromium logs rejected requests of guests, and requests during a restart of the dashboard.
  const allow = [/status of 40[134]/, /WebSocket connection/, /ERR_CONNECTION_REFUSED/];
  const owner = await newPage(t, browser, { allow });
  await openLive(owner, list);
  const guests = (t, options = {}) => newPage(t, browser, { allow, ...options });

  await t.test("a link to this view shows its rows live, and leaves no token in the URL or the history", async (t) => {
    const url = withToken(
      await share(owner, async (form) => {
        const visible = new RegExp(
          `^The link shows ConfigMaps in ${ns} with app=web\\. .*anyone who can reach this address can already see`,
        );
        await form.locator(".share-visible", { hasText: visible }).waitFor();
        assert.match(
          await form.locator(".share-explanation").innerText(),
          /The link uses your current permissions.*ConfigMaps and environment variables are always masked/s,
        );
        await form.getByLabel("Note").fill("for <b>Anna</b>");
      }),
    );
    assert.match(url, new RegExp(`^${dashboard.url}share#[\\w-]{43}$`));
    assert.equal(await readCode(owner), url);
    assert.match(await owner.locator(".share-loopback").innerText(), /127\.0\.0\.1 is a loopback address/);
    assert.doesNotMatch(
      await owner.locator(".share-made").innerText(),
      /--data-dir/,
      "links that outlive the program need no hint about --data-dir",
    );
    await owner.getByLabel("Kiosk mode").check();
    await become(
      "the link for kiosk mode",
      () => owner.locator(".share-url").inputValue(),
      url.replace("share#", "share?kiosk=1#"),
    );
    await become("the link in the QR code", () => readCode(owner), url.replace("share#", "share?kiosk=1#"));
    await owner.getByRole("button", { name: "Copy" }).click();
    await owner.getByRole("button", { name: "Copied" }).waitFor();
    await owner.getByRole("button", { name: "Done" }).click();

    const guest = await guests(t);
    await openLink(guest, url);
    await become("the names of the rows", () => names(guest), ["a-1", "a-2"]);
    const seen = await guest.evaluate(() => ({
      here: location.href,
      back: window.navigation.entries().map((e) => e.url),
      state: JSON.stringify(history.state),
      referrer: document.referrer,
    }));
    assert.equal(seen.here, list.replace("app%3Dweb", "app=web"));
    assert.doesNotMatch(JSON.stringify(seen), new RegExp(tokens[0]));
    const cookie = (await guest.context().cookies()).find((c) => c.name.startsWith("glasshouse-share"));
    assert.deepEqual([cookie.httpOnly, cookie.value.includes(tokens[0])], [true, false]);
    tokens.push(cookie.value);

    assert.match(
      await guest.locator(".shared").innerText(),
      /Shared with you, read-only\s*until tomorrow \d\d:\d\d\s*for <b>Anna<\/b>/,
    );
    assert.deepEqual(
      await Promise.all(
        [".cluster", ".top .quiet", ".share-button", "#picker", "button.kinds", "#namespace-button"].map((e) =>
          guest.locator(`${e}:visible`).count(),
        ),
      ),
      [0, 0, 0, 0, 0, 0],
    );
    assert.deepEqual(await guest.locator("#picker a[data-ref]").evaluateAll((all) => all.map((a) => a.dataset.ref)), [
      "core/v1/configmaps",
    ]);
    await create(maps, configMap("a-3", {}, { labels: { app: "web" } }));
    await create(maps, configMap("hidden-b-1", {}, { labels: { app: "other" } }));
    await become("the names of the rows", () => names(guest), ["a-1", "a-2", "a-3"]);
    await patch(`${maps}/a-3`, { data: { k: "v", l: "w" } });
    await become("the changed cell", async () => (await row(guest, "a-3")).Data, "2");
    await guest.locator("#tbody tr", { hasText: "a-1" }).locator("td").last().click();
    const tabs = () => guest.locator("#panel [role=tab]").allInnerTexts();
    await become("the tabs", tabs, ["Overview", "YAML", "Changes"]);
    await guest.keyboard.press("y");
    await until("the YAML of the object", async () =>
      (await guest.locator("#panel .line").allTextContents()).join("\n").includes("name: a-1"),
    );
    await guest.keyboard.press("Control+k");
    await guest.keyboard.type("share");
    await until("the palette to open", () => guest.locator("#palette[open]").count());
    assert.doesNotMatch(
      (await guest.locator("#palette [role=option]").allInnerTexts()).join("\n"),
      /Share this view|watch status|Copy link/i,
    );
    await guest.loaded();
    const bytes = guest.wire.join("\n");
    for (const secret of ["a-value-that-is-masked", other, "hidden-b-1", ...tokens])
      assert.ok(!bytes.includes(secret), `the guest does not receive ${secret}`);
  });

  await t.test("other URLs are rejected, with a link back to the shared view", async (t) => {
    const url = withToken(await share(owner));
    await owner.keyboard.press("Escape");
    const guest = await guests(t);
    await openLink(guest, url);
    for (const path of [
      "r/core/v1/pods",
      "r/core/v1/secrets",
      "r/nothing/v1/here",
      `o/core/v1/pods/shop/${pod}`,
      `o/core/v1/configmaps/${other}/elsewhere`,
      `o/core/v1/configmaps/${ns}/hidden-b-1`,
    ]) {
      const answer = await guest.goto(dashboard.url + path);
      assert.ok([403, 404].includes(answer.status()), `the status of ${path} is ${answer.status()}`);
      assert.match(
        await guest.locator("#main").innerText(),
        /not shared with you|does not include the requested data|There is no/,
        path,
      );
      assert.equal(await guest.locator(".shared").count(), 1);
    }
    await guest.goto(`${dashboard.url}r/core/v1/pods`);
    await guest.getByRole("link", { name: "Go to the shared view" }).click();
    await until("the shared view", async () => (await names(guest)).includes("a-1"));
    await guest.goto(`${dashboard.url}r/core/v1/configmaps?ns=${other}`);
    await until("the page to explain that the data is not shared", async () =>
      /not shared with you|does not include the requested data/.test(await guest.locator("#main").innerText()),
    );
    assert.deepEqual(await names(guest), []);
    await guest.goto(`${dashboard.url}r/core/v1/configmaps`);
    await become("the names of the shared rows", () => names(guest), ["a-1", "a-2", "a-3"]);
    for (const path of ["api/v1/shares", "api/v1/resources", "api/v1/status"]) {
      const text = await (await guest.request.get(dashboard.url + path)).text();
      assert.doesNotMatch(text, /secrets|deployments|core\/v1\/pods/, path);
    }

    // Opening a link needs JavaScript. After that, the cookies are enough.
    const plain = await guests(t, { javaScriptEnabled: false });
    await plain.goto(url);
    assert.match(await plain.locator("#opening").innerText(), /needs JavaScript/);
    await plain.context().addCookies(await guest.context().cookies());
    await plain.goto(dashboard.url);
    assert.deepEqual(await plain.locator("#tbody th").allInnerTexts(), ["a-1", "a-2", "a-3"]);
    await plain.getByRole("button", { name: "Leave" }).click();
    await plain.getByRole("heading", { name: "You left the shared view" }).waitFor();
    assert.equal(
      (await plain.context().cookies()).find((c) => c.name.startsWith("glasshouse-share")),
      undefined,
    );
  });

  await t.test("a revoked link ends on every page within 5 s", async (t) => {
    await owner.getByRole("button", { name: "Share" }).click();
    await owner.getByRole("tab", { name: "Links" }).click();
    await become("the number of links", () => owner.locator(".share-links > li").count(), 2);
    const lines = () => owner.locator(".share-links > li").allInnerTexts();
    assert.ok(
      (await lines()).every((l) => l.includes(`ConfigMaps in ${ns} with app=web`)),
      "each link has a description",
    );
    assert.ok((await lines()).some((l) => l.includes("for <b>Anna</b>")));
    await owner.locator(".share-links > li", { hasText: "Anna" }).getByRole("button", { name: "Revoke" }).click();
    await owner.locator(".share-links").getByRole("button", { name: "Cancel" }).click();
    assert.equal((await lines()).length, 2);
    for (let n = 2; n > 0; n--) {
      await owner.locator(".share-links > li").first().getByRole("button", { name: "Revoke" }).click();
      await owner.locator(".share-links button.danger").click();
      await become("the number of links", async () => (await lines()).length, n - 1);
    }
    await owner.keyboard.press("Escape");

    const url = withToken(await share(owner));
    const guest = await guests(t);
    let sockets = 0;
    guest.on("websocket", () => sockets++);
    await openLink(guest, url);
    await until("the rows of the shared view", async () => (await names(guest)).includes("a-1"));
    await owner.getByRole("tab", { name: "Links" }).click();
    await until("the number of viewers", async () => /1 viewing/.test(await owner.locator(".share-links").innerText()));
    const began = Date.now();
    await revoke(owner);
    await guest.getByRole("heading", { name: "Link expired" }).waitFor({ timeout: 5000 });
    t.diagnostic(`the guest's page ended ${Date.now() - began} ms after the link was revoked`);
    assert.doesNotMatch(await guest.evaluate(() => document.body.innerText), /a-1|a-2/);
    await owner.keyboard.press("Escape");
    // These events make a disconnected page reconnect. After the link was revoked, they must not make it reconnect.
    await guest.evaluate(() => {
      dispatchEvent(new Event("online"));
      document.dispatchEvent(new Event("visibilitychange"));
    });
    assert.equal(sockets, 1);
    await guest.goto(list);
    await guest.getByRole("heading", { name: "Link expired" }).waitFor();
    const late = await guests(t);
    await late.goto(url);
    await late.getByRole("heading", { name: "Link not found" }).waitFor();
    assert.equal(late.url(), `${dashboard.url}share`);
  });

  await t.test("an object is shared with its log, and a guest can leave", async (t) => {
    await openLive(owner, `${dashboard.url}r/core/v1/pods?open=shop/${pod}`);
    const url = withToken(
      await share(owner, async (form) => {
        assert.equal(await form.locator("input[name=what]:checked").inputValue(), "object");
        await form.getByLabel("Include logs").check();
        await form.getByLabel("Include events about this object").check();
        assert.match(await form.locator(".share-explanation").innerText(), /Logs and event messages are not masked/);
        await form.getByLabel("7 days").check();
      }),
    );
    await owner.keyboard.press("Escape");
    const guest = await guests(t);
    await openLink(guest, url);
    assert.equal(new URL(guest.url()).pathname, `/o/core/v1/pods/shop/${pod}`);
    assert.deepEqual(await guest.locator("#object [role=tab]").allInnerTexts(), [
      "Overview",
      "YAML",
      "Changes",
      "Events",
      "Logs",
    ]);
    assert.deepEqual(await guest.locator(".crumbs a").count(), 0, "the page has no links to other pages");
    await guest.keyboard.press("l");
    await guest.locator("#object .log-line").first().waitFor();
    await guest.keyboard.press("e");
    await guest.locator("#object .events :is(li, .note p):visible").first().waitFor();
    assert.doesNotMatch(await guest.locator("#object").innerText(), /not shared|Forbidden/i);
    await guest.getByRole("button", { name: "Leave" }).click();
    await guest.getByRole("heading", { name: "You left the shared view" }).waitFor();
    assert.equal(
      (await guest.context().cookies()).find((c) => c.name.startsWith("glasshouse-share")),
      undefined,
    );
    assert.doesNotMatch(await guest.locator("body").innerText(), new RegExp(pod), "the page no longer shows the pod");
    await guest.getByRole("link", { name: "continue without the link" }).click();
    await guest.waitForURL(dashboard.url);
    assert.equal(await guest.locator(".shared").count(), 0, "the page is not a shared view");
    await revoke(owner);
    await owner.keyboard.press("Escape");
  });

  await t.test("a link with several kinds can be created by keyboard only", async (t) => {
    await openLive(owner, list);
    await until("the rows of the list", async () => (await names(owner)).length > 0);
    await owner.keyboard.press("L");
    await owner.locator(".share-form").waitFor();
    await become(
      "the name of the focused field",
      () => owner.evaluate(() => document.activeElement.getAttribute("name")),
      "what",
    );
    await owner.keyboard.press("ArrowDown");
    await become("the selected option", () => owner.locator("input[name=what]:checked").inputValue(), "kinds");
    await owner.keyboard.press("Tab");
    await owner.keyboard.type("services");
    await owner.locator(".share-list li", { hasText: /^Services/ }).waitFor();
    await owner.keyboard.press("Enter");
    await become(
      "the description of what guests see",
      async () => (await owner.locator(".share-visible").innerText()).split(". ")[0],
      `The link shows ConfigMaps in ${ns} and Services in ${ns}`,
    );
    const stops = async (id) => {
      for (let n = 1; n <= 12; n++) {
        await owner.keyboard.press("Tab");
        if ((await owner.evaluate(() => document.activeElement.id)) === id) return n;
      }
      return Infinity;
    };
    assert.ok((await stops("share-note")) <= 6, "a list is one tab stop");
    await owner.keyboard.type("two kinds");
    await owner.keyboard.press("Enter");
    const url = withToken(await made(owner));
    await become(
      "the label of the focused button",
      () => owner.evaluate(() => document.activeElement.textContent),
      "Copy",
    );
    await owner.keyboard.press("Escape");
    await owner.locator("#sharing").waitFor({ state: "hidden" });
    const guest = await guests(t);
    await openLink(guest, url);
    await until("the rows of the shared view", async () => (await names(guest)).includes("hidden-b-1"));
    assert.deepEqual(
      (await guest.locator("#picker a[data-ref]:visible").evaluateAll((all) => all.map((a) => a.dataset.ref))).sort(),
      ["core/v1/configmaps", "core/v1/services"],
    );
    await guest.locator('#picker a[data-ref="core/v1/services"]').click();
    await become("the path of the other list", () => new URL(guest.url()).pathname, "/r/core/v1/services");
    await guest.locator("#note", { hasText: "No Services" }).waitFor();
    await revoke(owner);
    await owner.keyboard.press("Escape");
  });

  await t.test("a kiosk shows only the rows, and continues after a restart", async (t) => {
    await openLive(owner, list);
    const url = withToken(await share(owner));
    await owner.getByLabel("Kiosk mode").check();
    const kiosk = await owner.locator(".share-url").inputValue();
    await owner.keyboard.press("Escape");
    const guest = await guests(t, { viewport: { width: 1920, height: 1080 } });
    await guest.addInitScript(() => {
      window.awake = 0;
      Object.defineProperty(navigator, "wakeLock", {
        value: { request: (type) => Promise.resolve({ type, released: false, n: ++window.awake }) },
      });
    });
    await openLink(guest, kiosk);
    await until("the rows of the shared view", async () => (await names(guest)).includes("a-3"));
    assert.equal(new URL(guest.url()).searchParams.get("kiosk"), "1");
    await guest.locator(".totals", { hasText: /\d failed.*\d degraded.*\d\d:\d\d/s }).waitFor();
    assert.deepEqual(
      await Promise.all(
        [".shared", ".brand", "#jump", "#filters button", "#columns", "#export", "#activity", "#picker", "#theme"].map(
          (e) => guest.locator(`${e}:visible`).count(),
        ),
      ),
      [0, 0, 0, 0, 0, 0, 0, 0, 0],
    );
    assert.deepEqual(
      await Promise.all(["#heading", "#count", "#status"].map((e) => guest.locator(`${e}:visible`).count())),
      [1, 1, 1],
    );
    assert.deepEqual(
      [
        await guest.locator("#namespace-button:visible").innerText(),
        await guest.locator("#labels:visible").inputValue(),
        await guest.locator("#q:visible").count(),
      ],
      [ns, "app=web", 0],
      "the page shows only the filters that are set",
    );
    assert.ok(
      (await guest
        .locator("#tbody th")
        .first()
        .evaluate((e) => parseFloat(getComputedStyle(e).fontSize))) >= 20,
      "the text is large",
    );
    assert.equal(await guest.evaluate(() => window.awake), 1, "the screen is kept awake");
    await dashboard.stop();
    await guest.locator('#status:not([data-state="live"])').waitFor();
    await create(maps, configMap("a-4", {}, { labels: { app: "web" } }));
    await dashboard.run(dashboard.user, dashboard.port);
    await until(
      "the row that was created during the restart",
      async () => (await names(guest)).includes("a-4"),
      40_000,
    );
    await guest.locator('#status[data-state="live"]').waitFor();
    await guest.locator("#tbody tr", { hasText: "a-4" }).locator("td").last().click();
    await become("the open object in the URL", () => new URL(guest.url()).searchParams.get("open"), `${ns}/a-4`);
    assert.equal(new URL(guest.url()).searchParams.get("kiosk"), "1", "the page is still in kiosk mode");
    await guest.goto(`${dashboard.url}?kiosk=1`);
    await guest.locator('#status[data-state="live"]').waitFor();
    assert.equal(await guest.locator(".brand:visible").count(), 0);
    await openLive(owner, list);
    await revoke(owner);
    await guest.getByRole("heading", { name: "Link expired" }).waitFor({ timeout: 5000 });
    assert.ok(url.length > 0);
  });

  await t.test("a link has the host by which its creator opened the page", async (t) => {
    const base = "/team/glasshouse";
    const proxy = await proxied(t);
    const behind = await Dashboard.start(t, { flags: ["--base-path", base, "--allowed-origin", proxy.origin] });
    proxy.to = new URL(behind.url);
    const page = await newPage(t, browser, { allow });
    await openLive(page, `${proxy.origin}${base}/r/core/v1/configmaps?ns=${ns}`);
    const url = withToken(await share(page, (form) => form.getByLabel("1 hour").check()));
    assert.ok(url.startsWith(`${proxy.origin}${base}/share#`), url);
    assert.match(await page.locator(".share-made").innerText(), /Links expire when Glasshouse restarts/);
    const guest = await guests(t);
    await openLink(guest, url);
    assert.equal(guest.url(), `${proxy.origin}${base}/r/core/v1/configmaps?ns=${ns}`);
    assert.equal((await guest.context().cookies()).find((c) => c.name.startsWith("glasshouse-share")).path, `${base}/`);
    await guest.getByRole("button", { name: "Leave" }).click();
    await until("the cookie of the link to be removed", async () =>
      (await guest.context().cookies()).every((c) => !c.name.startsWith("glasshouse-share")),
    );
    // Without a data folder, a restart of the dashboard ends all share links.
    await openLink(guest, url);
    await behind.stop();
    await guest.locator('#status:not([data-state="live"])').waitFor();
    await behind.run(behind.user, behind.port);
    await guest.getByRole("heading", { name: "Link expired" }).waitFor({ timeout: 30_000 });
    assert.deepEqual(
      proxy.requests.filter((a) => !a.startsWith(`${base}/`) && a !== "/favicon.ico"),
      [],
    );
  });

  assert.deepEqual(
    tokens.filter((s) => dashboard.log.join("\n").includes(s)),
    [],
    "the log contains no token",
  );
});
