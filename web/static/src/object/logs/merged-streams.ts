// Reads the logs of several containers at the same time, and delivers their lines in the order of their times.

import type { Live } from "../../net/live.ts";
import type { Container } from "./containers.ts";
import { colorCount, type Line, type LineSource } from "./lines.ts";
import { byTime, withSource } from "./merge.ts";
import { LogStream, type LogRequest, type LogState, type Reader } from "./stream.ts";

/** The maximum number of logs that are read at the same time. */
export const maxStreams = 20;

export interface LogTarget {
  readonly pod: string;
  readonly label: string;
  readonly container: Container;
}

type Options = Pick<LogRequest, "tail" | "since" | "previous" | "follow">;

export interface MergedReader {
  /** Delivers lines in the order of their times. The lines can be older than lines of earlier calls. */
  merged(lines: readonly Line[]): void;
  interrupted(source: LineSource): void;
  statesChanged(): void;
}

export const nameOf = ({ pod, container }: LogTarget): string => `${pod}/${container.name}`;

const batchDelay = 200; // ms between two batches of lines
const firstBatchDelay = 1500; // ms to wait for the start of all logs before the first lines are shown

class SourceStream implements Reader {
  state: LogState = { at: "requesting", isSlow: false, since: null };
  stream: LogStream | null = null;

  constructor(
    readonly source: LineSource,
    readonly containerId: string,
    private readonly deliver: (lines: readonly Line[], gap: boolean) => void,
    private readonly changed: () => void,
  ) {}

  lines(lines: readonly Line[], gap: boolean): void {
    this.deliver(lines, gap);
  }

  stateChanged(state: LogState): void {
    this.state = state;
    this.changed();
  }
}

export class MergedStreams {
  private readonly streams = new Map<string, SourceStream>();
  private readonly colors = new Map<string, number>();
  private pending: Line[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isFirstBatch = true;
  private options: Options | null = null;

  constructor(
    private readonly ns: string,
    private readonly live: Live,
    private readonly now: () => number,
    private readonly reader: MergedReader,
  ) {}

  /** Reads the logs of `targets`, and no others: closes all other open logs. Lines that have arrived stay. */
  show(targets: readonly LogTarget[], options: Options): void {
    this.options = options;
    const names = new Set(targets.map(nameOf));
    for (const [name, { stream }] of this.streams) {
      if (names.has(name)) continue;
      stream?.close();
      this.streams.delete(name);
    }
    for (const target of targets) this.open(target);
    this.reader.statesChanged();
  }

  close(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const { stream } of this.streams.values()) stream?.close();
    this.streams.clear();
    this.pending = [];
    this.isFirstBatch = true;
  }

  get states(): readonly LogState[] {
    return [...this.streams.values()].map((s) => s.state);
  }

  retryNow(): void {
    for (const { stream } of this.streams.values()) stream?.retryNow();
  }

  // Opens a log that is not open, or the log of a container that was restarted after its log had ended.
  private open(target: LogTarget): void {
    const { options } = this;
    if (options === null) return;
    const name = nameOf(target);
    const { container } = target;
    const old = this.streams.get(name);
    const wasRestarted =
      old?.state.at === "ended" &&
      !options.previous &&
      options.follow &&
      container.phase === "running" &&
      container.id !== old.containerId;
    if (old !== undefined && !wasRestarted) return;
    old?.stream?.close();
    const source = { name, label: target.label, color: this.colorOf(name) };
    const opened = new SourceStream(
      source,
      container.id,
      (lines, gap) => {
        if (gap) this.reader.interrupted(source);
        this.pending.push(...withSource(lines, source));
        this.schedule();
      },
      () => this.stateChanged(),
    );
    this.streams.set(name, opened);
    opened.stream = new LogStream(
      { ns: this.ns, pod: target.pod, container: container.name, ...options },
      opened,
      this.live,
      this.now,
    );
  }

  private colorOf(name: string): number {
    const color = this.colors.get(name) ?? this.colors.size % colorCount;
    this.colors.set(name, color);
    return color;
  }

  private stateChanged(): void {
    if (this.isFirstBatch && this.states.every((s) => s.at !== "requesting")) this.schedule(batchDelay);
    this.reader.statesChanged();
  }

  private schedule(delay = this.isFirstBatch ? firstBatchDelay : batchDelay): void {
    if (this.timer !== undefined && delay !== batchDelay) return;
    if (this.timer !== undefined && !this.isFirstBatch) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), delay);
  }

  private flush(): void {
    this.timer = undefined;
    if (this.pending.length === 0) return;
    this.isFirstBatch = false;
    const lines = this.pending.sort(byTime);
    this.pending = [];
    this.reader.merged(lines);
  }
}
