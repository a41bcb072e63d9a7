// Changes restart counts of pods, which the page shows in a column.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { patch, read } from "../e2e/cluster.mjs";
import { running } from "./processes.mjs";

export async function podsOf(where) {
  const { items } = await read(`${where}?limit=500`);
  return items
    .filter((p) => p.status?.containerStatuses?.length > 0)
    .map((p) => ({
      name: p.metadata.name,
      path: `${where}/${p.metadata.name}/status`,
      statuses: p.status.containerStatuses,
    }));
}

let restarts = 1000;

/** Writes a new restart count. Returns a key (pod name and count), and the start and duration of the write in ms. */
export async function write(pod) {
  const n = restarts++;
  const containerStatuses = pod.statuses.map((s, i) => (i === 0 ? { ...s, restartCount: n, lastState: {} } : s));
  const start = performance.timeOrigin + performance.now();
  await patch(pod.path, { status: { containerStatuses } }, { manager: "kubelet" });
  return { key: `${pod.name} ${n}`, start, took: performance.timeOrigin + performance.now() - start };
}

/** Writes directly to etcd, because the API server is too slow on two cores. Returns the number of writes. */
export async function churn(rate, seconds) {
  const home = process.env["GLASSHOUSE_DEMO_DIR"];
  const { path } = JSON.parse(readFileSync(join(home, "commands.json"), "utf8"));
  const others = running(home, ["kube-controller-manager", "kube-scheduler", "kubelet"]);
  try {
    // Pause the other components of the demo cluster, so that the API server gets their CPU time.
    for (const pid of others) process.kill(pid, "SIGSTOP");
    const { stdout } = await promisify(execFile)(path, [
      "churn",
      "--data-dir",
      home,
      "--rate",
      String(rate),
      "--for",
      `${seconds}s`,
    ]);
    return Number(stdout);
  } finally {
    for (const pid of others) process.kill(pid, "SIGCONT");
  }
}

/** Writes through the API server, `rate` times per second, and returns the number of successes. */
export async function writeAt(pods, rate, seconds) {
  const start = performance.now();
  let started = 0;
  let done = 0;
  let failed = 0;
  const under = new Set();
  while (performance.now() - start < seconds * 1000) {
    const due = Math.floor(((performance.now() - start) / 1000) * rate);
    while (started < due) {
      started++;
      if (under.size >= 100) continue;
      const one = write(pods[started % pods.length])
        .then(
          () => done++,
          () => failed++,
        )
        .finally(() => under.delete(one));
      under.add(one);
    }
    await pause(2);
  }
  await Promise.all(under);
  if (failed > done / 100) throw new Error(`${failed} of ${started} writes failed`);
  return done;
}
