// Measures the page. It needs the environment variables of the browser tests, and many pods in the namespace "big".
import { gzipSync } from "node:zlib";
import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { metrics } from "../e2e/cluster.mjs";
import { Dashboard } from "../e2e/dashboard.mjs";
import { until } from "../e2e/wait.mjs";
import { browse, filter, firstRows, heap, noted, open, openHome, ownTime, scroll, tasks, visit } from "./page.mjs";
import { cpu, cpuOfAll, liveHeap, load, waitUntilIdle, rss } from "./processes.mjs";
import { best, pods as otherPods } from "./other-dashboards.mjs";
import { counting } from "./proxy.mjs";
import { median, quantile, Table } from "./table.mjs";
import { measureTasks } from "./tasks.mjs";
import { churn, podsOf, write, writeAt } from "./writer.mjs";

const runs = Number(process.env["RUNS"] ?? 5);
const minutes = Number(process.env["MINUTES"] || 10);
const only = new RegExp(process.env["ONLY"] ?? ".");
const ends = [];
const t = { after: (end) => ends.unshift(end) };
const table = new Table();

async function main() {
  const dashboard = await Dashboard.start(t, { flags: ["--metrics-listen", "127.0.0.1:0"] });
  const { browser, pid } = await browse(t);
  const { url, count } = await counting(t, dashboard.port);
  const list = `${url}r/core/v1/pods`;
  const total = await until(
    "the pods",
    async () => {
      const s = await (await fetch(`${dashboard.url}api/v1/snapshot/core/v1/pods?limit=1`)).json();
      return s.state === "live" && s.total;
    },
    120_000,
  );
  const large = total > 50_000;
  // Print results of other dashboards only if they are comparable: measured with otherPods pods, at full CPU speed.
  const comparable = Math.abs(total - otherPods) < otherPods / 10;
  const others = (figure, slow = 1) => (comparable && slow === 1 ? best[figure] : "");
  const rest = (await waitUntilIdle(120)) ? "the machine is idle" : "THE MACHINE IS NOT IDLE";
  console.log(`${total} pods; ${rest}, load ${load()}`);
  const part = async (name, what) => {
    if (!only.test(name)) return;
    const cleanups = [];
    await what({ after: (end) => cleanups.unshift(end) });
    for (const end of cleanups) await end();
  };

  // In "cold" measurements, the program has just started, and watches nothing.
  await part("home", async (t) => {
    const cold = [],
      warm = [];
    for (let i = 0; i < runs; i++) {
      const fresh = await Dashboard.start(t);
      cold.push(await openHome(await open(t, browser, 1), fresh.url));
      warm.push(await openHome(await open(t, browser, 1), fresh.url));
      await fresh.stop();
    }
    table.add("home page complete, cold", "ms", cold, large ? null : 3000);
    table.add("home page complete, warm", "ms", warm, large ? null : 1000);
  });
  await part("tasks", (t) => measureTasks(t, browser, url));
  await part("memory", async (t) => {
    const page = await open(t, browser, 1);
    await visit(page, list);
    table.add(`JS heap with ${total} rows`, "MiB", await heap(page), large ? 120 : 25, others("heap"));
    table.add("server RSS with the list open", "MiB", rss(dashboard.child.pid), large ? null : 80, others("rss"));
    const before = rss(dashboard.child.pid),
      watches = await upstream();
    const tabs = 10;
    const further = async () => {
      for (let i = 0; i < tabs; i++) await visit(await open(t, browser, 1), list);
    };
    await further();
    table.add("each further tab: server RSS", "MiB", Math.max(0, (rss(dashboard.child.pid) - before) / tabs), 1);
    table.add("each further tab: upstream watches", "", (await upstream()) - watches, 0, others("watches"));
    const live = await liveHeap(dashboard);
    await further();
    table.add(
      "(each further tab: what is live of it after a collection)",
      "MiB",
      ((await liveHeap(dashboard)) - live) / tabs,
      null,
    );
  });
  // Measure at full CPU speed, and four times slower, like a laptop on battery.
  for (const slow of [1, 4]) {
    const at = slow === 1 ? "" : `, ${slow} times slower`;
    const bar = (value) => (slow === 1 ? value : null);
    await part("navigate", async (t) => {
      const first = [],
        all = [],
        bytes = [],
        longest = [],
        bare = [];
      const rows = await bareRows(t, list);
      for (let i = 0; i < runs; i++) {
        bare.push(await firstRows(await open(t, browser, slow), rows));
        const page = await open(t, browser, slow);
        const before = count.down;
        const n = await visit(page, list);
        first.push(n.firstRows);
        all.push(n.all + (await filter(page, "app-1")));
        longest.push(Math.max(0, ...n.tasks.map((t) => t.ms)));
        bytes.push((count.down - before) / 1e6);
        await page.close();
      }
      table.add(
        `navigation to first rows painted${at}`,
        "ms",
        first,
        bar(large ? 500 : 300),
        others("firstRows", slow),
      );
      table.add(`(the same rows, a file with neither script nor style${at})`, "ms", bare, null);
      table.add(`all rows counted and filtered${at}`, "ms", all, bar(large ? 4000 : 1000), others("allRows", slow));
      table.add(`(longest task meanwhile${at})`, "ms", longest, null);
      if (slow === 1) table.add("page and its list on the wire", "MB", bytes, large ? null : 0.4, others("list"));
    });
    await part("filter", async (t) => {
      const page = await open(t, browser, slow);
      await visit(page, list);
      const times = [];
      const long = await tasks(page, async () => {
        for (let i = 0; i < 4 * runs; i++)
          times.push(await filter(page, ["a", "ap", "app-1", "running 1/1", "zzz", ""][i % 6]));
      });
      table.add(`text filter${at}`, "ms", times, bar(large ? 150 : 30), others("filter", slow));
      table.add(`its longest task${at}`, "ms", Math.max(0, ...long), bar(100));
    });
    if (!large)
      await part("filter while rows move", async (t) => {
        const pods = await podsOf("/api/v1/namespaces/big/pods");
        const page = await open(t, browser, slow);
        await visit(page, `${list}?sort=restarts`);
        const times = [];
        const long = await tasks(page, async () => {
          const writing = writeAt(pods, 100, 10);
          for (let i = 0; i < 4 * runs; i++) {
            times.push(await filter(page, ["a", "ap", "app-1", "running 1/1", "zzz", ""][i % 6]));
            await pause(300); // give some rows time to move before the next filter
          }
          await writing;
        });
        table.add(`text filter while rows move${at}`, "ms", times, bar(30));
        table.add(`its longest task${at}`, "ms", Math.max(0, ...long), bar(100));
      });
    await part("scroll", async (t) => {
      const page = await open(t, browser, slow);
      await visit(page, list);
      const frames = await scroll(page, 600);
      table.add(`scrolling through ${total} rows: frame, p99${at}`, "ms", quantile(frames, 0.99), bar(32));
    });
    if (!large) await part("writes", (t) => writes(t, slow, at, bar));
  }
  if (!large) await part("growth", growth);
  await part("assets", async (t) => {
    const page = await open(t, browser, 1);
    await visit(page, list);
    const names = await page.evaluate(() =>
      performance
        .getEntriesByType("resource")
        .map((e) => e.name)
        .filter((n) => n.includes("/static/") && !n.includes("svg")),
    );
    let size = 0;
    for (const name of names) size += gzipSync(Buffer.from(await (await fetch(name)).arrayBuffer())).length;
    table.add(
      `script and style of the first page, ${names.length} files, gzip`,
      "kB",
      size / 1000,
      60,
      others("assets"),
    );
  });
  table.print();
  if (comparable)
    console.log(
      "best other: of Headlamp 0.45, kubewall 0.0.21 and Kite 0.7.8, on the same kind of machine, not in this run",
    );
  console.log(`load ${load()}`);

  // Measures memory growth. In the first half, memory grows because the server fills its history of 5 minutes. Only
  // growth in the second half is a leak.
  async function growth(t) {
    const pods = await podsOf("/api/v1/namespaces/big/pods");
    const page = await open(t, browser, 1);
    await visit(page, list);
    await page.keyboard.press("a"); // opens the activity feed, which stores changes
    await page.locator(".activity-feed .foot").waitFor();
    const residentSizes = [],
      live = [],
      heaps = [];
    const measureMemory = async () => {
      heaps.push(await heap(page));
      residentSizes.push(rss(dashboard.child.pid));
      live.push(await liveHeap(dashboard));
    };
    await measureMemory();
    let done = 0;
    for (let half = 0; half < 2; half++) {
      done += await writeAt(pods, 100, 30 * minutes);
      await measureMemory();
    }
    const of = `100 changes/s for ${minutes} min (${done} done): server RSS grew`;
    table.add(of, "MiB", residentSizes[2] - residentSizes[0], null, others("growth"));
    table.add(`(${of} in the second half)`, "MiB", residentSizes[2] - residentSizes[1], null);
    table.add("(of that, what is live after a collection: in all)", "MiB", live[2] - live[0], null);
    table.add("(the same in the second half)", "MiB", live[2] - live[1], null);
    table.add("the page's JS heap grew meanwhile, with the activity open", "MiB", heaps[2] - heaps[0], 10);
    table.add("(the same in the second half)", "MiB", heaps[2] - heaps[1], null);
  }

  async function writes(t, slow, at, bar) {
    const pods = await podsOf("/api/v1/namespaces/big/pods");
    const page = await open(t, browser, slow);
    await visit(page, `${list}?sort=namespace`);
    const shown = await page.evaluate(() =>
      [...document.querySelectorAll('#tbody tr[data-ns="big"]')].slice(0, 20).map((tr) => tr.dataset.name),
    );
    const seen = pods.filter((p) => shown.includes(p.name));
    if (seen.length === 0) throw new Error("no pod of the namespace big is on the screen");
    const delays = [],
      took = [],
      bytes = [];
    for (let i = 0; i < 60; i++) {
      const before = count.down;
      const w = await write(seen[i % seen.length]);
      const drawn = await page
        .waitForFunction((key) => window.bench.changes.get(key), w.key)
        .then((h) => h.jsonValue());
      delays.push(drawn - w.start);
      took.push(w.took);
      await pause(60);
      bytes.push(count.down - before);
    }
    table.add(`API write to cell changed, p50${at}`, "ms", quantile(delays, 0.5), bar(30), others("write50", slow));
    table.add(`API write to cell changed, p95${at}`, "ms", quantile(delays, 0.95), bar(60), others("write95", slow));
    table.add(`(the write itself${at})`, "ms", median(took), null);
    if (slow === 1) table.add("bytes to the browser for one pod's change", "B", median(bytes), 320, others("change"));
    for (const [rate, times, change, bound] of [
      [100, 1, (s) => writeAt(pods, 100, s), bar],
      [1000, slow === 1 ? 3 : 1, (s) => churn(1000, s), () => null],
    ]) {
      const seconds = 30;
      const got = {
        done: [],
        restartsReported: [],
        browser: [],
        longest: [],
        sum: [],
        delay: [],
        server: [],
        bytes: [],
        heap: [],
        rss: [],
      };
      for (let i = 0; i < times; i++) {
        const heapBefore = await heap(page);
        const [browserBefore, serverBefore, bytesBefore, rssBefore] = [
          cpuOfAll(pid),
          cpu(dashboard.child.pid),
          count.down,
          rss(dashboard.child.pid),
        ];
        const long = await tasks(page, async () => {
          const typing = rate === 1000 ? type(page, seconds) : null;
          const before = rate === 1000 ? await restartsOf(dashboard) : 0;
          got.done.push(await change(seconds));
          if (rate === 1000) got.restartsReported.push((await restartsOf(dashboard)) - before);
          await typing;
        });
        got.browser.push(cpuOfAll(pid) - browserBefore);
        got.longest.push(Math.max(0, ...long));
        got.sum.push(long.reduce((a, b) => a + b, 0) / 1000);
        got.delay.push(Math.max(0, ...(await noted(page)).inputs));
        got.server.push(cpu(dashboard.child.pid) - serverBefore);
        got.bytes.push((count.down - bytesBefore) / 1e6);
        got.heap.push((await heap(page)) - heapBefore);
        got.rss.push(rss(dashboard.child.pid) - rssBefore);
      }
      const theirs = (figure) => (rate === 100 ? others(figure, slow) : "");
      const of = `${rate} changes/s for ${seconds} s (${got.done.join(", ")} done)${at}`;
      table.add(`${of}: browser CPU`, "s", got.browser, bound(4), theirs("browserCPU"));
      table.add(`${of}: longest task`, "ms", got.longest, bound(50), theirs("longest"));
      table.add(`${of}: sum of long tasks`, "s", got.sum, bound(0.2), theirs("sum"));
      if (rate === 1000) table.add(`${of}: input delay, worst of those above 16 ms`, "ms", got.delay, bar(100));
      // Each write adds 1 to a restart count. So the increase of the sum of all counts is the number of writes that the
      // API server has reported.
      if (rate === 1000) table.add(`(${of}: reported by the API server until then)`, "", got.restartsReported, null);
      if (slow === 1) {
        table.add(`${of}: server CPU`, "s", got.server, bound(1), theirs("serverCPU"));
        table.add(`${of}: bytes to the browser`, "MB", got.bytes, bound(0.8), theirs("bytes"));
        table.add(`(${of}: the page's JS heap grew)`, "MiB", got.heap, null);
        table.add(`(${of}: server RSS grew)`, "MiB", got.rss, null, theirs("growth"));
      }
      // Also print the CPU time of the longest task. Its duration above includes time in which other processes ran.
      table.add(
        `(${of}, and 5 s more: longest task by its own CPU time)`,
        "ms",
        await ownTime(page, () => change(5)),
        null,
      );
    }
  }
}

async function restartsOf(dashboard) {
  const { columns, rows } = await (await fetch(`${dashboard.url}api/v1/snapshot/core/v1/pods?ns=big`)).json();
  const at = columns.findIndex((c) => c.name === "Restarts");
  return rows.reduce((sum, r) => sum + parseInt(r.cells[at], 10), 0);
}

// Serves only the HTML table, without scripts and styles. No page with these rows can load faster.
async function bareRows(t, list) {
  const [table] = /<table.*<\/table>/s.exec(await (await fetch(list)).text());
  const server = createServer((_, response) =>
    response.setHeader("Content-Type", "text/html; charset=utf-8").end(`<!doctype html><title>Rows</title>${table}`),
  );
  server.listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  return `http://127.0.0.1:${server.address().port}/`;
}

async function type(page, seconds) {
  await page.locator("#q").focus();
  for (let i = 0; i < seconds; i++) {
    await page.keyboard.press(i % 2 === 0 ? "a" : "Backspace");
    await pause(1000);
  }
}

async function upstream() {
  const text = await metrics();
  const lines = text
    .split("\n")
    .filter(
      (l) =>
        l.startsWith("apiserver_longrunning_requests{") && l.includes('resource="pods"') && l.includes('verb="WATCH"'),
    );
  return lines.reduce((sum, l) => sum + Number(l.slice(l.lastIndexOf(" "))), 0);
}

try {
  await main();
} finally {
  for (const end of ends) await end();
}
