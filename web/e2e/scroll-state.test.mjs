// Invariant: I33.
import assert from "node:assert/strict";
import { test } from "node:test";
import { browse, newPage, openLive } from "./browser.mjs";
import { configMap, create, namespace } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { become, until } from "./wait.mjs";

const firstRow = (page) =>
  page.evaluate(() => {
    const head = document.querySelector("#table thead th").getBoundingClientRect().bottom;
    return [...document.querySelectorAll("#tbody tr[data-name]")].find(
      (tr) => tr.getBoundingClientRect().bottom > head + 1,
    )?.dataset.name;
  });
// Waits for three animation frames, because updates can be drawn in a later frame.
const frames = (page) =>
  page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))),
  );

await test("the scroll position of a list", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboards = {
    "a complete list": await Dashboard.start(t),
    "a windowed list": await Dashboard.start(t, { flags: ["--page-rows", "100"] }),
  };
  const ns = await namespace(t);
  const name = (i) => `map-${String(i).padStart(4, "0")}`;
  for (let i = 0; i < 600; i += 30)
    await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        create(
          `/api/v1/namespaces/${ns}/configmaps`,
          configMap(name(i + n), { text: "x", ...(n % 2 === 0 ? {} : { more: "y" }) }),
        ),
      ),
    );

  for (const [what, dashboard] of Object.entries(dashboards)) {
    await t.test(`is where keyboard navigation starts, and a selected column stays selected, in ${what}`, async (t) => {
      const page = await newPage(t, browser);
      await openLive(page, `${dashboard.url}r/core/v1/configmaps?ns=${ns}`);
      await become("the first row", () => firstRow(page), "kube-root-ca.crt");
      await page.evaluate(() => {
        document.getElementById("rows").scrollTop = 200 * 24;
      });
      await become("the first row", () => firstRow(page), name(199));
      await page.keyboard.press("j");
      await become(
        "the active row",
        () => page.evaluate(() => document.querySelector("#tbody tr[data-active]")?.dataset.name),
        name(199),
      );
      for (const key of ["ArrowRight", "ArrowRight", "s", "Home"]) await page.keyboard.press(key);
      const [few, many] = [
        ["kube-root-ca.crt", name(0), name(2)],
        [name(1), name(3), name(5)],
      ];
      const first = () =>
        page.evaluate(() =>
          [...document.querySelectorAll("#tbody tr[data-name]")].slice(0, 3).map((tr) => tr.dataset.name),
        );
      await become("the first rows, sorted by the fewest keys", first, few);
      await page.keyboard.press("s");
      await become(
        "the URL and the first rows, sorted by the most keys",
        async () => [new URL(page.url()).search, ...(await first())],
        [`?ns=${ns}&sort=-data`, ...many],
      );
    });
    await t.test(`is restored from the history entry, in ${what}`, async (t) => {
      const page = await newPage(t, browser);
      const top = () => firstRow(page);
      const scrollTo = async (row) => {
        await page.evaluate((row) => {
          document.getElementById("rows").scrollTop = row * 24;
        }, row);
        await become("the first row", top, name(row - 1));
        await until("the scroll position to be saved", () =>
          page.evaluate((row) => Math.abs(history.state?.place - row) < 1, row),
        );
      };
      const at = (row) => become("the first row", top, name(row - 1));
      await openLive(page, `${dashboard.url}r/core/v1/configmaps?ns=${ns}`);
      await become("the first row", top, "kube-root-ca.crt");
      await scrollTo(200);
      await page.locator('#picker a[data-ref="core/v1/secrets"]').click();
      await page.waitForURL(/secrets/);
      await page.goBack();
      await at(200);
      await page.locator("#labels").fill("nothing=here");
      await page.locator("#labels").press("Enter");
      await page.locator("#note", { hasText: "No ConfigMaps match the selected namespaces" }).waitFor();
      await page.goBack();
      await at(200);
      await page.locator("thead button", { hasText: "Name" }).click();
      await page.waitForURL(/sort=name/);
      await page.locator("thead button", { hasText: "Name" }).click();
      await until("the rows in reverse order", async () => !["kube-root-ca.crt", name(199)].includes(await top()));
      await page.goBack();
      await page.goBack();
      await at(200);
      for (const height of [30, 20, 24]) {
        await page.keyboard.press("d");
        await until(`rows with a height of ${height} pixels`, () =>
          page.evaluate((h) => document.querySelector("#tbody tr[data-name]").offsetHeight === h, height),
        );
        await at(200);
      }
      await page
        .locator(`#tbody tr[data-name="${name(202)}"] td`)
        .last()
        .click();
      await page.locator("#panel h2", { hasText: name(202) }).waitFor();
      await page.locator("#panel .close").click();
      assert.equal(await top(), name(199), "closing the panel does not move the rows");
      await page.goBack();
      await page.locator("#panel h2", { hasText: name(202) }).waitFor();
      await frames(page); // wait, because the scroll position is restored in a frame after the panel is shown
      await page.evaluate(() => {
        document.getElementById("rows").scrollTop = 0;
      });
      await become("the first row", top, "kube-root-ca.crt");
      await page.goBack();
      await page.locator("#side").waitFor({ state: "hidden" });
      await at(200);
      await page
        .locator(`#tbody tr[data-name="${name(203)}"] td`)
        .last()
        .click();
      await until("the scroll position to be saved", () =>
        page.evaluate(() => Math.abs(history.state?.place - 200) < 1),
      );
      await page.locator("#panel .page-link").click();
      await page.waitForURL(/\/o\//);
      await page.goBack();
      await at(200);
      await page.locator("#panel h2", { hasText: name(203) }).waitFor();
      await page.reload();
      await at(200);
      await page.goBack();
      await at(200);
      await openLive(page, `${dashboard.url}r/core/v1/configmaps?ns=${ns}&open=${ns}/${name(500)}`);
      await page.locator(`#tbody tr[data-name="${name(500)}"]`).waitFor();
    });

    await t.test(`is kept if the user scrolled before the page was live, in ${what}`, async (t) => {
      const page = await newPage(t, browser);
      const delivery = { delayed: false, delayedMessages: [] };
      let script = null; // promise or null; the page's script is delivered only after the promise resolves
      await page.routeWebSocket(/\/api\/v1\/live(\?|$)/, (ws) => {
        const server = ws.connectToServer();
        server.onMessage((m) => void (delivery.delayed ? delivery.delayedMessages.push(() => ws.send(m)) : ws.send(m)));
      });
      await page.route("**/static/app.js*", async (route) => {
        await script;
        await route.continue();
      });
      const address = `${dashboard.url}r/core/v1/configmaps?ns=${ns}`;
      await openLive(page, address);
      await page.evaluate(() => {
        document.getElementById("rows").scrollTop = 200 * 24;
      });
      await until("the scroll position to be saved", () =>
        page.evaluate(() => Math.abs(history.state?.place - 200) < 1),
      );
      const [reload, openUrl, openObjectUrl] = [
        () => page.reload({ waitUntil: "commit" }),
        () => page.goto(address, { waitUntil: "commit" }),
        () => page.goto(`${address}&open=${ns}/${name(500)}`, { waitUntil: "commit" }),
      ];
      let to = 20; // scroll position in rows, different in each case
      for (const [how, load, before] of [
        ["a reload, before the rows arrived", reload, "rows"],
        ["a reload, before the script ran", reload, "script"],
        ["an opened URL, before the rows arrived", openUrl, "rows"],
        ["the URL of an object, before the rows arrived", openObjectUrl, "rows"],
        ["the URL of an object, before the script ran", openObjectUrl, "script"],
      ]) {
        to += 5;
        delivery.delayed = true;
        let run = () => {};
        if (before === "script")
          script = new Promise((done) => {
            run = done;
          });
        await load();
        await page.locator("#table:not(.virtual) tbody tr").nth(60).waitFor();
        if (before === "rows") await page.waitForLoadState();
        await page.locator("#rows").hover();
        await page.mouse.wheel(0, to * 24);
        await become("the first row", () => firstRow(page), name(to - 1));
        await page.mouse.move(0, 0);
        run();
        delivery.delayed = false;
        for (const send of delivery.delayedMessages.splice(0)) send();
        await page.locator("#table.virtual tbody tr[data-name]").first().waitFor();
        await page.locator("#status", { hasText: "Live" }).waitFor();
        await frames(page);
        assert.equal(await firstRow(page), name(to - 1), how);
        await until("the scroll position to be saved", () =>
          page.evaluate((to) => Math.abs(history.state?.place - to) < 1, to),
        );
      }
    });
  }
});
