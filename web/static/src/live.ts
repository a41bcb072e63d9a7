// One WebSocket for the tab, with any number of subscriptions in it.
//
// A subscription's handler gets its messages in order. After a lost connection
// each subscription goes on from its last cursor; what arrives then is what was
// missed, or a reset and a snapshot. restart() tells the handler that a
// snapshot under way will not be finished. Where the server says why it closes
// the connection, and how long to wait, it is told and obeyed. One that closes it
// because who looks is not logged in any more, because what was shared with them is no
// more, or because the server shows another cluster, is not tried again.

import { decode, type Fault } from "./decode.ts";
import type { Message, Spec } from "./wire.ts";

export type Connection = "connecting" | "open" | "lost";

export interface Handler {
  message(m: Exclude<Message, { type: "heartbeat" | "pong" | "part" }>): void;
  restart(): void;
  /** Of a long message, which is on its way, so many bytes have come, of so many. */
  part?(told: number, of: number): void;
}

export interface Subscription {
  /** Drops what is held and asks for a new snapshot. */
  resync(why: string): void;
  /** Of the view window: looks at the rows from another offset on. */
  move(offset: number, around?: { readonly ns: string; readonly name: string }): void;
  /** Asks again at once, where it is waited for that. */
  hurry(): void;
  close(): void;
}

/** What live.ts needs of the browser, so that tests can stand in for it. */
export interface Host {
  open(url: string, protocol: string): WebSocket;
  now(): number;
  random(): number;
  after(ms: number, run: () => void): unknown;
  cancel(timer: unknown): void;
  report(what: string): void;
  /** Who looks is not logged in any more, or a guest of nothing, says the server. Where they are all the same, again is called. */
  ended(again: () => void): void;
  /** The server shows another cluster than the page does. */
  switched(): void;
}

const [loggedOut, shareEnded, otherCluster] = [4401, 4403, 4409]; // codes of a close
const silence = 35_000; // the server says something every 15 s
const firstWait = 500;
const longestWait = 20_000;
const longestAsked = 60_000; // that a server may have us wait

interface Sub {
  spec: Spec;
  readonly handler: Handler;
  id: number;
  cursor: string | null; // null: a snapshot is to come, or is under way
  sent: boolean; // the server holds it over this connection
  text: string; // of a long message, the parts that have come
  ended: boolean; // the server refused it
  resyncs: number; // in a row
  timer: unknown;
}

export class Live {
  connection: Connection = "connecting";
  /** Since when the connection has been as it is. */
  since: number;
  /** Why the server ended the connection, in its words; empty where it did not say. */
  said = "";
  /** The server has said something: a connection to it can be had, and carries. */
  answered = false;
  /** How often what was held had to be read anew: it or what came did not fit, or what was missed could not be replayed. */
  anew = 0;
  /** Why that was so last; empty as long as it never was. */
  anewWhy = "";
  /** Told the id of each ping that is answered. */
  onPong: (id: number) => void = () => {};
  private socket: WebSocket | null = null;
  private readonly subs = new Map<number, Sub>();
  private nextId = 1;
  private tries = 0;
  private heard = 0;
  private retry: unknown = null;
  private asked = false; // retry is at the time that the server named
  private watchdog: unknown = null;

  constructor(
    private readonly url: string,
    private readonly host: Host,
    private readonly onConnection: () => void,
  ) {
    this.since = host.now();
  }

  connect(): void {
    if (this.socket !== null) return;
    this.host.cancel(this.retry);
    this.retry = null;
    this.asked = false;
    const socket = this.host.open(this.url, "glasshouse.v1+json");
    this.socket = socket;
    this.heard = this.host.now();
    socket.onopen = () => {
      if (this.socket !== socket) return;
      this.said = "";
      this.change("open");
      for (const sub of [...this.subs.values()]) if (sub.timer === null) this.send(sub);
    };
    socket.onmessage = (e: MessageEvent) => {
      if (this.socket === socket && typeof e.data === "string") this.receive(e.data);
    };
    socket.onclose = (e: CloseEvent) => this.drop(socket, e);
    socket.onerror = () => this.drop(socket);
    this.watch();
  }

  /** Tries at once, as when the network is back or the tab is looked at; not before a time that the server named. */
  hurry(): void {
    if (this.asked) return;
    if (this.retry !== null) {
      this.tries = 0;
      this.connect();
    } else if (this.socket !== null) {
      this.check();
    }
  }

  subscribe(spec: Spec, handler: Handler): Subscription {
    const sub: Sub = { spec, handler, id: 0, cursor: null, sent: false, text: "", ended: false, resyncs: 0, timer: null };
    this.send(sub);
    return {
      resync: (why) => this.resync(sub, why),
      move: (offset, around) => {
        sub.spec = { ...sub.spec, offset };
        const row = around === undefined ? {} : { ns: around.ns === "" ? [] : [around.ns], name: around.name };
        if (sub.sent) this.tell({ op: "window", id: sub.id, ...row, offset, count: sub.spec.count });
      },
      hurry: () => {
        if (sub.timer === null) return;
        this.host.cancel(sub.timer);
        this.send(sub);
      },
      close: () => {
        this.host.cancel(sub.timer);
        sub.timer = null;
        this.forget(sub);
      },
    };
  }

  /** A server that could not replay what was missed told rows that were held to be read anew, for a reason. */
  reset(reason: string): void {
    this.anew++;
    this.anewWhy = `What was missed could not be replayed, so all was read anew${reason === "" ? "" : `: ${reason}`}.`;
  }

  /** Asks the server for an answer, and for nothing else. */
  ping(id: number): void {
    if (this.connection === "open") this.tell({ op: "ping", id });
  }

  // Every time under a new id: what is still on its way under the old one is
  // then nobody's.
  private send(sub: Sub): void {
    this.forget(sub);
    sub.id = this.nextId++;
    sub.text = "";
    sub.ended = false;
    sub.timer = null;
    this.subs.set(sub.id, sub);
    if (this.connection !== "open") return;
    sub.sent = true;
    const { resource, ns, labels, fields, name, every, view, watched, q, sort, offset, count, log } = sub.spec;
    this.tell({
      op: "subscribe",
      id: sub.id,
      ...(resource !== "" ? { resource } : {}),
      ...(ns !== undefined && ns.length > 0 ? { ns } : {}),
      ...(labels !== undefined && labels !== "" ? { labels } : {}),
      ...(fields !== undefined && fields !== "" ? { fields } : {}),
      ...(name !== undefined ? { name } : {}),
      ...(every !== undefined ? { every } : {}),
      ...(view === "window" ? { q, sort, offset, count } : {}),
      ...log,
      view,
      ...(watched === true ? { watched } : {}),
      ...(sub.cursor !== null ? { cursor: sub.cursor } : {}),
    });
  }

  private forget(sub: Sub): void {
    if (!this.subs.delete(sub.id) || !sub.sent) return;
    sub.sent = false;
    this.tell({ op: "unsubscribe", id: sub.id });
  }

  private tell(message: unknown): void {
    if (this.socket?.readyState === 1) this.socket.send(JSON.stringify(message));
  }

  private receive(text: string): void {
    this.heard = this.host.now();
    this.answered = true;
    const { messages, faults } = decode(text, (id) => this.subs.get(id)?.spec.view ?? null);
    for (const m of messages) this.deliver(m);
    for (const f of faults) this.fault(f);
  }

  private deliver(m: Message): void {
    // The server is well if it says anything but no.
    if (m.type !== "error") this.tries = 0;
    if (m.id === null) {
      if (m.type === "error") this.host.report(`the server did not understand: ${m.problem.title} ${m.problem.detail}`);
      return;
    }
    if (m.type === "pong") return this.onPong(m.id);
    const sub = this.subs.get(m.id);
    if (sub === undefined) return;
    if (m.type !== "part") sub.text = ""; // The rest of it is not told.
    switch (m.type) {
      case "part": {
        sub.text += m.text;
        if (m.told < m.of) return sub.handler.part?.(m.told, m.of);
        const whole = sub.text;
        sub.text = "";
        return this.receive(whole);
      }
      case "heartbeat":
      case "digest":
        // Behind it: a frame was lost. Going on from our own cursor brings what was in it.
        if (sub.cursor !== null && m.cursor !== "" && m.cursor !== sub.cursor) {
          this.host.report(`behind the server: ${sub.spec.resource}`);
          this.send(sub);
        } else if (sub.cursor !== null && m.type === "digest") {
          sub.handler.message(m);
        }
        return;
      case "rows":
        sub.cursor = m.last ? m.cursor : null;
        break;
      case "object":
      case "changes":
        sub.cursor = m.cursor;
        break;
      case "resources":
        sub.resyncs = 0;
        break;
      case "log":
        if (!m.waiting) sub.resyncs = 0; // Before, it may be refused yet.
        break;
      case "log-end":
        sub.ended = true;
        sub.sent = false;
        break;
      case "row-events":
      case "window":
      case "window-events":
      case "object-events":
      case "change-events":
        sub.cursor = m.cursor;
        sub.resyncs = 0;
        break;
      case "reset":
        sub.cursor = null;
        sub.handler.restart();
        break;
      case "error":
        sub.ended = true;
        sub.sent = false;
        // Not now: as long as nobody ends it, it is tried again.
        if (m.problem.status === 503) {
          sub.cursor = null;
          const most = Math.min(longestWait, firstWait * 4 * 2 ** sub.resyncs++);
          sub.timer = this.host.after(most / 2 + (most / 2) * this.host.random(), () => this.send(sub));
        }
    }
    sub.handler.message(m);
  }

  private fault(f: Fault): void {
    if (f.id !== null) {
      const sub = this.subs.get(f.id);
      if (sub !== undefined) this.resync(sub, f.what);
      return;
    }
    this.host.report(f.what);
    for (const sub of [...this.subs.values()]) this.resync(sub, f.what);
  }

  private resync(sub: Sub, why: string): void {
    if (sub.timer !== null || this.subs.get(sub.id) !== sub) return;
    this.host.report(`reading ${sub.spec.resource || sub.spec.view} anew: ${why}`);
    if (sub.spec.view !== "log") { // A log goes on behind the lines that are held.
      this.anew++;
      this.anewWhy = `What was held could not be trusted, so all was read anew: ${why}.`;
    }
    sub.cursor = null;
    this.forget(sub);
    // Held under a new id without being sent, so that a reconnect finds it.
    sub.id = this.nextId++;
    this.subs.set(sub.id, sub);
    const wait = Math.min(longestWait, sub.resyncs++ === 0 ? 0 : firstWait * 2 ** sub.resyncs);
    sub.timer = this.host.after(wait, () => this.send(sub));
    sub.handler.restart(); // It may be closed by that.
  }

  private drop(socket: WebSocket, closed: Pick<CloseEvent, "code" | "reason"> = { code: 1006, reason: "" }): void {
    if (this.socket !== socket) return;
    this.socket = null;
    socket.onopen = socket.onmessage = socket.onclose = socket.onerror = null;
    socket.close();
    this.host.cancel(this.watchdog);
    const { words, wait } = partingWords(closed);
    if (words !== "") this.said = words; // Stands until the server is back.
    this.asked = wait !== null;
    this.change("lost");
    for (const sub of this.subs.values()) {
      this.host.cancel(sub.timer);
      sub.timer = null;
      sub.sent = false;
      if (sub.cursor === null) sub.handler.restart();
    }
    if (closed.code === loggedOut || closed.code === shareEnded) return this.host.ended(() => this.connect());
    if (closed.code === otherCluster) return this.host.switched();
    const most = Math.min(longestWait, firstWait * 2 ** this.tries++);
    this.retry = this.host.after(wait ?? most / 2 + (most / 2) * this.host.random(), () => {
      this.retry = null;
      this.connect();
    });
  }

  private watch(): void {
    this.host.cancel(this.watchdog);
    this.watchdog = this.host.after(5000, () => {
      this.check();
      if (this.socket !== null) this.watch();
    });
  }

  // A laptop that slept, or a way that swallows packets, closes no socket.
  private check(): void {
    // The view resources says nothing while nothing changes.
    const waiting = this.connection !== "open" || [...this.subs.values()].some((s) => !s.ended && s.spec.view !== "resources");
    if (this.socket !== null && waiting && this.host.now() - this.heard > silence) this.drop(this.socket);
  }

  private change(to: Connection): void {
    if (this.connection === to) return;
    this.connection = to;
    this.since = this.host.now();
    this.onConnection();
  }
}

// What a server that stops, or has too much to do, says with the close: a time
// of our own after which to come back, so that not all come at once, and why.
function partingWords({ code, reason }: Pick<CloseEvent, "code" | "reason">): { words: string; wait: number | null } {
  const asked = code === 1001 || code === 1013 ? /^retry after (\d+) ms: (.*)$/s.exec(reason) : null;
  if (asked === null) return { words: reason, wait: null };
  return { words: asked[2] ?? "", wait: Math.min(longestAsked, Number(asked[1])) };
}
