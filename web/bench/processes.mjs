// What processes cost, as /proc tells (proc(5)).
import { readdirSync, readFileSync } from "node:fs";

const stat = (pid) => readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /s, "").split(" ");

/** Processor time of a process so far, in seconds. */
export function cpu(pid) {
  const fields = stat(pid);
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** The processor time of a process and all that came from it, as far as they still run. */
export function cpuOfAll(root) {
  const parents = new Map();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      parents.set(Number(name), Number(stat(name)[1]));
    } catch {
      // It has ended meanwhile.
    }
  }
  const below = (pid) => pid === root || (parents.has(pid) && below(parents.get(pid)));
  let sum = 0;
  for (const pid of parents.keys()) {
    try {
      if (below(pid)) sum += cpu(pid);
    } catch {
      // As above.
    }
  }
  return sum;
}

/** Resident memory, in MiB. */
export const rss = (pid) => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;

/** What the server's heap holds once it was collected, in MiB. */
export async function liveHeap(dashboard) {
  const { metrics } = JSON.parse(dashboard.log.find((line) => line.includes('"msg":"serving"')));
  await (await fetch(new URL("/debug/pprof/heap?gc=1", metrics))).arrayBuffer();
  return Number(/^go_memstats_heap_alloc_bytes (\S+)$/m.exec(await (await fetch(metrics)).text())[1]) / 1024 / 1024;
}

/** How many processes wanted to run in the last minute. */
export const load = () => Number(readFileSync("/proc/loadavg", "utf8").split(" ")[0]);
