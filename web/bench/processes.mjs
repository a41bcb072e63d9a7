// Reads CPU time and memory from /proc (see proc(5)).
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

const stat = (pid) =>
  readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");

/** Returns the CPU time of a process in seconds. */
export function cpu(pid) {
  const fields = stat(pid);
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Returns the CPU time of a process and its running descendants in seconds. */
export function cpuOfAll(root) {
  const parents = new Map();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      parents.set(Number(name), Number(stat(name)[1]));
    } catch {
      // Ignore the error: the process has ended.
    }
  }
  const below = (pid) => pid === root || (parents.has(pid) && below(parents.get(pid)));
  let sum = 0;
  for (const pid of parents.keys()) {
    try {
      if (below(pid)) sum += cpu(pid);
    } catch {
      // Ignore the error: the process has ended.
    }
  }
  return sum;
}

/** Returns the IDs of all processes that have one of the names, and whose arguments contain the directory. */
export const running = (directory, names) =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const [name, ...args] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        return names.includes(name) && args.some((a) => a.includes(directory));
      } catch {
        return false; // the process has ended
      }
    });

/** Waits until the machine is at least 80 % idle for 5 s, because a new cluster is busy. */
export async function waitUntilIdle(seconds) {
  const cpuTimes = () => {
    const times = readFileSync("/proc/stat", "utf8").split("\n", 1)[0].trim().split(/\s+/).slice(1, 9).map(Number);
    return { idle: times[3] + times[4], all: times.reduce((a, b) => a + b, 0) };
  };
  for (let last = cpuTimes(), i = 0; i < seconds; i += 5) {
    await pause(5000);
    const now = cpuTimes();
    if (now.idle - last.idle > 0.8 * (now.all - last.all)) return true;
    last = now;
  }
  return false;
}

/** Returns the resident memory of a process in MiB. */
export const rss = (pid) => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;

/** Returns the Go heap of the dashboard in MiB after a garbage collection. */
export async function liveHeap(dashboard) {
  const { metrics } = JSON.parse(dashboard.log.find((line) => line.includes('"msg":"serving"')));
  await (await fetch(new URL("/debug/pprof/heap?gc=1", metrics))).arrayBuffer();
  return Number(/^go_memstats_heap_alloc_bytes (\S+)$/m.exec(await (await fetch(metrics)).text())[1]) / 1024 / 1024;
}

/** Returns the load average of one minute. */
export const load = () => Number(readFileSync("/proc/loadavg", "utf8").split(" ")[0]);
