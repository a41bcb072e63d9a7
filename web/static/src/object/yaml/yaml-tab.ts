// The tab with the object as YAML, in the format of kubectl. Lines that the newest change modified are marked.

import "../../shared-code.ts";
import { clockTime } from "../../text/age.ts";
import { copyText } from "../../ui/clipboard.ts";
import { h } from "../../ui/dom.ts";
import { formatInteger } from "../../text/format.ts";
import type { LastChange } from "../../model/object-store.ts";
import { TimeSlicer } from "../../text/time-slice.ts";
import { preferences } from "../../ui/preferences.ts";
import type { TabHost, TabData, Tab } from "../tab.ts";
import type { JsonObject } from "../../net/wire.ts";
import { Bar } from "./bar.tsx";
import { selectedText, completeText } from "./copy.ts";
import { Search } from "./search.ts";
import { TextInput } from "./text-input.ts";
import { highlightLines, clearHighlights } from "./highlight.ts";
import { LiveText } from "./live-text.ts";
import { YamlWriter } from "../../yaml/writer.ts";

export class YamlTab implements Tab {
  private readonly writer = new YamlWriter();
  private readonly search = new Search();
  private readonly text = new LiveText(() => this.schedule());
  private readonly bar: Bar;
  private readonly input: TextInput;
  readonly element: HTMLElement;
  private pending: TabData | null = null;
  private isDrawing = false;
  private drawnObject: JsonObject | null = null;
  private drawnChange: LastChange | null = null;
  private isDeleted = false;
  private isClosed = false;
  private frame = 0;
  private readonly slicer = new TimeSlicer(() => !this.isClosed);

  constructor(private readonly host: TabHost) {
    const { text, search } = this;
    this.bar = new Bar({
      setQuery: (words) => {
        search.setQuery(words);
        host.setFind("yaml", words);
        this.input.step(1);
      },
      step: (by) => this.input.step(by),
      focusText: () => text.element.focus({ preventScroll: true }),
      fold: () => this.input.foldAll(),
      wrap: () => this.setWrapped(!text.element.hasAttribute("data-wrap")),
      copy: () => copyText(completeText(text)),
    });
    this.input = new TextInput(text, search, this.bar, () => this.schedule());
    this.element = h("div", { class: "yaml-tab" }, this.bar.element, text.element);
    this.element.addEventListener("keydown", (e) => this.input.key(e));
    text.element.addEventListener("copy", (e) => {
      const part = selectedText(text);
      if (part === null || e.clipboardData === null) return;
      e.clipboardData.setData("text/plain", part);
      e.preventDefault();
    });
    this.setWrapped(preferences.get("wrap") !== null);
    this.urlChanged();
  }

  /** Searches for the text in the URL. */
  urlChanged(): void {
    const words = this.host.find("yaml");
    if (words === this.bar.find.query) return;
    this.bar.find.restore(words);
    this.search.setQuery(words);
    this.input.updateBar();
  }

  show(shown: TabData): void {
    if (shown.isDeleted !== this.isDeleted) {
      this.isDeleted = shown.isDeleted;
      this.schedule();
    }
    if (shown.object === this.drawnObject && !this.isDrawing) return;
    this.pending = shown;
    if (!this.isDrawing) void this.draw();
  }

  close(): void {
    this.isClosed = true;
    cancelAnimationFrame(this.frame);
    this.bar.close();
    this.text.close();
    clearHighlights();
  }

  private async draw(): Promise<void> {
    this.isDrawing = true;
    try {
      await this.drawPending();
    } finally {
      this.isDrawing = false;
    }
  }

  private async drawPending(): Promise<void> {
    for (let w = this.pending; w !== null && !this.isClosed; w = this.pending) {
      this.pending = null;
      this.slicer.begin();
      if (w.object === this.drawnObject) continue;
      const event = w.last === this.drawnChange ? null : w.last;
      // If several changes arrived, first draw the object as it was before the newest change, without marks. So only
      // the newest change is marked.
      if (this.drawnObject !== null && event !== null && event.before !== null && event.before !== this.drawnObject)
        await this.drawObject(event.before, null);
      await this.drawObject(w.object, this.drawnObject === null ? null : changeText(event, this.host.now()));
      this.drawnChange = w.last;
    }
  }

  private async drawObject(object: JsonObject | null, words: string | null): Promise<void> {
    const lines = object === null ? [] : await this.writer.write(object, this.slicer.pauseIfDue);
    if (lines === null || this.isClosed) return;
    await this.text.show(lines, words, this.slicer.pauseIfDue);
    if (this.isClosed) return;
    this.drawnObject = object;
    this.search.setRows(this.text.rows);
    this.input.updateBar();
    this.bar.set({ lines: lines.length });
    const unit = lines.length === 1 ? "line" : "lines";
    this.text.element.setAttribute("aria-label", `YAML, ${formatInteger(lines.length)} ${unit}`);
  }

  private schedule(): void {
    if (this.frame !== 0 || this.isClosed) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      highlightLines(this.text.nearBlocks, this.search, this.isDeleted);
    });
  }

  private setWrapped(on: boolean): void {
    this.text.keepScrollPosition(() => this.text.element.toggleAttribute("data-wrap", on));
    this.bar.set({ isWrapped: on });
    preferences.setFlag("wrap", on);
  }
}

function changeText(last: LastChange | null, now: number): string {
  if (last === null) return "Changed while this page received no updates";
  const names = last.by.map((a) => `${a.manager}${a.subresource === "" ? "" : ` (${a.subresource})`}`);
  return `Changed ${clockTime(last.at, now)}${names.length === 0 ? "" : ` by ${[...new Set(names)].join(", ")}`}`;
}
