// Reads the restarts and warnings of a list, which the server counts, and describes them.

import { formatInteger } from "../text/format.ts";
import { clockTime } from "../text/age.ts";
import { asSentence } from "../model/status.ts";
import { states, type JsonObject, type State } from "../net/wire.ts";
import type { ChartData } from "./chart-data.ts";

export interface Rate {
  readonly state: State["state"];
  /** Why the data are in this state, as the server reports it. Empty if the server gives no reason. */
  readonly reason: string;
  /** When the data begin, in ms since 1970. null if all time intervals (buckets) have data, or none has. */
  readonly since: number | null;
  /** One number for each bucket, oldest first. null means that no data exist. */
  readonly counts: readonly (number | null)[];
}

export interface Rates {
  readonly start: number; // start of the first bucket, in seconds since 1970
  readonly step: number; // length of a bucket in seconds
  /** The container restarts. null if the list has no pods. */
  readonly restarts: Rate | null;
  readonly warnings: Rate;
}

const buckets = 30;

/** Reads the rates of a list from a message. Returns null if the message is invalid. */
export function readRates(m: JsonObject): Rates | null {
  const start = Date.parse(String(m["start"])) / 1000;
  const step = Number(m["step"]);
  const warnings = readRate(m["warnings"]);
  const restarts = m["restarts"] === undefined ? null : readRate(m["restarts"]);
  if (Number.isNaN(start) || !(step > 0) || warnings === null) return null;
  return m["restarts"] !== undefined && restarts === null ? null : { start, step, restarts, warnings };
}

function readRate(value: unknown): Rate | null {
  if (typeof value !== "object" || value === null) return null;
  const { state, reason, since, counts } = value as JsonObject;
  const known = states.find((s) => s === state);
  const isCount = (n: unknown): n is number | null => n === null || (Number.isInteger(n) && (n as number) >= 0);
  if (known === undefined || !Array.isArray(counts) || counts.length !== buckets || !counts.every(isCount)) return null;
  return {
    state: known,
    reason: typeof reason === "string" ? reason : "",
    since: typeof since === "string" ? Date.parse(since) : null,
    counts,
  };
}

type Series = "restarts" | "warnings";

/** Returns the chart of a rate, or null if there are no data. */
export function rateChart({ start, step }: Rates, rate: Rate, color: Series): ChartData | null {
  const { counts, since } = rate;
  if (counts.every((n) => n === null)) return null;
  const startOf = (at: number): number => start + at * step;
  const gaps: [number, number][] = [];
  counts.forEach((n, at) => {
    // If the data begin at the time `since`, in the middle of a bucket, the part of this bucket before `since` is a
    // gap, too.
    const end = n === null ? startOf(at + 1) : since === null ? 0 : since / 1000;
    const last = gaps.at(-1);
    if (end <= startOf(at) || end > startOf(at + 1)) return;
    if (last?.[1] === startOf(at)) last[1] = end;
    else gaps.push([startOf(at), end]);
  });
  return {
    series: [{ label: color === "restarts" ? "Restarts" : "Warnings", shape: "bars", color }],
    times: counts.map((_, at) => startOf(at) + step / 2),
    values: [counts],
    min: start,
    max: startOf(counts.length),
    gaps,
    markers: [],
    timeLabels: counts.map((_, at) => clockTime(new Date(startOf(at) * 1000).toISOString(), startOf(at) * 1000)),
  };
}

/** Describes a rate in a sentence, such as "3 restarts in the last 5 minutes, the last at 14:03:20." */
export function rateSentence(rates: Rates, rate: Rate, kind: Series, now: number): string {
  const { counts, state, reason, since } = rate;
  const why = reason === "" ? "" : ` ${asSentence(reason)}`;
  const stateText = state === "absent" ? "not available" : state;
  const clock = (ms: number): string => clockTime(new Date(ms).toISOString(), now);
  if (counts.every((n) => n === null))
    return state === "syncing" || state === "live" ? "Loading…" : `No data (${stateText}).${why}`;
  const sum = counts.reduce<number>((total, n) => total + (n ?? 0), 0);
  const noun = sum === 1 ? kind.slice(0, -1) : kind;
  const last = counts.findLastIndex((n) => n !== null && n > 0);
  const when = since === null ? "in the last 5 minutes" : `since ${clock(since)}, when the data starts`;
  const lastAt = (rates.start + last * rates.step) * 1000;
  const lastText = last < 0 || lastAt < (since ?? 0) ? "" : `, the last at ${clock(lastAt)}`;
  const stale = state === "live" ? "" : ` Not current (${stateText}).${why}`;
  return `${sum === 0 ? "No" : formatInteger(sum)} ${noun} ${when}${lastText}.${stale}`;
}
