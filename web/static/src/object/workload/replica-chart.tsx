// The chart of a workload's replicas over time. It subscribes when it becomes visible.

import { useContext, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ChartFigure } from "../../chart/chart-figure.tsx";
import type { Handler } from "../../net/live.ts";
import { useRedraw } from "../../ui/view.tsx";
import { Overview } from "../overview/fact-view.tsx";
import type { TabHost } from "../tab.ts";
import { ReplicaHistory } from "./replica-history.ts";

const interval = 1000; // ms between two drawings

export function ReplicaChart({ host }: { host: TabHost }) {
  const root = useRef<HTMLDivElement>(null);
  const headingLevel = useContext(Overview).headingLevel;
  const redraw = useRedraw();
  const [source, setSource] = useState<ReplicaSource | null>(null);
  useLayoutEffect(() => {
    const element = root.current;
    if (element === null) return;
    let opened: ReplicaSource | null = null;
    const observer = new IntersectionObserver((entries) => {
      if (opened !== null || !entries.some((e) => e.isIntersecting)) return;
      observer.disconnect();
      opened = new ReplicaSource(host, redraw);
      setSource(opened);
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      opened?.close();
    };
  }, []);
  // Redraw every second, because the time axis ends at the current time and moves on.
  useLayoutEffect(() => {
    if (source === null) return;
    const timer = setInterval(redraw, interval);
    return () => clearInterval(timer);
  }, [source]);
  return (
    <div ref={root} class="replica-chart">
      <ChartFigure
        title="Replicas over time"
        data={source?.data ?? null}
        sentence={source?.sentence ?? "Loading history…"}
        heading={
          <strong role="heading" aria-level={(headingLevel ?? 3) + 1}>
            Replicas over time
          </strong>
        }
      />
    </div>
  );
}

class ReplicaSource implements Handler {
  private readonly history: ReplicaHistory;
  private readonly subscription;
  private error = "";
  private isRestarting = false;

  constructor(
    private readonly host: TabHost,
    private readonly onChange: () => void,
  ) {
    const { live, kind, name } = host;
    this.history = new ReplicaHistory(kind.ref);
    this.subscription = live.subscribe(
      {
        resource: kind.ref,
        ...(name.ns === "" ? {} : { ns: [name.ns] }),
        name: name.name,
        view: "changes",
        every: 250,
      },
      this,
    );
  }

  get data() {
    return this.history.chart(this.host.now());
  }

  get sentence(): string {
    if (this.error !== "") return this.error;
    const lost = this.host.live.connection === "lost" ? " Connection lost." : this.isRestarting ? " Reloading…" : "";
    return this.history.sentence(this.host.now()) + lost;
  }

  message(m: Parameters<Handler["message"]>[0]): void {
    let isConsistent = true;
    this.isRestarting = false;
    if (m.type === "changes") {
      isConsistent = this.history.applySnapshot(m.object, m.since, m.events);
      this.error = "";
    } else if (m.type === "change-events") isConsistent = this.history.add(m.events);
    else if (m.type === "error") this.end(m.problem.detail || m.problem.title);
    else if (m.type === "state" && m.state === "forbidden") this.end("You cannot watch this object.");
    if (!isConsistent)
      this.subscription.requestSnapshot("a received change does not match the previous version of the object");
    this.onChange();
  }

  private end(error: string): void {
    this.error = error;
    this.history.clear();
  }

  restart(): void {
    this.isRestarting = true;
    this.onChange();
  }

  close(): void {
    this.subscription.close();
  }
}
