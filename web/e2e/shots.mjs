// Pictures of the page, for people to look at: node e2e/shots.mjs FOLDER, with
// the environment of the tests.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { browse, newPage, openLive, table } from "./browser.mjs";
import { Dashboard } from "./dashboard.mjs";
import { until } from "./wait.mjs";

const folder = process.argv[2];
if (!folder) throw new Error("usage: node e2e/shots.mjs FOLDER");
mkdirSync(folder, { recursive: true });

const ends = [];
const t = { after: (end) => ends.unshift(end) };
try {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  for (const colorScheme of ["light", "dark"]) {
    const page = await newPage(t, browser, { colorScheme, allow: [/status of 404/] });
    const shoot = (name) => page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`), animations: "disabled" });
    const list = async (path) => {
      await openLive(page, dashboard.url + path);
      await until("rows", async () => (await table(page)).rows.length > 0);
    };
    await list("r/core/v1/pods");
    await shoot("pods");
    await list("r/core/v1/pods?ns=data&ns=payments&ns=shop&sort=-restarts");
    await page.locator("#tbody tr", { hasText: "CrashLoopBackOff" }).first().locator("td").last().click();
    await page.locator("#panel .line").first().waitFor();
    await page.locator('#panel .status[data-state="live"]').waitFor();
    await shoot("panel");
    await list("r/core/v1/nodes?cols=wide");
    await shoot("nodes");
    await list("r/core/v1/events");
    await shoot("events");
    await page.goto(`${dashboard.url}r/example.org/v1/unicorns`);
    await shoot("problem");
  }
} finally {
  for (const end of ends) await end();
}
