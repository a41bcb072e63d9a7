// The page shows the progress of a slow list only if the total is known, and the latency only on demand.
//
// Invariant: I38.
import assert from "node:assert/strict";
import { test } from "node:test";
import { browse, newPage, openLive } from "./browser.mjs";
import { Dashboard } from "./dashboard.mjs";
import { gate } from "./api-server-gate.mjs";
import { become, until } from "./wait.mjs";

await test("progress", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);

  await t.test("a slow list shows its count, and a progress bar if the total is known", async (t) => {
    const link = await gate(t);
    const dashboard = await Dashboard.start(t, { flags: link.flags });
    const page = await newPage(t, browser);
    // The link to the API server is so slow that the total number of objects arrives after the list. Insert the number
    // into the messages to the page.
    let total = "";
    await page.routeWebSocket(/live(\?|$)/, (ws) => {
      const server = ws.connectToServer();
      server.onMessage((m) => ws.send(String(m).replace(/("state":"syncing",.*"count":\d+)(?=})/, `$1${total}`)));
    });
    // Open the status page first, not a list. A list shows verdicts, for which the server would already list the pods
    // now, before the link becomes slow.
    await openLive(page, `${dashboard.url}status`);
    link.rate = 60_000;
    await page.goto(`${dashboard.url}r/core/v1/pods`);
    await until("the number of loaded objects", async () =>
      /^Loading\s?\d+$/.test(await page.locator("#status").innerText()),
    );
    assert.match(await page.locator("#note").innerText(), /Loading Pods…\s+\d+ so far/);
    const bar = page.getByRole("progressbar", { name: "Loading Pods" });
    assert.equal(await bar.count(), 0, "without a known total, there is no progress bar");

    const activity = await page.locator("#activity").innerText();
    assert.doesNotMatch(activity, /No changes in this list/, "the page does not claim that nothing changed");

    total = ',"total":400';
    await bar.waitFor();
    assert.match(await page.locator("#note").innerText(), /\d+ of 400/);
    const [now, max, text, part, totalSize] = await bar.evaluate((e) => [
      e.ariaValueNow,
      e.ariaValueMax,
      e.ariaValueText,
      parseFloat(getComputedStyle(e, "::before").width),
      e.clientWidth,
    ]);
    assert.ok(Number(now) > 0 && Number(now) < 400, now);
    assert.deepEqual([max, text], ["400", `${now} of 400`]);
    assert.ok(part > 0 && part < totalSize, `${part} of ${totalSize} px`);

    link.rate = Infinity;
    await page.locator('#status[data-state="live"]').waitFor();
    assert.equal(await page.locator("#progress").isHidden(), true);
    await become("the text of the status", () => page.locator("#status").innerText(), "Live");
    assert.match(await page.locator("#activity").innerText(), /No changes in this list since \d\d:/);
  });

  await t.test("the status opens the latency and the rate of changes", async (t) => {
    const dashboard = await Dashboard.start(t);
    const page = await newPage(t, browser, { allow: [/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET/] });
    await openLive(page, `${dashboard.url}r/core/v1/namespaces`);
    await page.locator("#connection").click();
    const details = page.locator(".connection-details");
    await details
      .filter({ hasText: /Browser to Glasshouse\s*(<1|\d+) ms\s*Changes to Namespaces\s*[\d.]+\/s/ })
      .waitFor();
    assert.ok(
      page.wire.some((frame) => /"op":"ping"/.test(frame)) && page.wire.some((frame) => /"type":"pong"/.test(frame)),
    );
    await dashboard.stop();
    await page.locator('#status[data-state="bad"]').waitFor();
    await details.filter({ hasText: /^\s*Browser to Glasshouse\s*Unknown\s*$/ }).waitFor();
  });

  await t.test("the row of an object opened by URL is visible", async (t) => {
    const dashboard = await Dashboard.start(t);
    const page = await newPage(t, browser);
    const pods = await (await page.request.get(`${dashboard.url}api/v1/snapshot/core/v1/pods`)).json();
    const last = pods.rows.at(-1);
    await openLive(page, `${dashboard.url}r/core/v1/pods?open=${last.ns}/${last.name}`);
    await until("the row of the open object", () =>
      page.evaluate((name) => {
        const tr = document.querySelector(`#tbody tr[data-name="${name}"]`);
        return (
          tr !== null &&
          tr.getAttribute("aria-selected") === "true" &&
          tr.getBoundingClientRect().bottom <= document.getElementById("rows").getBoundingClientRect().bottom
        );
      }, last.name),
    );
  });
});
