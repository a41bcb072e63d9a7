// One object, live: beside the table, or on its own page.

import { immutableJSONPatch } from "immutable-json-patch";
import { clockTime } from "./age.ts";
import { byId, h, setText } from "./dom.ts";
import type { Handler, Live, Subscription } from "./live.ts";
import { banner, status, type Known } from "./status.ts";
import { objectHref, type ObjectName } from "./view.ts";
import type { By, Message, ObjectEvent, Problem, State, Tree } from "./wire.ts";
import { YamlView } from "./yaml.ts";

export class ObjectView implements Handler {
  private object: Tree | null = null;
  private complete = false;
  private anew = false; // a patch did not fit
  private gone: string | null = null; // when it was deleted, in words
  private state: State | null = null;
  private problem: Problem | null = null;
  private drawn: Tree | null = null;
  private shown = false; // something was drawn, so that a change can be marked
  private frame = 0;
  private readonly yaml = new YamlView();
  private readonly words: HTMLElement; // on its own page the page's status
  private readonly change = h("span", { class: "change" });
  private readonly banner = h("p", { class: "banner", role: "status", hidden: true });
  private readonly subscription: Subscription;

  constructor(
    private readonly root: HTMLElement,
    private readonly live: Live,
    private readonly now: () => number,
    ref: string,
    name: ObjectName,
    close: (() => void) | null,
  ) {
    this.words = close === null ? byId("status") : h("span", { class: "status", role: "status" });
    const text = name.ns === "" ? name.name : `${name.ns}/${name.name}`;
    const bar = h("div", { class: "bar" }, ...(close === null ? [] : [this.words]), this.change);
    const pre = root.querySelector("pre.yaml");
    if (close !== null) {
      const button = h("button", { type: "button", class: "close", "aria-label": "Close", title: "Close (Esc)" }, "×");
      button.addEventListener("click", close);
      const title = h("h2", { title: text }, text);
      const page = h("a", { href: objectHref(ref, name), class: "page-link" }, "Full page");
      root.replaceChildren(h("div", { class: "bar" }, title, h("span", { class: "spring" }), page, button), bar, this.banner, this.yaml.element);
    } else {
      // The server's text stands until there is a newer one.
      root.prepend(bar, this.banner);
      if (pre === null) root.replaceChildren(bar, this.banner, this.yaml.element);
    }
    this.subscription = live.subscribe({ resource: ref, ...(name.ns === "" ? {} : { ns: [name.ns] }), name: name.name, view: "object" }, this);
    this.draw();
  }

  close(): void {
    this.subscription.close();
    cancelAnimationFrame(this.frame);
    this.root.replaceChildren();
  }

  restart(): void {
    this.complete = false;
    this.schedule();
  }

  /** The connection is another, or time has passed. */
  refresh(): void {
    if (this.live.connection !== "open") this.state = null;
    this.schedule();
  }

  message(m: Parameters<Handler["message"]>[0]): void {
    if (m.type === "object") this.snapshot(m.object);
    else if (m.type === "object-events") this.events(m);
    else if (m.type === "state") {
      this.state = m;
      // A right that was lost takes with it what was seen.
      if (m.state === "forbidden") this.forget();
    } else if (m.type === "error") {
      this.problem = m.problem;
      this.forget();
    }
    this.schedule();
  }

  private snapshot(object: Tree | null): void {
    this.complete = true;
    this.anew = false;
    this.problem = null;
    if (object !== null) this.gone = null;
    else if (this.object !== null) this.gone ??= "";
    this.object = object ?? this.object;
  }

  private events(m: Extract<Message, { type: "object-events" }>): void {
    for (const e of m.events) {
      const why = this.event(e);
      if (why === null) continue;
      this.anew = true;
      return this.subscription.resync(why);
    }
  }

  // Returns why the event does not fit what is held, null if it does.
  private event(e: ObjectEvent): string | null {
    switch (e.op) {
      case "add":
        this.object = e.object;
        this.gone = null;
        break;
      case "update":
        if (this.object === null || this.gone !== null || uid(this.object) !== e.uid) return "a patch is for another object";
        try {
          this.object = immutableJSONPatch(this.object, e.patch.slice()) as Tree;
        } catch {
          return "a patch does not fit";
        }
        break;
      case "delete":
        if (this.object === null || (e.uid !== "" && uid(this.object) !== e.uid)) return null;
        this.gone = clockTime(e.by?.time || new Date(this.now()).toISOString(), this.now());
    }
    this.tell(e.op, e.by, e.op === "update" ? e.authors : undefined);
    return null;
  }

  private tell(op: ObjectEvent["op"], by: By | undefined, authors: readonly By[] | undefined): void {
    const words = { add: "created", update: "changed", delete: "deleted" }[op];
    const names = (authors ?? (by === undefined ? [] : [by])).map((a) => `${a.manager}${a.subresource === "" ? "" : ` (${a.subresource})`}`);
    const who = names.length === 0 ? "" : ` by ${[...new Set(names)].join(", ")}`;
    setText(this.change, `${clockTime(by?.time || new Date(this.now()).toISOString(), this.now())} ${words}${who}`);
  }

  private forget(): void {
    this.object = null;
    this.shown = false;
    this.root.querySelector("pre.yaml")?.replaceWith(this.yaml.element);
    this.yaml.element.replaceChildren();
  }

  private schedule(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    this.frame = 0;
    const known: Known = { connection: this.live.connection, since: this.live.since, said: this.live.said, state: this.state, complete: this.complete, arriving: 0, problem: this.problem, anew: this.anew };
    const s = status(known, this.now());
    const missing = this.complete && this.object === null && this.problem === null;
    const dead = this.gone !== null;
    setText(this.words, dead ? "Deleted" : missing && s.tone === "live" ? "Not there" : s.words);
    this.words.dataset["state"] = dead ? "bad" : s.tone;
    const above = dead
      ? `Deleted${this.gone === "" ? "" : ` at ${this.gone}`}. This is how it was last; should it be made anew, it appears here.`
      : missing && s.tone === "live" ? "There is no such object now. Should it be made, it appears here." : banner(known, this.now());
    this.banner.hidden = above === null;
    setText(this.banner, above ?? "");
    this.root.toggleAttribute("data-gone", dead);
    this.root.toggleAttribute("data-stale", s.tone !== "live");
    if (this.object === null || this.object === this.drawn) return;
    const server = this.root.querySelector("pre.yaml");
    if (server !== this.yaml.element) server?.replaceWith(this.yaml.element);
    this.yaml.show(this.object, this.shown);
    this.drawn = this.object;
    this.shown = true;
  }
}

function uid(object: Tree): string {
  const metadata = object["metadata"];
  const value = typeof metadata === "object" && metadata !== null ? (metadata as Tree)["uid"] : undefined;
  return typeof value === "string" ? value : "";
}
