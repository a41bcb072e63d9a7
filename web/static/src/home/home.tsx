// The home page: the current problems of the cluster or of one namespace, the worst first, and facts about it.

import "../core-code.ts";
import { isKiosk } from "../net/base-path.ts";
import { formatInteger } from "../text/format.ts";
import { escapeInvisible } from "../text/invisible-chars.ts";
import { formatHome, parseHome, type HomeView } from "../model/home-view.ts";
import { severityMatcher } from "../model/severity.ts";
import { bannerText, status, type SubscriptionInfo } from "../model/status.ts";
import type { Subscription } from "../net/live.ts";
import { readOverview, type Finding, type Overview } from "../net/overview.ts";
import type { Problem as RequestProblem } from "../net/wire.ts";
import type { Handler } from "../net/live.ts";
import { defaultController, type PageController, type PageServices } from "../page-services.ts";
import type { Command } from "../palette/commands.ts";
import type { HomeContent } from "../share/share-host.ts";
import { updateAges } from "../ui/ages.ts";
import { byId, input, setText } from "../ui/dom.ts";
import { drawStatus, showText } from "../ui/status-view.ts";
import { showToast } from "../ui/toast.ts";
import { Totals } from "../ui/totals.tsx";
import { mount, ViewState } from "../ui/view.tsx";
import { Changes, Warnings, WatchedResources } from "./aside.tsx";
import { homeCommands } from "./home-commands.ts";
import { countOf, emptyText, matchesFilter, overallState, plural, progressText, readProgress } from "./home-text.ts";
import { Marks } from "./marks.ts";
import { InProgress, Problems } from "./problems.tsx";
import { Strip } from "./strip.tsx";

export function startHome(section: HTMLElement, services: PageServices): PageController {
  const home = new HomePage(section, services);
  return {
    ...defaultController,
    retryable: home,
    content: () => home.content(),
    commands: (): readonly Command[] => homeCommands(home),
    refresh: () => home.draw(),
  };
}

class HomePage implements Handler {
  view: HomeView;
  readonly marks = new Marks();
  private rawProblems: readonly unknown[] = []; // the problems of `overview`, as the server sent them
  private overview: Overview | null = null;
  private problem: RequestProblem | null = null;
  private isCurrent = false; // whether an overview has arrived over the current connection
  private changedAt: number | null = null; // when the overview changed, in ms; null if it has not changed yet
  private readonly body = byId("overview");
  private readonly state: ViewState;
  private readonly subscription: Subscription;
  private readonly name: string;
  private readonly cluster: string;
  private readonly limited: boolean; // whether the start page is limited to one namespace
  private frame = 0;

  constructor(
    section: HTMLElement,
    private readonly services: PageServices,
  ) {
    this.name = section.dataset["name"] ?? "";
    this.cluster = section.dataset["clusterName"] ?? "";
    this.limited = section.dataset["limited"] !== undefined;
    this.state = new ViewState(services.now);
    this.view = parseHome(location.pathname, location.search);
    const { ns } = this.view;
    services.picker.setNamespaces(ns);
    this.subscription = services.live.subscribe({ resource: "", view: "overview", ns }, this);
    const q = input("q");
    q?.addEventListener("input", () => this.setFilter(q.value));
    byId("filters").addEventListener("submit", (e) => {
      e.preventDefault();
      this.setFilter(q?.value ?? "");
    });
    addEventListener("popstate", () => {
      this.view = parseHome(location.pathname, location.search);
      if (q !== null) q.value = this.view.q;
      this.draw();
    });
    setInterval(() => {
      if (this.overview === null) updateAges(this.body, services.now());
      else this.state.tick();
      this.drawStatus();
    }, 1000);
  }

  get isRefused(): boolean {
    return this.problem !== null && this.problem.status !== 503;
  }

  retry(): void {
    this.problem = null;
    this.subscription.requestSnapshot("the server rejected the request for the overview");
  }

  message(m: Parameters<Handler["message"]>[0]): void {
    if (m.type === "overview") {
      const read = readOverview(m.members);
      if (typeof read === "string") return this.subscription.requestSnapshot(read);
      // The first message of a connection is no change.
      if (this.isCurrent) this.changedAt = this.services.now();
      this.overview = read;
      this.rawProblems = Array.isArray(m.members["problems"]) ? (m.members["problems"] as unknown[]) : [];
      this.problem = null;
      this.isCurrent = true;
    } else if (m.type === "error") this.problem = m.problem;
    this.schedule();
  }

  /** Returns what the share dialog offers to share, or null until an overview has arrived. */
  content(): HomeContent | null {
    return this.overview === null ? null : { home: this.view, watched: this.overview.watched };
  }

  restart(): void {
    this.isCurrent = false;
    this.schedule();
  }

  setFilter(q: string): void {
    const field = input("q");
    if (field !== null && field.value !== q) field.value = q;
    this.view = { ...this.view, q: q.trim() };
    history.replaceState(history.state, "", formatHome(this.view, this.limited));
    this.draw();
  }

  /** Saves the shown problems as JSON, with the members of the response of /api/v1/problems. */
  exportProblems(): void {
    const { overview } = this;
    if (overview === null) return showToast("The problems are not loaded yet.");
    const shown = this.rawProblems.filter((_, i) => isShown(overview.problems[i], this.view.q));
    const time = new Date(this.services.now()).toISOString().replace(/[-:]|\.\d+/g, "");
    const name = ["problems", ...(this.view.ns.length > 3 ? [] : this.view.ns), time].join("-");
    void import("../object/save-file.ts").then(({ saveFile }) =>
      saveFile(`${name}.json`, `${JSON.stringify({ problems: shown }, null, 2)}\n`),
    );
  }

  selectNamespace(): void {
    this.services.openPalette(":ns ");
  }

  private schedule(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  private info(): SubscriptionInfo {
    const { live } = this.services;
    return {
      connection: live.connection,
      since: live.since,
      closeReason: live.closeReason,
      state: this.overview === null || !this.isCurrent ? null : overallState(this.overview),
      stale: null,
      isComplete: this.isCurrent,
      arriving: 0,
      expected: 0,
      problem: this.problem,
      isReloading: false,
    };
  }

  private drawStatus(): void {
    const info = this.info();
    drawStatus(byId("status"), status(info, this.services.now()));
    // While the page is syncing, show no banner, because other parts of the page already show the progress and the
    // unreadable resources.
    showText(byId("banner"), info.state?.state === "syncing" ? null : bannerText(info, this.services.now()));
  }

  draw(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.drawStatus();
    const o = this.overview;
    if (o === null) return;
    byId("asof").hidden = true;
    const shown = o.problems.filter((p) => matchesFilter(p, this.view.q));
    setText(byId("count"), countText(o, shown.length, this.view.q !== ""));
    const failed = countOf(o, "failed");
    const title = `${this.name} - ${this.cluster === "" ? "Glasshouse" : this.cluster}`;
    document.title = escapeInvisible(failed === 0 ? title : `(${failed}) ${title}`);
    mount(
      byId("severity-counts"),
      <SeverityLinks overview={o} view={this.view} limited={this.limited} onFilter={(q) => this.setFilter(q)} />,
      this.state,
    );
    byId("severity-counts").hidden = o.problems.length === 0;
    const { view, cluster, changedAt } = this;
    mount(this.body, <Content {...{ overview: o, view, shown, cluster, changedAt }} />, this.state);
    this.marks.draw();
    this.state.highlightsChanges = true;
  }
}

const isShown = (finding: Finding | undefined, q: string): boolean =>
  finding !== undefined && matchesFilter(finding, q);

function countText(o: Overview, shown: number, isFiltered: boolean): string {
  const all = isFiltered || shown < o.total ? `${formatInteger(shown)} of ` : "";
  return `${all}${plural(o.total, "problem")}`;
}

interface SeverityLinksProps {
  overview: Overview;
  view: HomeView;
  limited: boolean;
  onFilter: (q: string) => void;
}

function SeverityLinks({ overview, view, limited, onFilter }: SeverityLinksProps) {
  const words = view.q.split(/\s+/).filter((word) => word !== "");
  const others = words.filter((word) => severityMatcher(word.toLowerCase()) === null);
  return (["failed", "degraded"] as const).map((severity) => {
    const word = `is:${severity}`;
    const isFilter = words.some((w) => w.toLowerCase() === word);
    const n = countOf(overview, severity);
    if (n === 0 && !isFilter) return null;
    const q = [...others, ...(isFilter ? [] : [word])].join(" ");
    return (
      <a
        key={severity}
        href={formatHome({ ...view, q }, limited)}
        onClick={(e) => {
          // For clicks with a modifier key, the browser opens the link as usual.
          if (e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
          e.preventDefault();
          onFilter(q);
        }}
        data-severity={severity}
        aria-current={isFilter ? "true" : undefined}
        title={isFilter ? "Remove this filter" : `Show only problems with ${severity} objects`}
      >
        {`${formatInteger(n)} ${severity}`}
      </a>
    );
  });
}

interface ContentProps {
  overview: Overview;
  view: HomeView;
  shown: Overview["problems"];
  cluster: string;
  changedAt: number | null;
}

function Content({ overview: o, view, shown, cluster, changedAt }: ContentProps) {
  const reading = progressText(o);
  const empty = emptyText(o, view.q);
  const { done, total } = readProgress(o);
  return (
    <>
      <Strip overview={o} ns={view.ns} />
      {isKiosk() && <Totals count={(severity) => countOf(o, severity)} cluster={cluster} changedAt={changedAt} />}
      {reading !== null && (
        <div
          class="reading"
          role="progressbar"
          aria-label="Progress of reading the resource types"
          aria-valuemin={0}
          aria-valuemax={total}
          aria-valuenow={done}
          aria-valuetext={reading}
          style={{ "--share": `${(100 * done) / total}%` }}
        >
          {reading}
        </div>
      )}
      <div class="overview-columns">
        <section class="problems" aria-label="Problems">
          {o.unexamined.length > 0 && (
            <ul class="unexamined">
              {o.unexamined.map((sentence) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ul>
          )}
          {shown.length > 0 ? (
            <Problems findings={shown} />
          ) : (
            <div
              class="empty"
              data-good={reading === null && o.problems.length === 0 && empty.detail === "" ? "" : null}
            >
              <p class="empty-title">{empty.title}</p>
              <p>{empty.detail}</p>
            </div>
          )}
          <InProgress overview={o} ns={view.ns} />
        </section>
        <div class="rails">
          <Changes changes={o.changes} />
          <Warnings warnings={o.warnings} watched={o.watched} />
        </div>
      </div>
      <WatchedResources watched={o.watched} />
    </>
  );
}
