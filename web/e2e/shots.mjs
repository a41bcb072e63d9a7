// Takes screenshots of every screen for review: node e2e/shots.mjs FOLDER [PATTERN]. It needs the environment
// variables of the tests.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { browse, newPage, openLive, tabIds } from "./browser.mjs";
import { create, namespace, patch, read, remove } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { gate } from "./api-server-gate.mjs";
import { made, openLink, share } from "./sharing.mjs";

const [folder, only = "."] = process.argv.slice(2);
if (!folder) throw new Error("usage: node e2e/shots.mjs FOLDER [PATTERN]");
mkdirSync(folder, { recursive: true });
const wanted = new RegExp(only);
const ends = [];
const t = { after: (end) => ends.unshift(end) };

const browser = await browse(t);
const dashboard = await Dashboard.start(t);
const page = await newPage(t, browser, { allow: [/./] });
const at = (path) => dashboard.url + path;
const live = (path) => openLive(page, at(path));

/** Takes screenshots of one screen in two color schemes and three sizes. The function `make` opens the screen. */
async function screen(name, make, on = page) {
  if (!wanted.test(name)) return;
  for (const p of [page, on]) await p.setViewportSize({ width: 1440, height: 900 });
  try {
    await make();
  } catch (err) {
    console.error(`${name}: ${err.message}`);
  }
  for (const [width, height] of [
    [1440, 900],
    [1024, 768],
    [390, 844],
  ]) {
    for (const colorScheme of ["light", "dark"]) {
      await on.setViewportSize({ width, height });
      await on.emulateMedia({ colorScheme });
      await on.waitForTimeout(80);
      const sideways = await on.evaluate(() => document.documentElement.scrollWidth - innerWidth).catch(() => 0);
      if (sideways > 0) console.error(`${name} at ${width}: the page is ${sideways} px too wide`);
      await on.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`), animations: "disabled" });
    }
  }
}

const pods = (await read("/api/v1/namespaces/shop/pods")).items.map((p) => p.metadata.name);
const named = (prefix) => pods.find((name) => name.startsWith(prefix)) ?? pods[0];
const failingPod = named("recommender");
const text = (words) => page.getByText(words).first().waitFor();

try {
  await screen("home", () => live(""));
  await screen("list", () => live("r/core/v1/pods"));
  await screen("list-filtered", () => live("r/core/v1/pods?ns=data&ns=payments&ns=shop&sort=-restarts&q=is%3Afailing"));
  await screen("list-wide", () => live("r/core/v1/nodes?cols=wide"));
  await screen("list-events", () => live("r/core/v1/events"));
  await live(`r/core/v1/pods?open=shop/${failingPod}`);
  const tabs = await tabIds(page);
  for (const tab of tabs) {
    await screen(`panel-${tab}`, async () => {
      await live(`r/core/v1/pods?open=shop/${failingPod}&tab=${tab}`);
      if (tab === "changes")
        await patch(`/api/v1/namespaces/shop/pods/${failingPod}`, {
          metadata: { labels: { touched: String(Date.now()) } },
        });
      await page.locator("#tab > *").waitFor();
      await page.waitForTimeout(1200);
    });
  }
  await screen("panel-deployment", () => live("r/apps/v1/deployments?open=shop/storefront"));
  for (const tab of tabs) {
    await screen(`object-${tab}`, async () => {
      await live(`o/core/v1/pods/shop/${failingPod}?tab=${tab}`);
      await page.locator("#tab > *").waitFor();
      await page.waitForTimeout(800);
    });
  }
  await screen("compare", async () => {
    await page.goto(at(`compare?a=core/v1/pods/shop/${failingPod}&b=core/v1/pods/shop/${named("storefront")}`));
    await page.waitForTimeout(1500);
  });
  await screen("compare-one", () => page.goto(at(`compare?a=core/v1/pods/shop/${failingPod}`)));
  await screen("status", () => page.goto(at("status")).then(() => text("Updated every")));
  await screen("palette", async () => {
    await live("r/core/v1/pods");
    await page.keyboard.press("Control+K");
    await page.keyboard.type("check");
    await page.waitForTimeout(700);
  });
  await screen("help", async () => {
    await live("r/core/v1/pods");
    await page.keyboard.press("?");
    await page.locator(".help").waitFor();
  });
  await screen("namespaces", async () => {
    await live("r/core/v1/pods");
    await page.keyboard.press("n");
    await page.locator("#namespace-button-pop li").first().waitFor();
  });
  await screen("columns", async () => {
    await live("r/core/v1/pods");
    await page.locator("#columns").click();
    await page.waitForTimeout(400);
  });
  await screen("activity", async () => {
    await live("r/core/v1/pods");
    await page.locator("#activity button, #activity summary").first().click();
    for (const name of pods.slice(0, 4))
      await patch(`/api/v1/namespaces/shop/pods/${name}`, { metadata: { labels: { touched: String(Date.now()) } } });
    await page.waitForTimeout(800);
  });
  await screen("picker", async () => {
    await live("r/core/v1/pods");
    await page.setViewportSize({ width: 390, height: 844 });
    await page.locator(".kinds").click();
  });

  const guest = await newPage(t, browser, { allow: [/./] });
  let link = "";
  await screen("share-view", async () => {
    await live("r/core/v1/pods?ns=shop&labels=app%3Dcheckout");
    await page.keyboard.press("L");
    await page.locator(".share-form").waitFor();
  });
  await screen("share-kinds", async () => {
    await page.locator("input[name=what][value=kinds]").check();
    await page.locator(".share-list li").last().waitFor();
    await page.waitForTimeout(500);
  });
  await screen("share-made", async () => {
    await page.getByRole("button", { name: "Create link" }).click();
    await made(page);
    await page.locator(".qr").waitFor();
  });
  await screen("share-object", async () => {
    await live(`r/core/v1/pods?open=shop/${failingPod}&tab=logs`);
    await page.keyboard.press("L");
    await page.locator(".share-form").waitFor();
  });
  await screen("share-links", async () => {
    await page.locator("#share-note").fill("Checkout fails since the rollout, see the second container");
    await page.getByRole("button", { name: "Create link" }).click();
    link = await made(page);
    await page.getByRole("tab", { name: "Links" }).click();
    await page.locator(".share-links li").nth(1).getByRole("button").click();
  });
  await screen(
    "guest-object",
    async () => {
      await openLink(guest, link);
      await guest.locator(".log-line").first().waitFor();
    },
    guest,
  );
  await screen(
    "guest-list",
    async () => {
      await live("r/core/v1/pods?ns=shop");
      link = await share(page, (form) => form.locator("#share-note").fill("The shop"));
      await page.keyboard.press("Escape");
      await guest.context().clearCookies();
      await openLink(guest, link);
    },
    guest,
  );
  await screen("guest-refused", () => guest.goto(at("r/core/v1/nodes")), guest);
  await screen(
    "guest-kiosk",
    async () => {
      await guest.goto(at("?kiosk=1"));
      await guest.locator('#status[data-state="live"]').waitFor();
    },
    guest,
  );
  await screen(
    "guest-kiosk-object",
    async () => {
      await guest.goto(at(`o/core/v1/pods/shop/${failingPod}?kiosk=1`));
      await guest.locator("#tab > *").waitFor();
    },
    guest,
  );
  await screen(
    "guest-ended",
    async () => {
      await guest.goto(at(""));
      await live("r/core/v1/pods");
      await page.keyboard.press("L");
      await page.getByRole("tab", { name: "Links" }).click();
      for (let n = 3; n > 0; n--) {
        await page
          .locator(".share-links li")
          .nth(n - 1)
          .waitFor();
        await page.getByRole("button", { name: "Revoke" }).first().click();
        await page.locator(".share-links button.danger").click();
      }
      await guest.locator("#over").waitFor();
    },
    guest,
  );
  await screen("share-none", () => page.getByText("No active links").waitFor());
  await screen(
    "guest-late",
    async () => {
      await guest.context().clearCookies();
      await guest.goto(link);
      await guest.locator("#ended").waitFor();
    },
    guest,
  );
  await screen("state-empty", () => live("r/storage.k8s.io/v1/volumeattachments"));
  await screen("state-nomatch", () => live("r/core/v1/pods?q=no+such+words"));
  await screen("state-nothere", () => live("r/core/v1/pods?ns=default"));
  await screen("state-selector", () =>
    page.goto(at("r/core/v1/pods?labels=app%3D%3D%3D")).then(() => page.waitForTimeout(500)),
  );
  await screen("state-404", () => page.goto(at("no/such/page")));
  await screen("state-kind-404", () => page.goto(at("r/example.org/v1/unicorns")));
  await screen("state-object-404", () =>
    page.goto(at("o/core/v1/pods/shop/no-such-pod")).then(() => page.waitForTimeout(700)),
  );
  await screen("state-panel-404", () =>
    live("r/core/v1/pods?open=shop/no-such-pod").then(() => page.waitForTimeout(500)),
  );
  await screen("state-gone", async () => {
    const ns = await namespace(t);
    await create(`/api/v1/namespaces/${ns}/configmaps`, { metadata: { name: "to-delete" }, data: { colour: "teal" } });
    await live(`r/core/v1/configmaps?ns=${ns}&open=${ns}/to-delete`);
    await page.locator("#tab > *").waitFor();
    await remove(`/api/v1/namespaces/${ns}/configmaps/to-delete`);
    await text("Showing its last state");
  });
  for (const [name, user, path] of [
    ["forbidden", "nobody", "r/core/v1/pods"],
    ["partly", "limited", "r/core/v1/pods"],
    ["object-forbidden", "nobody", "o/core/v1/pods/shop/x"],
  ]) {
    await screen(`state-${name}`, async () => {
      const other = await Dashboard.start(t, { user });
      await page.goto(other.url + path);
      await page.locator("#status:not(:empty), .note").first().waitFor();
      await page.waitForTimeout(1500);
    });
  }
  await screen("state-syncing", async () => {
    // On this slow link, the server receives the total number of objects too late. Insert the number into the server's
    // messages.
    const link = await gate(t);
    const other = await Dashboard.start(t, { flags: link.flags });
    await openLive(page, `${other.url}r/core/v1/nodes`);
    await page.routeWebSocket(/live(\?|$)/, (ws) => {
      const server = ws.connectToServer();
      server.onMessage((m) => ws.send(String(m).replace(/("state":"syncing",.*"count":\d+)(?=})/, '$1,"total":168')));
    });
    link.rate = 30_000;
    await page.goto(`${other.url}r/core/v1/pods`);
    await page.locator("#progress:not([hidden])").waitFor();
  });
  await screen("state-stale", async () => {
    const link = await gate(t);
    const other = await Dashboard.start(t, { flags: link.flags });
    await openLive(page, `${other.url}r/core/v1/pods`);
    link.cut();
    await page.locator('#status[data-state="warn"]').waitFor();
  });
  await screen("state-stopped", async () => {
    const other = await Dashboard.start(t);
    await openLive(page, `${other.url}r/core/v1/pods?open=shop/${failingPod}`);
    await page.locator("#tab > *").waitFor();
    await other.stop();
    await page.locator('#status[data-state="bad"]').waitFor();
  });
  await screen("state-unreachable", async () => {
    const link = await gate(t);
    link.cut();
    const other = await Dashboard.start(t, { flags: link.flags });
    await page.goto(`${other.url}r/core/v1/pods`);
    await page.waitForTimeout(1000);
  });
} finally {
  for (const end of ends) await Promise.resolve(end()).catch((err) => console.error(err.message));
}
