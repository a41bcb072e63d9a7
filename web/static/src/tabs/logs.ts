// The tab with the log of one container of a pod, live.

import { clockTime } from "../age.ts";
import { copyText } from "../clipboard.ts";
import { digits, h, setText } from "../dom.ts";
import { spelled } from "../odd.ts";
import { Bar } from "../logs/bar.ts";
import { LogBuffer } from "../logs/buffer.ts";
import { containersOf, firstOf, placed, type Container } from "../logs/containers.ts";
import type { Line } from "../logs/lines.ts";
import { Screen } from "../logs/screen.ts";
import { Search } from "../logs/search.ts";
import { LogStream, type LogState, type Reader } from "../logs/stream.ts";
import { empty, foot, held, type Situation } from "../logs/words.ts";
import { forbidden, type Note } from "../status.ts";
import type { Host, Shown, Tab } from "../tabs.ts";
import type { LogName } from "../view.ts";

export class Logs implements Tab, Reader {
  private readonly buffer = new LogBuffer();
  private readonly search = new Search(this.buffer);
  private readonly bar: Bar;
  private readonly screen: Screen;
  // The banner that is shown if the URL names a container that does not exist.
  private readonly instead = h("p", { class: "banner", role: "status", hidden: true });
  private readonly note = h("div", { class: "note", hidden: true });
  private readonly below = h("button", { type: "button", class: "log-below", hidden: true });
  private readonly state = h("span", { class: "status", role: "status" });
  private readonly size = h("span", { class: "log-size" });
  private readonly hurry = h("button", { type: "button", hidden: true }, "Retry now");
  readonly element: HTMLElement;
  private stream: LogStream | null = null;
  private at: LogState | null = null;
  private shown: Shown | null = null;
  private all: readonly Container[] = [];
  private opened = ""; // the parameters of the open log, so that it is requested once
  private following = false;
  private id = ""; // the id of the container when the log was opened

  constructor(private readonly host: Host) {
    const { buffer, search } = this;
    this.bar = new Bar({
      chosen: () => this.chosen(),
      shown: () => this.arrange(),
      search: (words) => {
        search.of(words);
        if (words === "") this.screen.redraw();
        else this.step(1);
      },
      step: (by) => this.step(by),
      leave: () => this.screen.element.focus({ preventScroll: true }),
      copy: () => copyText(buffer.text(this.bar.timed)),
      download: () => this.download(),
    });
    this.screen = new Screen(buffer, search, () => this.moved());
    this.below.addEventListener("click", () => {
      this.screen.toEnd();
      this.screen.element.focus({ preventScroll: true });
    });
    this.hurry.addEventListener("click", () => this.stream?.hurry());
    this.element = h(
      "div",
      { class: "logs" },
      this.bar.element,
      this.instead,
      h("div", { class: "log-body" }, this.screen.element, this.note, this.below),
      h("div", { class: "log-foot" }, this.state, this.hurry, h("span", { class: "spring" }), this.size),
    );
    this.element.addEventListener("keydown", (e) => this.key(e));
    this.arrange();
  }

  show(shown: Shown): void {
    this.shown = shown;
    if (this.forbidden !== null) this.forget();
    this.all = this.forbidden === null ? containersOf(shown.object) : [];
    this.look();
  }

  look(): void {
    const { seen } = this;
    this.bar.containers(this.all, seen);
    const named = this.host.log().container;
    this.instead.hidden = named === "" || this.all.length === 0 || named === seen.container;
    setText(
      this.instead,
      this.instead.hidden ? "" : `Container ${spelled(named)} not found. Showing the log of ${seen.container}.`,
    );
    this.open(false);
    this.tell();
  }

  // The log to show: the one that the URL selects, or that of the default container if there is no such container.
  private get seen(): LogName {
    const log = this.host.log();
    return this.all.some((c) => c.name === log.container)
      ? log
      : { ...log, container: firstOf(this.shown?.object ?? null, this.all) };
  }

  private chosen(): void {
    const { seen } = this;
    const { container, previous } = this.bar.choice;
    if (container !== seen.container || previous !== seen.previous) this.host.nameLog({ container, previous });
    this.look();
  }

  tick(): void {
    this.tell();
  }

  close(): void {
    this.stream?.close();
    this.screen.close();
    this.bar.close();
  }

  lines(lines: readonly Line[], gap: boolean): void {
    if (gap) this.say("The log was interrupted; lines may be missing here");
    this.buffer.append(lines);
    this.search.update();
    this.screen.schedule();
  }

  told(state: LogState): void {
    this.at = state;
    // After permission is lost, the lines must not stay on the screen.
    if (state.at === "refused" && state.problem.status === 403) this.clear();
    // After an interruption, the log may belong to the next container instance.
    if (state.at === "reading") this.id = this.container()?.id ?? this.id;
    // If the container was restarted in the meantime, its new instance has a log of its own.
    if (state.at === "ended") this.open(false);
    this.tell();
  }

  private container(): Container | undefined {
    return this.all.find((c) => c.name === this.bar.choice.container);
  }

  // Opens the log that the user has chosen. If it is open already, it is opened anew only if again is set.
  private open(again: boolean): void {
    const { kind, name } = this.host;
    const { choice } = this.bar;
    const container = this.container();
    if (container === undefined || kind.resource !== "pods") return;
    const { follow, ...which } = choice;
    const wanted = JSON.stringify(which);
    if (wanted === this.opened && !again && follow !== this.following) {
      this.following = follow;
      return this.stream?.follow(follow);
    }
    if (wanted === this.opened && !again) {
      // The log may start before the pod's status contains the container ID.
      if (this.at?.at === "reading" && container.id.endsWith(this.id)) this.id = container.id;
      if (container.id === this.id || choice.previous || container.phase !== "running") return;
      if (this.at?.at === "refused" && this.at.again) {
        this.id = container.id; // the stream retries by itself, and then reads the new instance
        return this.stream?.hurry();
      }
      if (this.at?.at !== "ended" && this.at?.at !== "refused") return;
      if (this.buffer.size > 0)
        this.say(
          `Container restarted at ${clockTime(new Date(this.host.now()).toISOString(), this.host.now())}`,
        );
    } else {
      this.clear();
    }
    this.opened = wanted;
    this.following = follow;
    this.id = container.id;
    this.screen.element.setAttribute("aria-label", `Log of ${container.name}`);
    this.stream?.close();
    this.stream = this.at = null;
    this.stream = new LogStream({ ns: name.ns, pod: name.name, ...choice }, this, this.host.live, this.host.now);
    this.tell();
  }

  private get forbidden(): Note | null {
    return this.shown === null ? null : forbidden(this.shown.known, this.host.kind.resource);
  }

  // Closes and removes the log after permission is lost.
  private forget(): void {
    if (this.opened === "") return;
    this.stream?.close();
    this.stream = null;
    this.at = null;
    this.opened = "";
    this.clear();
  }

  private clear(): void {
    this.buffer.clear();
    this.screen.clear();
    this.search.reset();
  }

  private say(text: string): void {
    this.buffer.append([{ at: "", text, note: true }]);
  }

  private arrange(): void {
    this.screen.times = this.bar.timed;
    this.screen.wrap = this.bar.wrapped;
    this.screen.remeasure();
  }

  private step(by: 1 | -1): void {
    const place = this.search.step(by, this.screen.top);
    if (place === null) this.screen.redraw();
    else this.screen.to(place.line);
    this.bar.find.tell(this.search.number, this.search.count);
    this.bar.sayFound();
  }

  // Called after each frame in which the screen was drawn.
  private moved(): void {
    this.bar.find.tell(this.search.number, this.search.count);
    const n = this.screen.below;
    this.below.hidden = this.screen.atEnd || this.buffer.size === 0;
    setText(this.below, n === 0 ? "Jump to end ↓" : `${digits(n)} new ${n === 1 ? "line" : "lines"} below ↓`);
    setText(this.size, held(this.buffer.size, this.buffer.first));
    this.tell();
  }

  private situation(): Situation {
    const { shown, buffer } = this;
    const { follow, previous } = this.bar.choice;
    const object = shown?.object ?? null;
    return {
      state: this.at,
      lost: this.lost,
      container: this.container(),
      follow,
      previous,
      placed: placed(object),
      gone: shown?.gone === true,
      known: object !== null,
      forbidden: this.forbidden,
      lines: buffer.size,
      dropped: buffer.first,
      ns: this.host.name.ns,
    };
  }

  private get lost(): number | null {
    const { connection, since } = this.host.live;
    return connection === "lost" ? since : null;
  }

  // Whether the log will be requested again without an action of the user.
  private get waits(): boolean {
    const { at } = this;
    return at?.at === "refused" ? at.again : at?.at === "asking" && this.lost !== null;
  }

  // Whether a retry is pointless, because the pod is deleted.
  private get vain(): boolean {
    return this.shown?.gone === true && this.waits;
  }

  private tell(): void {
    if (this.vain && this.stream !== null) return this.stream.stop(); // stop calls told, which calls tell again.
    const s = this.situation();
    const { tone, words } = foot(s, this.host.now());
    this.state.dataset["state"] = tone;
    setText(this.state, words);
    this.hurry.hidden = !this.waits;
    const e = empty(s);
    this.note.hidden = e === null;
    const known = JSON.stringify(e);
    if (e === null || this.note.dataset["known"] === known) return;
    this.note.dataset["known"] = known;
    const again = h("button", { type: "button" }, "Try again");
    again.addEventListener("click", () => this.open(true));
    this.note.replaceChildren(
      h("h2", {}, e.title),
      ...[e.detail, e.next].filter((p) => p !== "").map((p) => h("p", {}, p)),
      ...(e.again ? [h("p", {}, again)] : []),
    );
  }

  private download(): void {
    const url = URL.createObjectURL(new Blob([this.buffer.text(this.bar.timed)], { type: "text/plain;charset=utf-8" }));
    const { container, previous } = this.bar.choice;
    h("a", { href: url, download: `${this.host.name.name}-${container}${previous ? "-previous" : ""}.log` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  private key(e: KeyboardEvent): void {
    const find =
      (e.key === "f" && (e.ctrlKey || e.metaKey)) || (e.key === "/" && !(e.target instanceof HTMLInputElement));
    if (find) {
      // A second Ctrl+F opens the browser's own search.
      if (document.activeElement === this.bar.find.input) return;
      this.bar.find.input.focus();
      this.bar.find.input.select();
    } else if (e.target === this.screen.element && e.key === "End") this.screen.toEnd();
    else return;
    e.preventDefault();
  }
}
