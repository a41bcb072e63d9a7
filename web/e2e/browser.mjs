// Chromium, and pages that are watched for what must never happen: an error, a
// breach of the content security policy, a dialog, a request to another host.
import assert from "node:assert/strict";
import { chromium } from "playwright-core";
import { ownTime } from "../bench/page.mjs";
import { atEnd } from "./ending.mjs";

const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

/** One browser for a test file. */
export async function browse(t, ...more) {
  const browser = await chromium.launch({ executablePath: process.env["CHROMIUM"] || "/usr/bin/chromium", args: [...flags, ...more], timeout: 60_000 });
  atEnd(t, () => browser.close());
  return browser;
}

// Runs in the page, before any script of it.
function listen() {
  window.e2e = { marked: [] };
  document.addEventListener("securitypolicyviolation", (e) => void window.e2eBreach(`breach: ${e.violatedDirective} ${e.blockedURI} ${e.sample}`));
  // Flashes are short; who looks now and then would miss them.
  new MutationObserver((list) => {
    for (const { target } of list) {
      if (target.hasAttribute("data-changed") && target.matches("td, th")) window.e2e.marked.push({ row: target.closest("tr")?.dataset.name, text: target.textContent, title: target.getAttribute("title") });
    }
  }).observe(document, { attributes: true, attributeFilter: ["data-changed"], subtree: true });
}

/**
 * A page that is watched until the test ends. allow are patterns of console
 * lines, popups and downloads that the test brings about on purpose.
 */
export async function newPage(t, browser, options = {}) {
  const { allow = [], ...rest } = options;
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, permissions: [], ...rest });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const troubles = [];
  const wire = []; // all bodies and frames
  const loading = new Set();
  const hosts = new Set();
  page.on("console", (m) => {
    const line = `${m.type()}: ${m.text()} ${m.location().url}`;
    if (["error", "warning", "assert"].includes(m.type()) && !allow.some((p) => p.test(line))) troubles.push(line);
  });
  page.on("pageerror", (err) => troubles.push(`uncaught: ${err.stack ?? err.message}`));
  page.on("dialog", (d) => {
    troubles.push(`dialog: ${d.message()}`);
    void d.dismiss();
  });
  const unless = (line) => void (allow.some((p) => p.test(line)) || troubles.push(line));
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
  if (rest.javaScriptEnabled !== false) {
    await page.exposeFunction("e2eBreach", (line) => void troubles.push(line));
    await page.addInitScript(listen);
  }
  atEnd(t, async () => {
    const expected = new URL(page.url()).host;
    await context.close();
    assert.deepEqual(troubles, [], "the page has troubles");
    assert.deepEqual([...hosts].filter((host) => host !== expected), [], "a request went to another host");
  });
  return Object.assign(page, { wire, loaded: () => Promise.all(loading) });
}

/** The longest task of the page in ms of its own processor time, while something is done to it. */
export async function longest(page, during) {
  page.cdp ??= await page.context().newCDPSession(page);
  return ownTime(page, during);
}

/** What stands in the cells of the rows, as drawn. */
export const table = (page) => page.evaluate(() => {
  const head = [...document.querySelectorAll("#table thead th")].map((th) => th.textContent.trim());
  const rows = [...document.querySelectorAll("#tbody tr[data-name]")].map((tr) => Object.fromEntries([...tr.children].map((td, i) => [head[i], td.textContent])));
  return { head, rows };
});

/** Chooses these namespaces in the header; all, where none is named. */
export async function chooseNamespaces(page, ...names) {
  await page.locator("#spaces").click();
  const pop = page.locator("#spaces-pop");
  if (names.length === 0) {
    await pop.locator("[data-all]").check();
    await page.keyboard.press("Escape");
  } else {
    await pop.locator('input[type="text"]').fill(names.join(","));
    await page.keyboard.press("Enter");
  }
  await pop.waitFor({ state: "hidden" });
}

/** The row of an object, undefined if it is not drawn. */
export const row = async (page, name) => (await table(page)).rows.find((r) => r.Name === name);

export const status = (page) => page.locator("#status").innerText();

/** Opens an address and waits until the page says that it is live. */
export async function openLive(page, address) {
  await page.goto(address);
  await page.locator('#status[data-state="live"]').waitFor();
}
