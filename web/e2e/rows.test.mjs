// A list shows rows with problems first. The resource picker and the title show the number of problems. Each row has
// a menu and keys for its actions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { browse, newPage, openLive } from "./browser.mjs";
import { configMap, create, namespace } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { become, until } from "./wait.mjs";

await test("rows and problems", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  const where = `/api/v1/namespaces/${ns}/configmaps`;
  for (const name of ["a-1", "a-2", "a-3"]) await create(where, configMap(name, { text: name }));

  await t.test("failed pods are first, and counted in the picker and the title", async (t) => {
    const page = await newPage(t, browser);
    await openLive(page, `${dashboard.url}r/core/v1/pods`);
    const severities = () =>
      page.evaluate(() => [...document.querySelectorAll("#tbody tr[data-name]")].map((r) => r.dataset.severity ?? ""));
    const order = ["failed", "degraded", "progressing", ""];
    const seen = await until("the rows of the list", async () => {
      const found = await severities();
      return found[0] === "failed" && found;
    });
    assert.deepEqual(
      seen,
      seen.toSorted((a, b) => order.indexOf(a) - order.indexOf(b)),
    );
    const failed = await page.locator("#severity-counts [data-severity=failed]").innerText();
    const [count] = failed.split(" ");
    await become("the count in the page title", async () => (await page.title()).split(" ")[0], `(${count})`);
    await become(
      "the count in the picker",
      () => page.locator('#picker a[aria-current="page"] .problems').innerText(),
      count,
    );
    await page.locator("#tbody tr[data-name] td").last().hover();
    await page.goto(`${dashboard.url}r/core/v1/pods?sort=name`);
    await page.locator('#status[data-state="live"]').waitFor();
    await until("the rows to be sorted by name", async () => (await severities())[0] !== "failed");
  });

  await t.test("rare kinds are under More", async (t) => {
    const page = await newPage(t, browser);
    await openLive(page, `${dashboard.url}r/core/v1/configmaps?ns=${ns}`);
    const leases = page.locator('#picker a[data-ref="coordination.k8s.io/v1/leases"]');
    const more = page.locator('#picker [data-group="Cluster"] .more');
    await more.waitFor();
    assert.equal(await leases.isVisible(), false);
    await more.click();
    await leases.waitFor();
    await page.locator("#picker-filter").fill("lease");
    await leases.waitFor();
    assert.equal(await more.isVisible(), false);
  });

  await t.test("two rows are marked and compared by key, and the menu copies a name", async (t) => {
    const page = await newPage(t, browser, { permissions: ["clipboard-read", "clipboard-write"] });
    await openLive(page, `${dashboard.url}r/core/v1/configmaps?ns=${ns}`);
    const row = (name) => page.locator(`#tbody tr[data-name="${name}"]`);
    await row("a-2").waitFor();
    await row("a-2").hover();
    await page.locator(".row-menu-button").click();
    await page.getByRole("menuitem", { name: "Copy name" }).click();
    await become("the copied name", () => page.evaluate(() => navigator.clipboard.readText()), `${ns}/a-2`);
    await row("a-1").click({ button: "right" });
    await page.getByRole("menuitem", { name: "Mark to compare" }).click();
    await page.locator('#tbody tr[data-marked][data-name="a-1"]').waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await until("the active row", () => page.locator("#tbody tr[data-active]").count());
    const active = await page.locator("#tbody tr[data-active]").getAttribute("data-name");
    if (active === "a-1") await page.keyboard.press("j");
    await page.keyboard.press("Space");
    await become("the number of marked rows", () => page.locator("#tbody tr[data-marked]").count(), 2);
    await page.keyboard.press("=");
    await page.waitForURL(/\/compare\?a=/);
    await page.locator(".diff").first().waitFor();
  });
});
