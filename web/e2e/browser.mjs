// Launches Chromium and opens monitored pages. A monitored page fails its test on a console error or warning, an
// uncaught error, a violation of the content security policy, a dialog, or a request to another host.
import assert from "node:assert/strict";
import { chromium } from "playwright-core";
import { ownTime } from "../bench/page.mjs";
import { atEnd } from "./cleanup.mjs";

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Launches a browser, which is closed at the end of test t. */
export async function browse(t, ...more) {
  const browser = await chromium.launch({
    executablePath: process.env["CHROMIUM"] || "/usr/bin/chromium",
    args: [...flags, ...more],
    timeout: 60_000,
  });
  atEnd(t, () => browser.close());
  return browser;
}

// Runs in each page before the page's own scripts. It reports CSP violations and records highlighted cells.
function listen() {
  window.e2e = { marked: [] };
  document.addEventListener(
    "securitypolicyviolation",
    (e) => void window.e2eBreach(`breach: ${e.violatedDirective} ${e.blockedURI} ${e.sample}`),
  );
  // The observer records each highlighted cell. A cell is highlighted so briefly that a polling test could miss it.
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

/**
 * Opens a page and monitors it until the test ends. allow contains patterns of the console lines, popups and
 * downloads that the test expects.
 */
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
  const wire = []; // text of all response bodies and of all WebSocket messages, in both directions
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
    const body = r.body().then((b) => void wire.push(b.toString()), () => {}).finally(() => loading.delete(body));
    loading.add(body);
  });
  page.on("websocket", (s) => {
    hosts.add(new URL(s.url()).host);
    s.on("framereceived", (f) => wire.push(String(f.payload)));
    s.on("framesent", (f) => wire.push(String(f.payload)));
  });
  if (contextOptions.javaScriptEnabled !== false) {
    await page.exposeFunction("e2eBreach", (line) => void pageErrors.push(line));
    await page.addInitScript(listen);
  }
  atEnd(t, async () => {
    const expected = new URL(page.url()).host;
    await context.close();
    assert.deepEqual(pageErrors, [], "the page has troubles");
    assert.deepEqual([...hosts].filter((host) => host !== expected), [], "a request went to another host");
  });
  return Object.assign(page, { wire, loaded: () => Promise.all(loading) });
}

/** Runs an action and returns the CPU time of the page's longest task during it, in ms. */
export async function longest(page, during) {
  page.cdp ??= await page.context().newCDPSession(page);
  return ownTime(page, during);
}

/** Returns the column titles and the cell texts of the rows that are in the document. */
export const table = (page) => page.evaluate(() => {
  const head = [...document.querySelectorAll("#table thead th")].map((th) => th.textContent.trim());
  const rows = [...document.querySelectorAll("#tbody tr[data-name]")].map((tr) =>
    Object.fromEntries([...tr.children].map((td, i) => [head[i], td.textContent])),
  );
  return { head, rows };
});

/** Chooses the given namespaces in the header's namespace chooser. Without names, it chooses all namespaces. */
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

/** Returns the cell texts of an object's row, or undefined if the row is not in the document. */
export const row = async (page, name) => (await table(page)).rows.find((r) => r.Name === name);

export const status = (page) => page.locator("#status").innerText();

/** Opens an address and waits until the page shows live data. */
export async function openLive(page, address) {
  await page.goto(address);
  await page.locator('#status[data-state="live"]').waitFor();
}
