// The best results of Headlamp 0.45, kubewall 0.0.21 and Kite 0.7.8, measured once on the same type of machine.

/** The number of pods in the cluster during the measurements of the other dashboards. */
export const pods = 10_000;

export const best = {
  firstRows: "1600 ms",
  allRows: "1600 ms",
  list: "2.3 MB",
  write50: "98 ms",
  write95: "167 ms",
  change: "1000 B",
  filter: "103 ms",
  heap: "38 MB",
  rss: "60 MiB without a cache, 265 with one",
  watches: "1 to 3",
  assets: "230 kB",
  // The figures below were measured during 30 s with 100 writes per second.
  browserCPU: "12.9 s",
  longest: "800 ms",
  sum: "15 s",
  serverCPU: "0.4 s without a cache, 1.6 with one",
  bytes: "3.1 MB",
  growth: "316 MiB in 35 s",
};
