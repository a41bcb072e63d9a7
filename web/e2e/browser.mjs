// Opens pages in Chromium's headless shell, which has the same engine as Chromium and needs about 60 % of its CPU time.
// Console warnings, uncaught errors, policy violations, dialogs and requests to other hosts fail the test.
import assert from "node:assert/strict";
import { chromium } from "playwright-core";
import { ownTime } from "../bench/page.mjs";
import { atEnd } from "./cleanup.mjs";
import { within } from "./wait.mjs";

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Launches a browser, and closes it at the end of test t. */
export async function browse(t, ...more) {
  const browser = await chromium.launch({
    executablePath: process.env["CHROMIUM"] || "/usr/bin/chromium-headless-shell",
    args: [...flags, ...more],
    timeout: 60_000,
  });
  atEnd(t, () => within("closing the browser", 60_000, browser.close()));
  return browser;
}

// Runs in each page before its own scripts, and records policy violations and highlighted cells.
function listen() {
  window.e2e = { marked: [] };
  document.addEventListener(
    "securitypolicyviolation",
    (e) => void window.e2eBreach(`breach: ${e.violatedDirective} ${e.blockedURI} ${e.sample}`),
  );
  // Record each highlight of a cell when it starts, because it is too short for polling.
  new MutationObserver((list) => {
    for (const { target } of list) {
      if (target.hasAttribute("data-changed") && target.matches("td, th"))
        window.e2e.marked.push({
          row: target.closest("tr")?.dataset.name,
          text: target.textContent,
          title: target.getAttribute("title"),
        });
    }
  }).observe(document, { attributes: true, attributeFilter: ["data-changed"], subtree: true });
}

/** Opens a page. The option `allow` contains patterns of expected console lines, popups and downloads. */
export async function newPage(t, browser, options = {}) {
  const { allow = [], ...contextOptions } = options;
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    permissions: [],
    ...contextOptions,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const pageErrors = [];
  const wire = []; // all response bodies and WebSocket messages, in both directions
  const messages = []; // only the WebSocket messages
  const loading = new Set();
  const hosts = new Set();
  page.on("console", (m) => {
    const line = `${m.type()}: ${m.text()} ${m.location().url}`;
    if (["error", "warning", "assert"].includes(m.type()) && !allow.some((p) => p.test(line))) pageErrors.push(line);
  });
  page.on("pageerror", (err) => pageErrors.push(`uncaught: ${err.stack ?? err.message}`));
  page.on("dialog", (d) => {
    pageErrors.push(`dialog: ${d.message()}`);
    void d.dismiss();
  });
  const unless = (line) => void (allow.some((p) => p.test(line)) || pageErrors.push(line));
  page.on("popup", (p) => unless(`popup: ${p.url()}`));
  page.on("download", (d) => unless(`download: ${d.url()}`));
  context.on("request", (r) => hosts.add(new URL(r.url()).host));
  page.on("response", (r) => {
    const body = r
      .body()
      .then(
        (b) => void wire.push(b.toString()),
        () => {},
      )
      .finally(() => loading.delete(body));
    loading.add(body);
  });
  page.on("websocket", (s) => {
    hosts.add(new URL(s.url()).host);
    const record = (f) => {
      wire.push(String(f.payload));
      messages.push(String(f.payload));
    };
    s.on("framereceived", record);
    s.on("framesent", record);
  });
  if (contextOptions.javaScriptEnabled !== false) {
    await page.exposeFunction("e2eBreach", (line) => void pageErrors.push(line));
    await page.addInitScript(listen);
  }
  atEnd(t, async () => {
    const expected = new URL(page.url()).host;
    await within("closing a page", 60_000, context.close());
    assert.deepEqual(pageErrors, [], "the page has no errors");
    assert.deepEqual(
      [...hosts].filter((host) => host !== expected),
      [],
      "the page sends requests only to its own host",
    );
  });
  return Object.assign(page, { wire, messages, loaded: () => Promise.all(loading) });
}

/** Returns the CPU time in ms of the longest task during an action. */
export async function longest(page, during) {
  page.cdp ??= await page.context().newCDPSession(page);
  return ownTime(page, during);
}

/** Returns column titles and cell texts of the rows in the document. */
export const table = (page) =>
  page.evaluate(() => {
    const head = [...document.querySelectorAll("#table thead th")].map((th) => th.textContent.trim());
    const rows = [...document.querySelectorAll("#tbody tr[data-name]")].map((tr) =>
      Object.fromEntries([...tr.children].map((td, i) => [head[i], td.textContent])),
    );
    return { head, rows };
  });

/** Chooses namespaces in the header. Without names, it chooses all of them. */
export async function chooseNamespaces(page, ...names) {
  await page.locator("#namespace-button").click();
  const pop = page.locator("#namespace-button-pop");
  if (names.length === 0) {
    await pop.locator("[data-all]").check();
    await page.keyboard.press("Escape");
  } else {
    await pop.locator('input[type="text"]').fill(names.join(","));
    await page.keyboard.press("Enter");
  }
  await pop.waitFor({ state: "hidden" });
}

/** Returns the cell texts of a row, or undefined if the document does not contain it. */
export const row = async (page, name) => (await table(page)).rows.find((r) => r.Name === name);

/** Returns the ids of all tabs of the open object, such as "yaml". */
export async function tabIds(page) {
  const tabs = page.getByRole("tablist", { name: "Object details" }).getByRole("tab");
  await tabs.first().waitFor();
  return tabs.evaluateAll((all) => all.map((tab) => tab.dataset.tab));
}

export const status = (page) => page.locator("#status").innerText();

/** Opens an address and waits for live data. */
export async function openLive(page, address) {
  await page.goto(address);
  await page.locator('#status[data-state="live"]').waitFor();
}
