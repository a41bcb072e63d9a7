// Every kind of page under axe-core, in both colour schemes.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { browse, newPage, openLive, table } from "./browser.mjs";
import { patch, read } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { until } from "./wait.mjs";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

await test("accessibility", { timeout: 180_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);

  const crashing = async () => (await read("/api/v1/namespaces/shop/pods")).items.find((p) => p.status.containerStatuses?.some((c) => c.state.waiting?.reason === "CrashLoopBackOff")).metadata.name;

  for (const colorScheme of ["light", "dark"]) {
    await t.test(colorScheme, async (t) => {
      const page = await newPage(t, browser, { colorScheme, allow: [/status of 404/, /\/api\/v1\/search/] });
      await page.addInitScript({ path: axe });
      const check = async (what) => {
        const found = await page.evaluate(async () => {
          const { violations } = await window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] });
          return violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => `${n.target} ${n.failureSummary}`).join("; ")}`);
        });
        assert.deepEqual(found, [], what);
      };
      const rows = () => until("rows", async () => (await table(page)).rows.length > 20);
      await openLive(page, `${dashboard.url}r/core/v1/pods`);
      await rows();
      await check("list");
      // What opens above the page, and under its buttons.
      for (const [what, keys, there] of [
        ["palette", ["Control+k"], "#palette [role=option]"],
        ["palette with what is found", ["Control+k", "p", "o"], "#palette mark"],
        ["palette after a colon", [":", "q"], ".palette-words"],
        ["help", ["?"], "dialog.help"],
        ["namespaces", ["n"], "#spaces-pop .pop-list li"],
        ["columns", ["v"], "#columns-pop .pop-list li"],
        ["export", ["x"], "#export[open]"],
      ]) {
        for (const k of keys) await page.keyboard.press(k);
        await page.locator(there).first().waitFor();
        await check(what);
        await page.keyboard.press("Escape");
        await page.locator(there).first().waitFor({ state: "hidden" });
      }
      await page.locator('#picker a[data-ref="core/v1/services"]').hover();
      await page.getByRole("button", { name: "Pin Services" }).click();
      await page.locator('#picker [data-group="Pinned"] a').waitFor();
      await page.locator("#picker-filter").fill("unicorn");
      await check("picker with a pin, and nothing found");
      await page.locator("#picker-filter").fill("");
      await page.keyboard.press("Escape");
      await page.keyboard.press("j");
      await page.keyboard.press("Enter");
      await page.locator('#panel .status[data-state="live"]').waitFor();
      await page.locator("#panel .overview").waitFor();
      await check("list with panel");
      await page.getByRole("tab", { name: "YAML" }).click();
      await page.locator("#panel .line").first().waitFor();
      await check("YAML in the panel");
      await page.getByRole("tab", { name: "Related" }).click();
      await page.locator("#panel .card").first().waitFor();
      await page.locator("#panel .card[data-self]").focus();
      await check("the graph");
      await page.getByRole("button", { name: "List", exact: true }).click();
      await page.locator("#panel .related-list li").first().waitFor();
      await page.locator("#panel .searched summary").click();
      await check("related objects as a list");
      await page.getByRole("button", { name: "Graph", exact: true }).click();
      await page.getByRole("tab", { name: "Logs" }).click();
      await page.locator("#panel .log-line").first().waitFor();
      await page.getByLabel("Find in the log").fill("level");
      await page.locator("#panel mark").first().waitFor();
      await check("a log");
      await page.getByRole("tab", { name: "YAML" }).click();
      await page.locator("#panel .line").first().waitFor();
      await page.locator(".yaml.text").focus();
      await page.keyboard.press("/");
      await page.keyboard.type("name");
      await page.getByRole("button", { name: "Fold all" }).or(page.getByRole("button", { name: "Unfold all" })).click();
      await page.keyboard.press("ArrowDown");
      await check("YAML searched and folded");
      await page.keyboard.press("a");
      await page.locator(".feed .foot").waitFor();
      await page.getByRole("tab", { name: "Changes" }).click();
      await page.locator("#panel .timeline .foot").waitFor();
      const [ns, name] = new URL(page.url()).searchParams.get("open").split("/");
      await patch(`/api/v1/namespaces/${ns}/pods/${name}`, { metadata: { labels: { "e2e/scheme": colorScheme }, annotations: { "e2e/text": `${"long ".repeat(30)}${colorScheme}` } } });
      await page.locator("#panel .happened .field").first().waitFor();
      await check("changes in the panel, and the activity");
      await page.locator(".activity-line").click();
      await page.getByRole("tab", { name: "Events" }).click();
      await page.locator("#panel .events li").first().waitFor();
      await check("events in the panel");
      await page.getByRole("tab", { name: "Overview" }).click();
      await page.locator("#panel .page-link").click();
      await page.locator('#status[data-state="live"]').waitFor();
      await page.locator("#object .overview").waitFor();
      await check("object page");
      await page.goto(`${dashboard.url}compare?a=apps/v1/deployments/shop/checkout`);
      await page.locator(".others a").first().waitFor();
      await check("an object to be compared");
      await page.goto(`${dashboard.url}compare?a=apps/v1/deployments/shop/checkout&b=catalog`);
      await page.locator("#difference[data-live]").waitFor();
      await check("two objects compared");
      await page.goto(`${dashboard.url}o/core/v1/pods/shop/${await crashing()}`);
      await page.locator('#object .verdict[data-verdict="Failed"]').waitFor();
      await check("object page of a pod that fails");
      await openLive(page, `${dashboard.url}r/core/v1/nodes`);
      await page.locator("#tbody tr[data-name]").first().locator("td").last().click();
      await page.locator("#panel .conditions tr").first().waitFor();
      await check("a node in the panel");
      await page.goto(`${dashboard.url}r/core/v1/pods?q=nothing+has+this`);
      await page.locator("#note h2", { hasText: "Nothing matches" }).waitFor();
      await check("no rows");
      await page.goto(`${dashboard.url}r/example.org/v1/unicorns`);
      await page.locator(".note h1").waitFor();
      await check("problem page");
      await page.goto(`${dashboard.url}status`);
      await page.locator("#scopes tr").first().waitFor();
      await page.locator('#status[data-state="live"]').waitFor();
      await check("status page");
      await page.setViewportSize({ width: 390, height: 800 });
      await openLive(page, `${dashboard.url}r/core/v1/pods`);
      await rows();
      await check("list on a phone");
      await page.locator("button.kinds").click();
      await page.locator("#picker").waitFor();
      await check("picker on a phone");
      await page.keyboard.press("Escape");
      await page.locator("#spaces").click();
      await page.locator("#spaces-pop .pop-list li").first().waitFor();
      await check("namespaces on a phone");
      await page.goto(`${dashboard.url}status`);
      await page.locator("#scopes tr").first().waitFor();
      await check("status page on a phone");
    });
  }
});
