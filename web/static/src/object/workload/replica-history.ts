// The replicas of a workload over time, from the changes that the server has received.

import type { ChartData, ChartMarker, ChartSeries } from "../../chart/chart-data.ts";
import { History, type HistoryStep } from "../../model/history.ts";
import type { Change, JsonObject } from "../../net/wire.ts";
import { clockTime } from "../../text/age.ts";
import { formatInteger } from "../../text/format.ts";
import { number, valueAt } from "../facts/read.ts";
import { countsOf } from "./replicas.ts";

interface Point {
  readonly at: number; // time in seconds since 1970
  /** The desired number of replicas. null if unknown, or if the workload does not exist. */
  readonly desired: number | null;
  readonly ready: number | null;
  readonly updated: number | null;
}

const minRange = 60; // seconds; the shortest time that the chart shows

export class ReplicaHistory {
  private readonly history = new History();
  private first: JsonObject | null = null;

  constructor(private readonly ref: string) {}

  /** Applies a snapshot: `object`, and the changes after it. Returns false if a patch does not apply. */
  applySnapshot(object: JsonObject | null, since: string, changes: readonly Change[]): boolean {
    const isConsistent = this.history.applySnapshot(object, since, changes);
    this.first = object;
    return isConsistent;
  }

  /** Adds changes of the workload. Returns false if a patch does not apply. */
  add(changes: readonly Change[]): boolean {
    return this.history.add(changes);
  }

  clear(): void {
    this.history.clear();
    this.first = null;
  }

  /** Returns the data of the chart from the start of the history to `now` (in ms). null if no data is known. */
  chart(now: number): ChartData | null {
    const since = Date.parse(this.history.since) / 1000;
    if (Number.isNaN(since)) return null;
    const end = Math.max(now / 1000, since);
    const points = this.points(since, end);
    const last = points.at(-1);
    if (last === undefined || points.every((p) => p.desired === null && p.ready === null)) return null;
    const differs = points.some((p) => p.updated !== null && p.updated !== p.desired);
    const series: ChartSeries[] = [
      { label: "Desired", shape: "steps", color: "desired", dash: [5, 4] },
      { label: "Ready", shape: "steps", color: "ready" },
      ...(differs ? [{ label: "Updated", shape: "steps", color: "updated", dash: [2, 3] } as const] : []),
    ];
    const min = Math.min(since, end - minRange);
    return {
      series,
      times: points.map((p) => p.at),
      values: [
        points.map((p) => p.desired),
        points.map((p) => p.ready),
        ...(differs ? [points.map((p) => p.updated)] : []),
      ],
      min,
      max: end,
      gaps: [...(min < since ? [[min, since] as const] : []), ...this.gaps()],
      markers: this.markers(now),
      timeLabels: points.map((p) => clockTime(new Date(p.at * 1000).toISOString(), now)),
    };
  }

  /** Describes the present replicas in a sentence. */
  sentence(now: number): string {
    const since = Date.parse(this.history.since) / 1000;
    if (Number.isNaN(since)) return "Loading history…";
    const points = this.points(since, Math.max(now / 1000, since));
    const last = points.at(-1);
    const start = `History starts at ${clockTime(this.history.since, now)}.`;
    if (last === undefined || last.desired === null || last.ready === null) return start;
    const low = Math.min(...points.flatMap((p) => (p.ready === null ? [] : [p.ready])));
    const lowest = low < last.ready ? ` (lowest: ${formatInteger(low)})` : "";
    return `${formatInteger(last.ready)} of ${formatInteger(last.desired)} ready${lowest}. ${start}`;
  }

  private points(since: number, end: number): Point[] {
    const { steps } = this.history;
    const start = steps.length === 0 ? this.first : (steps[0]?.before ?? null);
    const points = [this.point(since, start)];
    for (const step of steps) {
      const at = Math.max(since, timeOf(step));
      const last = points.at(-1);
      const next = this.point(at, step.after);
      // A change that does not affect the numbers of replicas needs no point in the chart.
      if (last !== undefined && !step.isGap && same(last, next)) continue;
      if (last !== undefined && last.at === at) points.pop();
      points.push(next);
    }
    const last = points.at(-1);
    if (last !== undefined && last.at < end) points.push({ ...last, at: end });
    return points;
  }

  private point(at: number, object: JsonObject | null): Point {
    const counts = object === null ? null : countsOf(this.ref, object);
    return {
      at,
      desired: counts?.desired ?? null,
      ready: counts?.ready ?? null,
      updated: counts?.updated ?? null,
    };
  }

  // Returns the periods without data, from the last known change before a gap to the time of the gap.
  private gaps(): (readonly [number, number])[] {
    const { steps } = this.history;
    return steps.flatMap((step, n) => {
      const before = steps[n - 1];
      return step.isGap && before !== undefined ? [[timeOf(before), timeOf(step)] as const] : [];
    });
  }

  private markers(now: number): ChartMarker[] {
    return this.history.steps.flatMap((step) => {
      const before = generation(step.before);
      const after = generation(step.after);
      if (step.isGap || before === null || after === null || before === after) return [];
      const by = step.change.by?.manager ?? "";
      const author = by === "" ? "" : ` by ${by}`;
      return [{ at: timeOf(step), text: `Spec changed at ${clockTime(step.change.time, now)}${author}` }];
    });
  }
}

const timeOf = (step: HistoryStep): number => Date.parse(step.change.time) / 1000;
const generation = (object: JsonObject | null): number | null => number(valueAt(object, "metadata", "generation"));
const same = (a: Point, b: Point): boolean => a.desired === b.desired && a.ready === b.ready && a.updated === b.updated;
