// The tab with the object as YAML in the style of kubectl, live. The lines that changed last are marked.

import { clockTime } from "../age.ts";
import { copyText } from "../clipboard.ts";
import { digits, h } from "../dom.ts";
import type { LastChange } from "../held.ts";
import { Slices } from "../slices.ts";
import { habits } from "../stored.ts";
import type { Host, Shown, Tab } from "../tabs.ts";
import type { Tree } from "../wire.ts";
import { Bar } from "../yaml/bar.ts";
import { selected, whole } from "../yaml/copy.ts";
import { Search } from "../yaml/find.ts";
import { Hands } from "../yaml/hands.ts";
import { paint, unpaint } from "../yaml/paint.ts";
import { LiveText } from "../yaml/text.ts";
import { Writer } from "../yaml/write.ts";

export class YamlTab implements Tab {
  private readonly writer = new Writer();
  private readonly search = new Search();
  private readonly text = new LiveText(() => this.schedule());
  private readonly bar: Bar;
  private readonly hands: Hands;
  readonly element: HTMLElement;
  private wanted: Shown | null = null;
  private busy = false;
  private drawn: Tree | null = null;
  private last: LastChange | null = null; // the last change as of the last drawing
  private gone = false;
  private closed = false;
  private frame = 0;
  private readonly slices = new Slices(() => !this.closed);

  constructor(private readonly host: Host) {
    const { text, search } = this;
    this.bar = new Bar({
      search: (words) => {
        search.of(words);
        this.hands.step(1);
      },
      step: (by) => this.hands.step(by),
      leave: () => text.element.focus({ preventScroll: true }),
      fold: () => this.hands.foldAll(),
      wrap: () => this.wrap(!text.element.hasAttribute("data-wrap")),
      copy: () => copyText(whole(text)),
    });
    this.hands = new Hands(text, search, this.bar, () => this.schedule());
    this.element = h("div", { class: "yaml-tab" }, this.bar.element, text.element);
    this.element.addEventListener("keydown", (e) => this.hands.key(e));
    text.element.addEventListener("copy", (e) => {
      const part = selected(text);
      if (part === null || e.clipboardData === null) return;
      e.clipboardData.setData("text/plain", part);
      e.preventDefault();
    });
    this.wrap(habits.get("wrap") !== null);
  }

  show(shown: Shown): void {
    if (shown.gone !== this.gone) {
      this.gone = shown.gone;
      this.schedule();
    }
    if (shown.object === this.drawn && !this.busy) return;
    this.wanted = shown;
    if (!this.busy) void this.draw();
  }

  close(): void {
    this.closed = true;
    cancelAnimationFrame(this.frame);
    this.bar.close();
    this.text.close();
    unpaint();
  }

  // Draws the newest object. If newer ones arrive during the drawing, it then draws the newest of them.
  private async draw(): Promise<void> {
    this.busy = true;
    try {
      await this.drawWanted();
    } finally {
      this.busy = false;
    }
  }

  private async drawWanted(): Promise<void> {
    for (let w = this.wanted; w !== null && !this.closed; w = this.wanted) {
      this.wanted = null;
      this.slices.begin();
      if (w.object === this.drawn) continue;
      const event = w.last === this.last ? null : w.last;
      // If several changes have arrived, draw the version before the last one first, so that only the last is marked.
      if (this.drawn !== null && event !== null && event.before !== null && event.before !== this.drawn)
        await this.put(event.before, null);
      await this.put(w.object, this.drawn === null ? null : changeWords(event, this.host.now()));
      this.last = w.last;
    }
  }

  private async put(object: Tree | null, words: string | null): Promise<void> {
    const lines = object === null ? [] : await this.writer.write(object, this.slices.rest);
    if (lines === null || this.closed) return;
    await this.text.show(lines, words, this.slices.rest);
    if (this.closed) return;
    this.drawn = object;
    this.search.over(this.text.rows);
    this.hands.told();
    this.bar.tellSize(lines.length);
    const unit = lines.length === 1 ? "line" : "lines";
    this.text.element.setAttribute("aria-label", `YAML, ${digits(lines.length)} ${unit}`);
  }

  private schedule(): void {
    if (this.frame !== 0 || this.closed) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      paint(this.text.near, this.search, this.gone);
    });
  }

  private wrap(on: boolean): void {
    this.text.hold(() => this.text.element.toggleAttribute("data-wrap", on));
    this.bar.tellWrapped(on);
    habits.turn("wrap", on);
  }
}

function changeWords(last: LastChange | null, now: number): string {
  if (last === null) return "Changed since you last viewed it";
  const names = last.by.map((a) => `${a.manager}${a.subresource === "" ? "" : ` (${a.subresource})`}`);
  return `Changed ${clockTime(last.at, now)}${names.length === 0 ? "" : ` by ${[...new Set(names)].join(", ")}`}`;
}
