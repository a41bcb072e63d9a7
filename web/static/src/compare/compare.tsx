// The compare page: a live, line-by-line diff of two objects.

import "../shared-code.ts";
import { countDifferences, pairLinesInSteps } from "../diff/diff-lines.ts";
import { drawDiffInSteps, saveFocus, type DiffLayout } from "../diff/diff-view.ts";
import { byId, h, input, setText } from "../ui/dom.ts";
import { formatInteger } from "../text/format.ts";
import { ObjectStore, lastChangeText } from "../model/object-store.ts";
import { LayoutSwitch, storedLayout } from "../diff/diff-layout.tsx";
import type { Live } from "../net/live.ts";
import { maskedText } from "../model/masked.ts";
import { showReloadToast } from "../ui/toast.ts";
import { TimeSlicer } from "../text/time-slice.ts";
import { reloadsText, bannerText, status, type Status } from "../model/status.ts";
import { showText } from "../ui/status-view.ts";
import { mount } from "../ui/view.tsx";
import { suggestNames } from "../ui/suggest.tsx";
import { objectHref } from "../model/view.ts";
import type { JsonObject } from "../net/wire.ts";
import { formatIgnored, parseIgnored, withoutFields, type IgnoredFields } from "./compare-ignore.ts";
import { YamlWriter } from "../yaml/writer.ts";

const maxLines = 2000; // lines of the diff that are drawn at first
const busyDelay = 200; // ms; a comparison that takes longer shows "Comparing…"
const levels: readonly Status["level"][] = ["bad", "warn", "busy", "live"]; // status of an object, worst first

interface Side {
  readonly ref: string;
  readonly kind: string;
  readonly ns: string;
  readonly name: string;
}

interface DrawInput {
  readonly objects: readonly JsonObject[];
  readonly options: string;
}

export class ComparePage {
  private readonly container = byId("difference");
  private readonly sides: readonly Side[];
  private readonly heads = h("div", { class: "heads" });
  private readonly reloads = h("span", { class: "asof", hidden: true });
  private readonly stores: readonly ObjectStore[];
  private readonly unfolded = new Set<string>();
  private readonly more = { pairs: 0 };
  private hidden = parseIgnored(new URLSearchParams(location.search).get("hide"));
  private layout: DiffLayout = innerWidth < 800 ? "inline" : storedLayout("split");
  private readonly writers = [new YamlWriter(), new YamlWriter()];
  private readonly slices = new TimeSlicer(() => {
    if (!this.hasBothObjects) return false;
    if (performance.now() - this.startedAt > busyDelay) setText(byId("count"), "Comparing…");
    return true;
  });
  private pending: DrawInput | null = null;
  private drawn: DrawInput | null = null;
  private busy = false;
  private startedAt = 0; // ms; start of the newest drawing
  private timer: ReturnType<typeof setTimeout> | undefined;
  private lastDuration = 0; // ms; duration of the previous drawing

  constructor(
    private readonly live: Live,
    private readonly now: () => number,
  ) {
    const sides = [...this.container.querySelectorAll<HTMLElement>(".side")].map((e) => ({
      ref: e.dataset["ref"] ?? "",
      kind: e.dataset["kind"] ?? "",
      ns: e.dataset["ns"] ?? "",
      name: e.dataset["name"] ?? "",
    }));
    for (const id of ["a", "b"]) suggestNames(input(id) as HTMLInputElement, byId("names"), () => sides[0]?.ref ?? "");
    this.sides = sides.every((s) => s.ref !== "") ? sides : [];
    this.stores = this.sides.map((s) => new ObjectStore(live, now, s.ref, s, () => this.schedule(), showReloadToast));
    if (this.stores.length === 0) return;
    byId("switches").before(this.reloads);
    this.drawSwitches();
    this.schedule();
  }

  /** Called after the connection was lost or restored. Informs the stores of both objects. */
  refresh(): void {
    for (const store of this.stores) store.reconnected();
  }

  private drawSwitches(): void {
    const setLayout = (layout: DiffLayout): void => {
      this.layout = layout;
      this.drawSwitches();
      this.draw();
    };
    const checkbox = (field: IgnoredFields, label: string, title: string) => (
      <label title={title}>
        <input
          type="checkbox"
          checked={this.hidden.has(field)}
          onChange={(e) => this.ignore(field, e.currentTarget.checked)}
        />
        {label}
      </label>
    );
    mount(
      byId("switches"),
      <>
        {checkbox(
          "identity",
          "Ignore generated metadata",
          "Does not compare fields that the API server sets, such as the UID and the creation time",
        )}
        {checkbox("status", "Ignore status", "Does not compare any field under status")}
        <LayoutSwitch current={this.layout} onChange={setLayout} />
      </>,
    );
  }

  private ignore(field: IgnoredFields, on: boolean): void {
    const hidden = new Set(this.hidden);
    if (on) hidden.add(field);
    else hidden.delete(field);
    this.hidden = hidden;
    const query = new URLSearchParams(location.search);
    const text = formatIgnored(hidden);
    if (text === null) query.delete("hide");
    else query.set("hide", text);
    const form = byId("sides");
    form.querySelector("[name=hide]")?.remove();
    if (text !== null) form.append(h("input", { type: "hidden", name: "hide", value: text }));
    history.replaceState(null, "", `?${query.toString().replaceAll("%2F", "/").replaceAll("%2C", ",")}`);
    this.drawSwitches();
    this.draw();
  }

  private get hasBothObjects(): boolean {
    return this.stores.every((x) => x.object !== null);
  }

  // Schedules a drawing. After a slow drawing, it waits longer (up to 2 s), because large objects can change often.
  private schedule(): void {
    this.timer ??= setTimeout(() => requestAnimationFrame(() => this.draw()), Math.min(2000, this.lastDuration * 4));
  }

  private draw(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.updateStatus();
    const objects = this.stores.map((x) => x.object).filter((o) => o !== null);
    if (objects.length < this.stores.length) {
      // After a loss of permission, the objects must not stay on the screen.
      if (this.drawn !== null) this.container.replaceChildren();
      if (this.drawn !== null || this.busy) setText(byId("count"), "");
      this.drawn = this.pending = null;
      return;
    }
    this.pending = { objects, options: `${this.layout} ${formatIgnored(this.hidden) ?? ""}` };
    if (!this.busy) void this.drawPending();
  }

  // Draws the newest input. If several inputs arrive during a drawing, only the newest of them is drawn afterwards.
  private async drawPending(): Promise<void> {
    this.busy = true;
    try {
      for (let w = this.pending; w !== null; w = this.pending) {
        this.pending = null;
        if (this.drawn?.options === w.options && w.objects.every((o, i) => o === this.drawn?.objects[i])) continue;
        this.startedAt = performance.now();
        this.slices.begin();
        await this.drawInput(w);
        this.lastDuration = performance.now() - this.startedAt;
      }
    } finally {
      this.busy = false;
    }
  }

  // Replaces the previous drawing only after the new one is complete.
  private async drawInput(w: DrawInput): Promise<void> {
    const { layout, slices } = this;
    const texts: string[][] = [];
    for (const [i, o] of w.objects.entries()) {
      const lines = (await this.writers[i]?.write(withoutFields(o, this.hidden), slices.pauseIfDue)) ?? null;
      if (lines === null) return;
      texts.push(lines.map((l) => l.text));
    }
    const pairs = await slices.run(pairLinesInSteps(texts[0] ?? [], texts[1] ?? []));
    const view =
      pairs === null
        ? null
        : await slices.run(
            drawDiffInSteps(pairs, {
              layout,
              numbers: true,
              maxPairs: maxLines,
              more: this.more,
              expanded: this.unfolded,
            }),
          );
    if (pairs === null || view === null || !this.hasBothObjects) return;
    this.drawn = w;
    const count = countDifferences(pairs);
    const note = maskedText(w.objects);
    setText(
      byId("count"),
      count === 0
        ? note !== null
          ? "No differences found. Masked values are not compared."
          : this.hidden.size > 0
            ? "No differences in the compared fields"
            : "No differences"
        : count === 1
          ? "1 difference"
          : `${formatInteger(count)} differences`,
    );
    const at = this.container.scrollTop;
    const focus = saveFocus(this.container);
    this.heads.dataset["layout"] = layout;
    if (this.heads.parentNode !== this.container) this.container.replaceChildren(this.heads);
    while (this.heads.nextSibling !== null) this.heads.nextSibling.remove();
    this.heads.after(...(note === null ? [] : [h("p", { class: "value-note" }, note)]), view);
    this.container.scrollTop = at;
    focus();
    this.container.setAttribute("data-live", "");
    this.updateStatus();
  }

  private updateStatus(): void {
    const now = this.now();
    const all = this.stores.map((x) => ({ store: x, info: x.info(), shown: status(x.info(), now) }));
    const worst = all.reduce((a, b) => (levels.indexOf(b.shown.level) < levels.indexOf(a.shown.level) ? b : a));
    const e = byId("status");
    e.dataset["state"] = worst.shown.level;
    setText(e, worst.shown.text);
    showText(this.reloads, reloadsText(this.live.reloadCount));
    this.reloads.title = this.live.reloadReason;
    const words = all
      .map(({ store, info }, i) => {
        const { kind = "", ns = "", name = "" } = this.sides[i] ?? {};
        const object = `${kind} ${ns === "" ? name : `${ns}/${name}`}`;
        if (store.deletedAt !== null && store.object !== null) return `${object} was deleted. Showing its last state.`;
        if (store.isMissing) return `${object} does not exist. It will appear here if created.`;
        return bannerText(info, now);
      })
      .filter((w) => w !== null);
    byId("banner").hidden = words.length === 0;
    setText(byId("banner"), [...new Set(words)].join(" "));
    mount(
      this.heads,
      this.sides.map((side, i) => {
        const last = this.stores[i]?.last ?? null;
        const change = last === null ? "" : lastChangeText(last, now);
        return <Head side={side} isFirst={i === 0} change={change} />;
      }),
    );
  }
}

/** Renders the heading of one object. `change` describes its newest change, or is empty. */
const Head = ({ side: s, isFirst, change }: { side: Side; isFirst: boolean; change: string }) => (
  <h2 class={isFirst ? "removed" : "added"}>
    <span class="kind">{s.kind}</span> <a href={objectHref(s.ref, s)}>{s.ns === "" ? s.name : `${s.ns}/${s.name}`}</a>
    <span class="change" title={change}>
      {change}
    </span>
  </h2>
);
