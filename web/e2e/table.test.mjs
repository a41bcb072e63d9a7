// Invariant: I35.

import assert from "node:assert/strict";
import { test } from "node:test";
import { browse, newPage, openLive, row, table } from "./browser.mjs";
import { configMap, create, namespace, patch, remove } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { become, until } from "./wait.mjs";

await test("the table", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  const where = `/api/v1/namespaces/${ns}/configmaps`;
  for (const name of ["b", "d", "f"]) await create(where, configMap(name, { text: "x" }));
  const list = `${dashboard.url}r/core/v1/configmaps?ns=${ns}`;
  const names = async (page) => (await table(page)).rows.map((r) => r.Name).filter((n) => n !== "kube-root-ca.crt");

  await t.test("keeps its order under the pointer", async (t) => {
    const page = await newPage(t, browser);
    await openLive(page, list);
    await become("the names of the rows", () => names(page), ["b", "d", "f"]);
    await page.locator("#tbody tr", { hasText: "d" }).first().hover();
    await create(where, configMap("a"));
    await remove(`${where}/b`);
    await patch(`${where}/f`, { data: { more: "y" } });
    await page.locator("#pending-changes", { hasText: "1 new, 1 removed" }).waitFor();
    assert.deepEqual(await names(page), ["b", "d", "f"], "no row moves");
    await become("the changed cell", async () => (await row(page, "f")).Data, "2");
    assert.equal(await page.locator("#tbody tr[data-gone]").getAttribute("data-name"), "b");
    await page.mouse.move(700, 20);
    await become("the current rows", () => names(page), ["a", "d", "f"]);
    await page.locator("#pending-changes").waitFor({ state: "hidden" });
  });

  await t.test("keeps its order under a pointer at rest", async (t) => {
    await create(where, configMap("b", { text: "x" }));
    const page = await newPage(t, browser);
    let open = () => {};
    const opened = new Promise((resolve) => {
      open = resolve;
    });
    await page.routeWebSocket(/\/api\/v1\/live(\?|$)/, async (ws) => {
      await opened;
      ws.connectToServer();
    });
    await until("the rows in the HTML", async () => {
      await page.goto(list);
      return (await names(page)).length > 0;
    });
    const over = async () => {
      const box = await page.locator("#tbody tr[data-name]").first().boundingBox();
      await page.mouse.move(box.x + 100, box.y + box.height / 2);
    };
    await over();
    open();
    await page.locator('#status[data-state="live"]').waitFor();
    await become("the names of the rows", () => names(page), ["a", "b", "d", "f"]);
    await create(where, configMap("aq"));
    await page.locator("#pending-changes", { hasText: "1 new" }).waitFor();
    assert.deepEqual(await names(page), ["a", "b", "d", "f"], "no row moves");
    // While the pointer is over the rows, a new filter still changes them immediately. A change of an object must wait.
    await page.keyboard.press("/");
    await page.keyboard.type("q");
    await become("the names of the matching rows", () => names(page), ["aq"]);
    await create(where, configMap("ap-q"));
    await page.locator("#pending-changes", { hasText: "1 new" }).waitFor();
    assert.deepEqual(await names(page), ["aq"], "no row moves");
    await page.mouse.move(700, 20);
    await become("the current rows", () => names(page), ["ap-q", "aq"]);
    for (const name of ["ap-q", "aq", "b"]) await remove(`${where}/${name}`);
  });

  await t.test("shows thirty rows and the default columns at 1440 by 900", async (t) => {
    const page = await newPage(t, browser, { viewport: { width: 1440, height: 900 } });
    await openLive(page, `${dashboard.url}r/core/v1/pods`);
    await until("more than 30 rows", async () => (await table(page)).rows.length > 30);
    const seen = await page.evaluate(() => {
      const place = document.getElementById("rows");
      const inside = (e) => {
        const b = e.getBoundingClientRect();
        return [b.left + 2, b.right - 2].every((x) =>
          [b.top + 1, b.bottom - 1].every((y) => e.contains(document.elementFromPoint(x, y))),
        );
      };
      return {
        rows: [...document.querySelectorAll("#tbody tr[data-name]")].filter(inside).length,
        head: [...document.querySelectorAll("#table thead th")].filter(inside).map((e) => e.textContent),
        over: place.scrollWidth - place.clientWidth,
      };
    });
    assert.ok(seen.rows >= 30, `${seen.rows} rows are completely visible`);
    assert.deepEqual(
      { head: seen.head, over: seen.over },
      { head: ["Namespace", "Name", "Why", "Ready", "Status", "Restarts", "Age"], over: 0 },
    );
  });

  await t.test("strikes a deleted row, and shows a cell's previous value", async (t) => {
    const page = await newPage(t, browser);
    await openLive(page, list);
    await until("the rows of the list", () => row(page, "d"));
    await page.mouse.move(700, 20);
    await page.evaluate(() => {
      window.struck = [];
      new MutationObserver((all) => {
        for (const m of all) if (m.target.hasAttribute("data-gone")) window.struck.push(m.target.dataset.name);
      }).observe(document.getElementById("tbody"), { attributes: true, attributeFilter: ["data-gone"], subtree: true });
    });
    await patch(`${where}/f`, { data: { another: "z" } }, { manager: "e2e-painter" });
    await until("the changed cell", async () => (await row(page, "f"))?.Data === "3");
    const title = await page.locator('#tbody tr[data-name="f"] td').first().getAttribute("title");
    assert.match(title, /^2 → 3\nChanged \d\d:\d\d:\d\d by e2e-painter$/);
    await remove(`${where}/d`);
    await until("the deleted row to be struck through", () => page.evaluate(() => window.struck.includes("d")));
    await become("the names of the remaining rows", () => names(page), ["a", "f"]);
  });

  await t.test("keeps names and placeholders readable next to an open object", async (t) => {
    for (const [width, height] of [
      [1440, 900],
      [1280, 800],
      [1024, 768],
    ]) {
      const page = await newPage(t, browser, { viewport: { width, height } });
      await openLive(page, `${dashboard.url}r/core/v1/pods`);
      await page.locator("#tbody tr[data-name] td").first().click();
      await page.locator("#panel h2").waitFor();
      const seen = await page.evaluate(() => {
        const clear = (e, x) =>
          e.contains(document.elementFromPoint(x, e.getBoundingClientRect().top + e.offsetHeight / 2));
        const names = [...document.querySelectorAll("#tbody th a")].slice(0, 10);
        const text = document.createElement("canvas").getContext("2d");
        const boxes = [...document.querySelectorAll(".list .bar input")].filter((e) => e.checkVisibility());
        const inner = (e) => e.clientWidth - parseFloat(getComputedStyle(e).paddingLeft) * 2;
        const words = [...document.querySelectorAll(".list .bar > :not(.spring)")].filter((e) => e.checkVisibility());
        return {
          covered: names
            .filter(
              (e) =>
                !clear(e.closest("th"), e.getBoundingClientRect().left + 2) ||
                !clear(e.closest("th"), e.getBoundingClientRect().right - 2),
            )
            .map((e) => e.textContent),
          cut: boxes
            .filter((e) => {
              text.font = getComputedStyle(e).font;
              return text.measureText(e.placeholder).width > inner(e);
            })
            .map((e) => e.placeholder),
          over: words
            .filter(
              (e, i) =>
                (i > 0 && e.getBoundingClientRect().left < words[i - 1].getBoundingClientRect().right) ||
                e.scrollWidth > e.clientWidth + 1,
            )
            .map((e) => e.id || e.className),
          names: names.length,
          boxes: boxes.length,
        };
      });
      assert.deepEqual(
        { ...seen, names: seen.names > 5, boxes: seen.boxes > 0 },
        { covered: [], cut: [], over: [], names: true, boxes: true },
        `at a width of ${width} pixels`,
      );
      if (width > 1100) continue;
      await page.locator(".kinds").click();
      await page.locator('#picker a[data-ref="core/v1/services"]').click();
      await page.locator("#side").waitFor({ state: "hidden" });
      await page.locator("#picker").waitFor();
    }
  });

  await t.test("never cuts the heading next to an open object", async (t) => {
    const page = await newPage(t, browser, { viewport: { width: 1440, height: 900 } });
    const heading = page.locator("#heading");
    for (const width of [1440, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      await openLive(page, `${dashboard.url}r/apps/v1/deployments?ns=shop&q=shop&open=shop/checkout`);
      await page.locator("#panel h2").waitFor();
      await page.locator("#severity-counts a").first().waitFor();
      assert.equal(await heading.innerText(), "Deployments");
      const cut = await heading.evaluate((e) => e.scrollWidth - e.clientWidth);
      assert.equal(cut, 0, `at ${width} pixels`);
      const box = await page.locator("#q").boundingBox();
      assert.ok(box.width < 170, "the filter field is narrower");
    }
  });

  await t.test("aligns numbers and ages to the right, and their headers too", async (t) => {
    const page = await newPage(t, browser);
    await openLive(page, `${dashboard.url}r/core/v1/pods?ns=shop`);
    await until("the rows", async () => (await table(page)).rows.length > 3);
    const aligned = (elements) => elements.evaluateAll((all) => all.map((e) => getComputedStyle(e).textAlign));
    const heads = await page.locator("#table thead th").allInnerTexts();
    assert.equal(heads.filter((name) => /^(Ready|Restarts|Age)/.test(name)).length, 3, heads.join(", "));
    const isRight = heads.map((name) => (/^(Ready|Restarts|Age)/.test(name) ? "right" : "left"));
    assert.deepEqual(await aligned(page.locator("#table thead th > button")), isRight);
    assert.deepEqual(await aligned(page.locator("#tbody tr[data-name]").first().locator("> *")), isRight);
  });

  await t.test("applies the theme and density from the first paint", async (t) => {
    const page = await newPage(t, browser, { colorScheme: "light" });
    await openLive(page, list);
    const ground = () => page.evaluate(() => getComputedStyle(document.body.parentElement).backgroundColor);
    const light = await ground();
    await page.locator("#theme").click();
    const dark = await ground();
    assert.notEqual(dark, light);
    await page.reload();
    assert.equal(await ground(), dark);
    const html = await (await page.request.get(list)).text();
    assert.match(html, /<html lang="en" data-theme="dark"/, "the HTML already has the theme");
    await page.locator("#tbody tr", { hasText: "f" }).locator("td").last().click();
    await page.locator("#panel h2").waitFor();
    const width = () => page.locator("#panel").evaluate((e) => e.offsetWidth);
    const before = await width();
    await page.locator("#split").press("ArrowLeft");
    await become("the width of the panel", width, before + 24);
    await page.reload();
    await page.locator("#panel h2").waitFor();
    assert.equal(await width(), before + 24);
    assert.equal(await page.locator("#split").getAttribute("aria-valuenow"), String(before + 24));
  });

  for (const motion of ["no-preference", "reduce"])
    await t.test(
      `added, changed and deleted rows are marked, and animated as the system prefers: ${motion}`,
      async (t) => {
        const page = await newPage(t, browser);
        await page.emulateMedia({ reducedMotion: motion });
        await openLive(page, list);
        await page.evaluate(() => {
          window.moved = new Set();
          window.seen = new Set();
          const record = () => {
            for (const a of document.getAnimations())
              if (a.playState === "running") window.moved.add(a.animationName ?? a.transitionProperty);
            if (document.querySelector("[data-fading]") !== null) window.moved.add("fade");
            for (const mark of ["added", "changed", "gone"])
              if (document.querySelector(`#tbody [data-${mark}]`) !== null) window.seen.add(mark);
            requestAnimationFrame(record);
          };
          record();
        });
        const seen = (mark) =>
          until(`a row or cell that is marked as ${mark}`, () => page.evaluate((mark) => window.seen.has(mark), mark));
        await create(where, configMap("moves"));
        await seen("added");
        await patch(`${where}/moves`, { data: { more: "y" } });
        await seen("changed");
        await become("the number of highlighted cells", () => page.locator("#tbody [data-changed]").count(), 0);
        await remove(`${where}/moves`);
        await seen("gone");
        await until("the deleted row to disappear", async () => (await row(page, "moves")) === undefined);
        assert.deepEqual(
          await page.evaluate(() => [...window.moved].sort()),
          motion === "reduce" ? [] : ["fade", "fade-in", "fade-out"],
        );
      },
    );
});
