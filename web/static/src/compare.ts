// The compare page: two objects side by side, live, with their differences line by line.

import { differences, pairing } from "./difflines.ts";
import { drawing, keepFocus, type Layout } from "./diffview.ts";
import { byId, digits, h, input, setText } from "./dom.ts";
import { Held, lastWords } from "./held.ts";
import { keptLayout, layoutSwitch } from "./layout.ts";
import type { Live } from "./live.ts";
import { untold } from "./masked.ts";
import { sayAnew } from "./said.ts";
import { Slices } from "./slices.ts";
import { anewWords, banner, status, type Status } from "./status.ts";
import { sayIn } from "./statusview.ts";
import { suggest } from "./suggest.ts";
import { objectHref } from "./view.ts";
import type { Tree } from "./wire.ts";
import { formatHide, parseHide, without, type Hidden } from "./without.ts";
import { Writer } from "./yaml/write.ts";

const mostLines = 2000; // how many lines are drawn at first
const patience = 200; // ms; if a comparison takes longer, the page shows that it is running
const tones: readonly Status["tone"][] = ["bad", "warn", "busy", "live"]; // the worst first

interface Side {
  readonly ref: string;
  readonly kind: string;
  readonly ns: string;
  readonly name: string;
}

/** The input of one drawing. */
interface Wanted {
  readonly objects: readonly Tree[];
  readonly how: string;
}

export class ComparePage {
  private readonly place = byId("difference");
  private readonly sides: readonly Side[];
  private readonly heads: HTMLElement;
  private readonly anew = h("span", { class: "asof", hidden: true });
  private readonly held: readonly Held[];
  private readonly unfolded = new Set<string>();
  private readonly more = { pairs: 0 };
  private hidden = parseHide(new URLSearchParams(location.search).get("hide"));
  private layout: Layout = innerWidth < 800 ? "inline" : keptLayout("split");
  private readonly writers = [new Writer(), new Writer()];
  private readonly slices = new Slices(() => {
    if (!this.whole) return false;
    if (performance.now() - this.began > patience) setText(byId("count"), "Comparing…");
    return true;
  });
  private wanted: Wanted | null = null;
  private drawn: Wanted | null = null;
  private busy = false;
  private began = 0; // ms, when the present drawing started
  private timer: ReturnType<typeof setTimeout> | undefined;
  private cost = 0; // ms, the duration of the last drawing

  constructor(
    private readonly live: Live,
    private readonly now: () => number,
  ) {
    const found = [...this.place.querySelectorAll<HTMLElement>(".side")].map((e) => ({
      ref: e.dataset["ref"] ?? "",
      kind: e.dataset["kind"] ?? "",
      ns: e.dataset["ns"] ?? "",
      name: e.dataset["name"] ?? "",
    }));
    for (const id of ["a", "b"]) suggest(input(id) as HTMLInputElement, byId("names"), () => found[0]?.ref ?? "");
    this.sides = found.every((s) => s.ref !== "") ? found : [];
    this.heads = h(
      "div",
      { class: "heads" },
      ...this.sides.map((s, i) =>
        h(
          "h2",
          { class: i === 0 ? "removed" : "added" },
          h("span", { class: "kind" }, s.kind),
          " ",
          h("a", { href: objectHref(s.ref, s) }, s.ns === "" ? s.name : `${s.ns}/${s.name}`),
          h("span", { class: "change" }),
        ),
      ),
    );
    this.held = this.sides.map((s) => new Held(live, now, s.ref, s, () => this.schedule(), sayAnew));
    if (this.held.length === 0) return;
    byId("switches").before(this.anew);
    byId("switches").append(
      this.hide("identity", "Ignore identity", "UID, resource version, generation and creation"),
      this.hide("status", "Ignore status", "Everything under status"),
      layoutSwitch(this.layout, (to) => {
        this.layout = to;
        this.draw();
      }),
    );
    this.schedule();
  }

  /** Reports that the state of the connection has changed. */
  refresh(): void {
    for (const held of this.held) held.reconnected();
  }

  private hide(what: Hidden, words: string, title: string): HTMLElement {
    const box = h("input", { type: "checkbox", checked: this.hidden.has(what) ? true : null });
    box.addEventListener("change", () => {
      const hidden = new Set(this.hidden);
      if (box.checked) hidden.add(what);
      else hidden.delete(what);
      this.hidden = hidden;
      const query = new URLSearchParams(location.search);
      const text = formatHide(hidden);
      if (text === null) query.delete("hide");
      else query.set("hide", text);
      const form = byId("sides");
      form.querySelector("[name=hide]")?.remove();
      if (text !== null) form.append(h("input", { type: "hidden", name: "hide", value: text }));
      history.replaceState(null, "", `?${query.toString().replaceAll("%2F", "/").replaceAll("%2C", ",")}`);
      this.draw();
    });
    return h("label", { title }, box, words);
  }

  // Whether both objects have arrived.
  private get whole(): boolean {
    return this.held.every((x) => x.object !== null);
  }

  // Draws after a delay. It grows with the duration of the last drawing, because large objects may change all the time.
  private schedule(): void {
    this.timer ??= setTimeout(() => requestAnimationFrame(() => this.draw()), Math.min(2000, this.cost * 4));
  }

  private draw(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.tell();
    const objects = this.held.map((x) => x.object).filter((o) => o !== null);
    if (objects.length < this.held.length) {
      // After permission is lost, the objects must not stay on the screen.
      if (this.drawn !== null) this.place.replaceChildren();
      if (this.drawn !== null || this.busy) setText(byId("count"), "");
      this.drawn = this.wanted = null;
      return;
    }
    this.wanted = { objects, how: `${this.layout} ${formatHide(this.hidden) ?? ""}` };
    if (!this.busy) void this.work();
  }

  // Draws the wanted version, and then the newest of those that arrived in the meantime, until there is no newer one.
  private async work(): Promise<void> {
    this.busy = true;
    try {
      for (let w = this.wanted; w !== null; w = this.wanted) {
        this.wanted = null;
        if (this.drawn?.how === w.how && w.objects.every((o, i) => o === this.drawn?.objects[i])) continue;
        this.began = performance.now();
        this.slices.begin();
        await this.put(w);
        this.cost = performance.now() - this.began;
      }
    } finally {
      this.busy = false;
    }
  }

  // Computes a drawing, and replaces the one on the page when it is complete.
  private async put(w: Wanted): Promise<void> {
    const { layout, slices } = this;
    const texts: string[][] = [];
    for (const [i, o] of w.objects.entries()) {
      const lines = (await this.writers[i]?.write(without(o, this.hidden), slices.rest)) ?? null;
      if (lines === null) return;
      texts.push(lines.map((l) => l.text));
    }
    const pairs = await slices.run(pairing(texts[0] ?? [], texts[1] ?? []));
    const view =
      pairs === null
        ? null
        : await slices.run(
            drawing(pairs, { layout, numbers: true, most: mostLines, more: this.more, unfolded: this.unfolded }),
          );
    if (pairs === null || view === null || !this.whole) return;
    this.drawn = w;
    const count = differences(pairs);
    const note = untold(w.objects);
    setText(
      byId("count"),
      count === 0
        ? (note !== null ? "No differences outside masked values" : "No differences")
        : count === 1
          ? "1 difference"
          : `${digits(count)} differences`,
    );
    const at = this.place.scrollTop;
    const focus = keepFocus(this.place);
    this.heads.dataset["layout"] = layout;
    if (this.heads.parentNode !== this.place) this.place.replaceChildren(this.heads);
    while (this.heads.nextSibling !== null) this.heads.nextSibling.remove();
    this.heads.after(...(note === null ? [] : [h("p", { class: "untold" }, note)]), view);
    this.place.scrollTop = at;
    focus();
    this.place.setAttribute("data-live", "");
    this.tell();
  }

  private tell(): void {
    const now = this.now();
    const all = this.held.map((x) => ({ held: x, known: x.known(), said: status(x.known(), now) }));
    const worst = all.reduce((a, b) => (tones.indexOf(b.said.tone) < tones.indexOf(a.said.tone) ? b : a));
    const e = byId("status");
    e.dataset["state"] = worst.said.tone;
    setText(e, worst.said.words);
    sayIn(this.anew, anewWords(this.live.anew));
    this.anew.title = this.live.anewWhy;
    const words = all.map(({ held, known }, i) => {
      const name = this.sides[i]?.name ?? "";
      if (held.gone !== null && held.object !== null) return `${name} was deleted. Showing its last state.`;
      if (held.missing) return `${name} does not exist. It will appear here if created.`;
      return banner(known, now);
    }).filter((w) => w !== null);
    byId("banner").hidden = words.length === 0;
    setText(byId("banner"), [...new Set(words)].join(" "));
    this.place.querySelectorAll(".heads .change").forEach((c, i) => {
      const last = all[i]?.held.last ?? null;
      setText(c, last === null ? "" : lastWords(last, now));
    });
  }
}
