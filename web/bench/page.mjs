// Measures a page in Chromium.
import { chromium } from "playwright-core";

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--enable-precise-memory-info",
];

export async function browse(t) {
  const server = await chromium.launchServer({
    executablePath: process.env["CHROMIUM"] || "/usr/bin/chromium",
    args: flags,
    timeout: 60_000,
  });
  t.after(() => server.close());
  const browser = await chromium.connect(server.wsEndpoint());
  return { browser, pid: server.process().pid };
}

// Runs in the page before its own scripts, and records when content is painted, in ms since the navigation.
function note() {
  const b = (window.bench = { firstRows: 0, all: 0, home: 0, tasks: [], inputs: [], changes: new Map() });
  new PerformanceObserver((list) => {
    for (const e of list.getEntries()) b.tasks.push({ start: e.startTime, ms: e.duration });
  }).observe({ type: "longtask", buffered: true });
  new PerformanceObserver((list) => {
    for (const e of list.getEntries())
      if (e.name === "keydown" || e.name === "input") b.inputs.push(e.processingStart - e.startTime);
  }).observe({ type: "event", durationThreshold: 16 });
  // A timer that is set in an animation frame fires after the browser has painted that frame.
  const painted = (then) => requestAnimationFrame(() => setTimeout(() => then(performance.now())));
  const record = () => {
    if (b.firstRows === 0 && document.querySelectorAll("#tbody tr[data-name]").length >= 20) {
      b.firstRows = -1;
      painted((at) => (b.firstRows = at));
    }
    const status = document.getElementById("status");
    if (b.all === 0 && status?.dataset.state === "live") {
      b.all = -1;
      painted((at) => (b.all = at));
    }
    const isHomeComplete = document.querySelector(".strip") !== null && document.querySelector(".reading") === null;
    if (b.home === 0 && isHomeComplete && status?.dataset.state === "live") {
      b.home = -1;
      painted((at) => (b.home = at));
    }
  };
  new MutationObserver((list) => {
    record();
    for (const m of list) {
      const td = (m.target.nodeType === 3 ? m.target.parentElement : m.target)?.closest?.("td");
      const name = td?.closest("tr")?.dataset.name;
      // The time is in ms since 1970, so that it can be compared with the times of the writes.
      if (name !== undefined) b.changes.set(`${name} ${td.textContent}`, performance.timeOrigin + performance.now());
    }
  }).observe(document, {
    subtree: true,
    childList: true,
    characterData: true,
    attributes: true,
    attributeFilter: ["data-state"],
  });
}

/** Opens an empty page in which the CPU is throttled by the factor `slow`. */
export async function open(t, browser, slow) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  t.after(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  await page.addInitScript(note);
  const cdp = await context.newCDPSession(page);
  await cdp.send("Emulation.setCPUThrottlingRate", { rate: slow });
  return Object.assign(page, { cdp });
}

export const noted = (page) => page.evaluate(() => ({ ...window.bench, changes: undefined }));

/** Waits until the page has all rows, and returns the recorded times. */
export async function visit(page, url) {
  await page.goto(url, { waitUntil: "commit" });
  await page.waitForFunction(() => window.bench.all > 0 && window.bench.firstRows > 0);
  return noted(page);
}

/** Opens the home page, and returns the time in ms until it is complete: all resource types are read and painted. */
export async function openHome(page, url) {
  await page.goto(url, { waitUntil: "commit" });
  const took = await page.waitForFunction(() => window.bench.home > 0 && window.bench.home);
  return took.jsonValue();
}

/** Returns the time in ms until the first rows are painted. */
export async function firstRows(page, url) {
  await page.goto(url, { waitUntil: "commit" });
  const took = await (
    await page.waitForFunction(() => window.bench.firstRows > 0 && window.bench.firstRows)
  ).jsonValue();
  await page.close();
  return took;
}

/** Returns the time in ms until the rows that match a filter are painted. */
export const filter = (page, text) =>
  page.evaluate(async (text) => {
    const q = document.getElementById("q");
    const start = performance.now();
    q.value = text;
    q.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    return performance.now() - start;
  }, text);

/** Scrolls through the table, one step per frame. Returns the times between frames in ms. */
export const scroll = (page, frames) =>
  page.evaluate(async (frames) => {
    const rows = document.getElementById("rows");
    const step = (rows.scrollHeight - rows.clientHeight) / frames;
    const times = [];
    let last = await new Promise(requestAnimationFrame);
    for (let i = 0; i < frames; i++) {
      rows.scrollTop += step;
      const at = await new Promise(requestAnimationFrame);
      times.push(at - last);
      last = at;
    }
    return times;
  }, frames);

/** Returns the JavaScript heap in MiB after a garbage collection. */
export async function heap(page) {
  await page.cdp.send("HeapProfiler.collectGarbage");
  return (await page.cdp.send("Runtime.getHeapUsage")).usedSize / 2 ** 20;
}

/** Returns the durations in ms of tasks over 50 ms during an action. */
export async function tasks(page, during) {
  await page.evaluate(() => {
    window.bench.tasks.length = 0;
    window.bench.inputs.length = 0;
  });
  await during();
  return (await noted(page)).tasks.map((t) => t.ms);
}

/** Returns the CPU time in ms of the longest task during an action. CPU time excludes time for other processes. */
export async function ownTime(page, during) {
  const events = [];
  const take = ({ value }) => events.push(...value);
  page.cdp.on("Tracing.dataCollected", take);
  await page.cdp.send("Tracing.start", {
    transferMode: "ReportEvents",
    categories: "disabled-by-default-devtools.timeline",
  });
  await during();
  const end = new Promise((resolve) => page.cdp.once("Tracing.tracingComplete", resolve));
  await page.cdp.send("Tracing.end");
  await end;
  page.cdp.off("Tracing.dataCollected", take);
  const main = new Set(
    events.filter((e) => e.name === "thread_name" && e.args.name === "CrRendererMain").map((e) => e.tid),
  );
  return Math.max(0, ...events.filter((e) => e.name === "RunTask" && main.has(e.tid)).map((e) => e.tdur ?? 0)) / 1000;
}
