// The view of a log: the bar, the search, the lines and the footer. The tab around it (for one container or several)
// selects the log to read, and provides the texts for banner, note and status.

import { copyText } from "../../ui/clipboard.ts";
import { h, setText } from "../../ui/dom.ts";
import { mount, unmount } from "../../ui/view.tsx";
import { formatInteger } from "../../text/format.ts";
import { saveFile } from "../save-file.ts";
import type { TabHost } from "../tab.ts";
import { Bar, type MergedBarOptions } from "./bar.tsx";
import { LogBuffer } from "./buffer.ts";
import { Search } from "./search.ts";
import { lineCountText, type LogFooter } from "./status-text.ts";
import { LogViewport } from "./viewport.ts";

interface LogViewActions {
  logSelected(): void; // called after the user selects another log or range of lines
  retryNow(): void;
  reopen?(): void; // called by the button of a note that opens the log again (see LogNote.again)
  updateStatus(): void; // called after each drawing of the log
  fileName(): string; // returns the name for a downloaded log, without the extension
}

/** A text that is shown in place of the lines of a log. */
interface LogNote {
  readonly title: string;
  readonly detail: string;
  readonly next: string;
  readonly again?: boolean; // whether the note has a button that opens the log again
}

export class LogView {
  readonly buffer = new LogBuffer();
  readonly search = new Search(this.buffer);
  readonly bar: Bar;
  readonly screen: LogViewport;
  readonly element: HTMLElement;
  private readonly banner = h("p", { class: "banner", role: "status", hidden: true });
  private readonly note = h("div", { class: "note", hidden: true });
  private readonly toEndButton = h("button", { type: "button", class: "log-below", hidden: true });
  private readonly foot = h("div", { class: "log-foot" });

  constructor(
    private readonly host: TabHost,
    private readonly actions: LogViewActions,
    merged: MergedBarOptions | null = null,
  ) {
    const { buffer, search } = this;
    this.bar = new Bar(
      {
        logSelected: () => actions.logSelected(),
        displayChanged: () => this.applyDisplayOptions(),
        filterChanged: (filter) => host.selectLog({ ...host.log(), filter }, "replace"),
        setQuery: (words) => {
          search.setQuery(words);
          host.setFind("logs", words);
          if (words === "") this.screen.redraw();
          else this.step(1);
        },
        step: (by) => this.step(by),
        focusText: () => this.screen.element.focus({ preventScroll: true }),
        copy: () => copyText(buffer.text(this.bar.showsTimes)),
        download: () => this.download(),
      },
      merged,
    );
    this.screen = new LogViewport(buffer, search, () => this.drawn());
    this.toEndButton.addEventListener("click", () => {
      this.screen.scrollToEnd();
      this.screen.element.focus({ preventScroll: true });
    });
    this.element = h(
      "div",
      { class: "logs" },
      this.bar.element,
      this.banner,
      h("div", { class: "log-body" }, this.screen.element, this.note, this.toEndButton),
      this.foot,
    );
    this.element.addEventListener("keydown", (e) => this.key(e));
  }

  /** Draws the log for the first time with the stored display options and the filter and search in the URL. */
  start(): void {
    this.applyDisplayOptions();
    this.restoreFind();
  }

  /** Applies the filter and the search text in the URL. */
  restoreFind(): void {
    this.bar.filter.restore(this.host.log().filter ?? "");
    const words = this.host.find("logs");
    if (words === this.bar.find.query) return;
    this.bar.find.restore(words);
    this.search.setQuery(words);
    this.screen.redraw();
  }

  setLabel(label: string): void {
    this.screen.element.setAttribute("aria-label", label);
  }

  showBanner(text: string): void {
    this.banner.hidden = text === "";
    setText(this.banner, text);
  }

  showStatus({ level, words }: LogFooter, canRetry: boolean, note: LogNote | null): void {
    mount(
      this.foot,
      <>
        <span class="status" role="status" data-state={level}>
          {words}
        </span>
        <button type="button" hidden={!canRetry} onClick={() => this.actions.retryNow()}>
          Retry now
        </button>
        <span class="spring" />
        <span class="log-size">{lineCountText(this.buffer.size, this.buffer.first)}</span>
      </>,
    );
    this.note.hidden = note === null;
    if (note !== null) mount(this.note, <NoteText note={note} reopen={() => this.actions.reopen?.()} />);
  }

  /** Appends a note of the page, such as one about a new run, as a line of the log. */
  appendNote(text: string): void {
    this.buffer.append([{ at: "", text, note: true }]);
  }

  clear(): void {
    this.buffer.clear();
    this.screen.clear();
    this.search.reset();
  }

  close(): void {
    this.screen.close();
    this.bar.close();
    unmount(this.foot);
    unmount(this.note);
  }

  private applyDisplayOptions(): void {
    this.screen.times = this.bar.showsTimes;
    this.screen.wrap = this.bar.isWrapped;
    this.screen.setFilter(this.bar.filter);
    this.screen.remeasure();
  }

  private step(by: 1 | -1): void {
    const place = this.search.step(by, this.screen.top);
    if (place === null) this.screen.redraw();
    else this.screen.scrollToLine(place.line);
    this.bar.find.showCount(this.search.number, this.search.count);
    this.bar.announceMatches();
  }

  private drawn(): void {
    this.bar.find.showCount(this.search.number, this.search.count);
    const n = this.screen.unseenCount;
    this.toEndButton.hidden = this.screen.atEnd || this.buffer.size === 0;
    setText(
      this.toEndButton,
      n === 0 ? "Jump to end ↓" : `${formatInteger(n)} new ${n === 1 ? "line" : "lines"} below ↓`,
    );
    this.actions.updateStatus();
  }

  private download(): void {
    const name = `${this.actions.fileName()}${this.bar.choice.previous ? "-previous" : ""}.log`;
    saveFile(name, this.buffer.text(this.bar.showsTimes));
  }

  private key(e: KeyboardEvent): void {
    const find =
      (e.key === "f" && (e.ctrlKey || e.metaKey)) || (e.key === "/" && !(e.target instanceof HTMLInputElement));
    if (find) {
      // If the search box already has the focus, let Ctrl+F open the browser's own search.
      if (this.bar.find.isFocused) return;
      this.bar.find.focus();
    } else if (e.target === this.screen.element && e.key === "End") this.screen.scrollToEnd();
    else return;
    e.preventDefault();
  }
}

const NoteText = ({ note, reopen }: { note: LogNote; reopen: () => void }) => (
  <>
    <h2>{note.title}</h2>
    {[note.detail, note.next].map((text) => text !== "" && <p>{text}</p>)}
    {note.again === true && (
      <p>
        <button type="button" onClick={reopen}>
          Try again
        </button>
      </p>
    )}
  </>
);
