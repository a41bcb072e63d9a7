// Behind a real reverse proxy: nginx, at a path of its own, with a time-out that is shorter than
// nginx's usual 60 s and longer than the 15 s after which the program says that nothing is new.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { browse, newPage, openLive, row, status } from "./browser.mjs";
import { configMap, create, namespace } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { atEnd } from "./ending.mjs";
import { until } from "./wait.mjs";

const timeout = 20; // Seconds.
const base = "/tools/glasshouse";

/** Starts nginx before the program, and gives the address that it serves at. */
async function proxy(t, upstream) {
  const folder = mkdtempSync(join(tmpdir(), "glasshouse-nginx-"));
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address();
  taken.close();
  await once(taken, "close");
  const log = join(folder, "error.log");
  writeFileSync(join(folder, "nginx.conf"), `
    worker_processes 1;
    pid ${folder}/pid;
    error_log ${log};
    events { worker_connections 256; }
    http {
      access_log off;
      client_body_temp_path ${folder}/body;
      proxy_temp_path ${folder}/proxy;
      fastcgi_temp_path ${folder}/fastcgi;
      uwsgi_temp_path ${folder}/uwsgi;
      scgi_temp_path ${folder}/scgi;
      map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
      server {
        listen 127.0.0.1:${port};
        location ${base}/ {
          proxy_pass http://${upstream};
          proxy_http_version 1.1;
          proxy_set_header Host $http_host;
          proxy_set_header Upgrade $http_upgrade;
          proxy_set_header Connection $connection_upgrade;
          proxy_read_timeout ${timeout}s;
          proxy_send_timeout ${timeout}s;
        }
      }
    }`);
  const child = spawn("nginx", ["-p", folder, "-e", log, "-c", join(folder, "nginx.conf"), "-g", "daemon off; user root;"], { stdio: "ignore" });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  atEnd(t, async () => {
    process.off("exit", kill);
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGTERM");
      await once(child, "exit");
    }
    rmSync(folder, { recursive: true });
  });
  const url = `http://127.0.0.1:${port}${base}/`;
  await until("nginx", async () => (await fetch(`${url}healthz`)).ok);
  return { url, log: () => readFileSync(log, "utf8") };
}

await test("behind nginx", { timeout: 240_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t, { flags: ["--base-path", base] });
  const nginx = await proxy(t, `127.0.0.1:${dashboard.port}`);
  const ns = await namespace(t);
  const where = `/api/v1/namespaces/${ns}/configmaps`;
  await create(where, configMap("there"));

  await t.test("the main job", async (t) => {
    const page = await newPage(t, browser);
    await openLive(page, `${nginx.url}r/core/v1/configmaps?ns=${ns}`);
    await until("the row", () => row(page, "there"));
    await create(where, configMap("comes"));
    await until("what comes", () => row(page, "comes"));
    await page.locator('#tbody tr[data-name="there"] a').first().click();
    await page.locator("#panel .status").waitFor();
    assert.ok(page.url().startsWith(nginx.url), page.url());
  });

  await t.test("an idle page is not dropped", async (t) => {
    const page = await newPage(t, browser);
    let sockets = 0;
    page.on("websocket", () => sockets++);
    await openLive(page, `${nginx.url}r/core/v1/configmaps?ns=${ns}`);
    await until("the row", () => row(page, "there"));
    await page.evaluate(() => {
      window.e2e.states = [];
      const status = document.querySelector("#status");
      new MutationObserver(() => window.e2e.states.push(status.dataset.state)).observe(status, { attributes: true, attributeFilter: ["data-state"] });
    });
    await pause(3.5 * timeout * 1000);
    assert.deepEqual(await page.evaluate(() => window.e2e.states.filter((s) => s !== "live")), []);
    assert.equal(sockets, 1, "the connection was made anew");
    assert.match(await status(page), /^Live/);
    await create(where, configMap("late"));
    await until("what comes after", () => row(page, "late"));
    assert.doesNotMatch(nginx.log(), /timed out/);
  });
});
