import "../shared-code.ts";
import { clockTime } from "../text/age.ts";
import { plural, type Kind } from "../net/kinds.ts";
import type { Handler, Live, Subscription } from "../net/live.ts";
import type { Problem } from "../net/wire.ts";
import { mount, unmount } from "../ui/view.tsx";
import { ChartFigure } from "./chart-figure.tsx";
import { rateChart, rateSentence, readRates, type Rate, type Rates } from "./rates.ts";

export interface RatesScope {
  readonly kind: Kind;
  readonly ns: readonly string[];
  readonly labels: string;
  readonly q: string;
}

const typingPause = 400; // ms to wait after the last key in the filter; each request makes the server count again

/** The charts below a list: the container restarts and warnings of its objects. */
export class RatesStrip implements Handler {
  private scope: RatesScope;
  private subscription: Subscription | null = null;
  private rates: Rates | null = null;
  private problem: Problem | null = null;
  private isLost = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly root: HTMLElement,
    private readonly live: Live,
    private readonly now: () => number,
    scope: RatesScope,
  ) {
    this.scope = scope;
    this.subscribe();
  }

  show(scope: RatesScope): void {
    const { kind, ns, labels } = this.scope;
    const isTyped = kind.ref === scope.kind.ref && ns.join() === scope.ns.join() && labels === scope.labels;
    this.scope = scope;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.subscribe(), isTyped ? typingPause : 0);
  }

  private subscribe(): void {
    this.subscription?.close();
    this.rates = this.problem = null;
    const { kind, ns, labels, q } = this.scope;
    this.subscription = this.live.subscribe({ resource: kind.ref, ns, labels, q, view: "rates" }, this);
    this.draw();
  }

  message(m: Parameters<Handler["message"]>[0]): void {
    this.isLost = false;
    if (m.type === "error") {
      this.problem = m.problem;
      this.rates = null;
    } else if (m.type === "rates") {
      this.rates = readRates(m.members);
      this.problem = null;
      if (this.rates === null)
        this.subscription?.requestSnapshot("the received restart and warning counts are malformed");
    }
    this.draw();
  }

  restart(): void {
    this.isLost = true;
    this.draw();
  }

  close(): void {
    clearTimeout(this.timer);
    this.subscription?.close();
    unmount(this.root);
  }

  private draw(): void {
    const { rates, problem, scope } = this;
    const hasOwnPods = scope.kind.ref !== "core/v1/pods" && rates?.restarts !== null;
    const of = scope.kind.kind === "Event" ? "" : ` of ${plural(scope.kind)}${hasOwnPods ? " and their pods" : ""}`;
    mount(
      this.root,
      rates === null ? (
        <p class="chart-note">{problem === null ? "Loading charts…" : problem.detail || problem.title}</p>
      ) : (
        <>
          {rates.restarts !== null && this.figure("Container restarts", rates, rates.restarts, "restarts")}
          {this.figure(`Warning events${of}`, rates, rates.warnings, "warnings")}
        </>
      ),
    );
  }

  private figure(title: string, rates: Rates, rate: Rate, kind: "restarts" | "warnings") {
    const until = new Date((rates.start + rates.step * rate.counts.length) * 1000).toISOString();
    const lost = this.isLost ? ` Connection lost: the chart ends at ${clockTime(until, this.now())}.` : "";
    return (
      <ChartFigure
        key={`${kind} ${this.scope.kind.ref}`}
        title={title}
        data={rateChart(rates, rate, kind)}
        sentence={rateSentence(rates, rate, kind, this.now()) + lost}
      />
    );
  }
}
