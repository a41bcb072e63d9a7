// One WebSocket for the tab, with any number of subscriptions on it.
//
// A subscription's handler receives its messages in order. After a lost connection, each subscription resumes from its
// last cursor, its position in the server's history. It then receives the missed changes, or a reset and a snapshot.
// Handler.restart() reports that an incomplete snapshot will not be finished. If the server gives a reason and a delay
// when it closes the connection, the page shows the reason and waits. There is no retry after three close codes: the
// user is logged out, the share link has ended, or the server shows another cluster.

import { decode, type Fault } from "./decode.ts";
import type { Message, Spec } from "./wire.ts";

export type Connection = "connecting" | "open" | "lost";

export interface Handler {
  message(m: Exclude<Message, { type: "heartbeat" | "pong" | "part" }>): void;
  restart(): void;
  /** Reports the progress of a long message: told of its of bytes have arrived. */
  part?(told: number, of: number): void;
}

export interface Subscription {
  /** Discards the present data and requests a new snapshot. */
  resync(why: string): void;
  /** Requests the rows from another offset, or around an object. Only for the view window, a part of a sorted list. */
  move(offset: number, around?: { readonly ns: string; readonly name: string }): void;
  /** Retries at once, if a retry is waiting. */
  hurry(): void;
  close(): void;
}

/** The functions of the browser and the page that Live calls. Tests replace them. */
export interface Host {
  open(url: string, protocol: string): WebSocket;
  now(): number;
  random(): number;
  after(ms: number, run: () => void): unknown;
  cancel(timer: unknown): void;
  report(what: string): void;
  /**
     * Called when the server reports that the user is logged out, or that the share link has ended. If the viewer is
     * still logged in after all, the implementation calls again() to reconnect.
   */
  ended(again: () => void): void;
  /** Called when the server reports that it now shows another cluster than the page. */
  switched(): void;
}

const [loggedOut, shareEnded, otherCluster] = [4401, 4403, 4409]; // close codes
const silence = 35_000; // ms; the server sends something every 15 s
const firstWait = 500;
const longestWait = 20_000;
const longestAsked = 60_000; // ms, the longest delay that the server may request

interface Sub {
  spec: Spec;
  readonly handler: Handler;
  id: number;
  cursor: string | null; // null: no complete snapshot has arrived yet
  sent: boolean; // whether it was sent to the server on this connection
  text: string; // the parts of a long message that have arrived
  ended: boolean; // whether the server ended or refused the subscription
  resyncs: number; // consecutive resyncs
  timer: unknown;
}

export class Live {
  connection: Connection = "connecting";
  /** ms, when the connection changed to its present state. */
  since: number;
  /** The server's reason for closing the connection; empty if it gave none. */
  said = "";
  /** Whether the server has ever sent a message, which proves that connections are possible. */
  answered = false;
  /** How often data had to be read again, because it was inconsistent or missed changes could not be replayed. */
  anew = 0;
  /** Why data was last read again, for the status page; empty if it never was. */
  anewWhy = "";
  /** Called with the id of each ping that is answered. */
  onPong: (id: number) => void = () => {};
  private socket: WebSocket | null = null;
  private readonly subs = new Map<number, Sub>();
  private nextId = 1;
  private tries = 0;
  private heard = 0;
  private retry: unknown = null;
  private asked = false; // whether the pending retry waits for the delay that the server requested
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

  /**
   * Retries at once, for example when the network is back or the tab becomes visible. It does not retry before the
   * delay that the server requested.
   */
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
    const sub: Sub = {
      spec,
      handler,
      id: 0,
      cursor: null,
      sent: false,
      text: "",
      ended: false,
      resyncs: 0,
      timer: null,
    };
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

  /** Records that a subscriber had to read its data again because the server could not replay missed changes. */
  reset(reason: string): void {
    this.anew++;
    const why = reason === "" ? "" : `: ${reason}`;
    this.anewWhy = `Missed changes could not be replayed, so the data was reloaded${why}.`;
  }

  /** Sends a ping with this id. The server answers with a pong that has the same id. */
  ping(id: number): void {
    if (this.connection === "open") this.tell({ op: "ping", id });
  }

  // Each subscribe request uses a new id, so that messages still in flight for the old one are ignored.
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
    // Any message except an error shows that the server works.
    if (m.type !== "error") this.tries = 0;
    if (m.id === null) {
      if (m.type === "error") this.host.report(`the server rejected a message: ${m.problem.title} ${m.problem.detail}`);
      return;
    }
    if (m.type === "pong") return this.onPong(m.id);
    const sub = this.subs.get(m.id);
    if (sub === undefined) return;
    // Another message means that the rest of an incomplete long message will not arrive.
    if (m.type !== "part") sub.text = "";
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
        // A message was lost, so the page is behind the server. Resuming from its own cursor brings the missed changes.
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
        if (!m.waiting) sub.resyncs = 0; // while waiting, the API server may still refuse the log
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
        // A temporary error. Retry until the subscription is closed.
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
    this.host.report(`reloading ${sub.spec.resource || sub.spec.view}: ${why}`);
    // A log is not counted as read again, because it resumes after the lines that the page has.
    if (sub.spec.view !== "log") {
      this.anew++;
      this.anewWhy = `The cached data was inconsistent, so it was reloaded: ${why}.`;
    }
    sub.cursor = null;
    this.forget(sub);
    // Register the subscription under a new id before it is sent, so that a reconnect in the meantime finds it.
    sub.id = this.nextId++;
    this.subs.set(sub.id, sub);
    const wait = Math.min(longestWait, sub.resyncs++ === 0 ? 0 : firstWait * 2 ** sub.resyncs);
    sub.timer = this.host.after(wait, () => this.send(sub));
    sub.handler.restart(); // this may close the subscription
  }

  private drop(socket: WebSocket, closed: Pick<CloseEvent, "code" | "reason"> = { code: 1006, reason: "" }): void {
    if (this.socket !== socket) return;
    this.socket = null;
    socket.onopen = socket.onmessage = socket.onclose = socket.onerror = null;
    socket.close();
    this.host.cancel(this.watchdog);
    const { words, wait } = partingWords(closed);
    if (words !== "") this.said = words; // the text stays until a message arrives
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

  // Detects a dead connection. After a laptop has slept, or on a network that drops packets, no close event fires.
  private check(): void {
    // The view resources sends nothing while nothing changes.
    const waiting =
      this.connection !== "open" || [...this.subs.values()].some((s) => !s.ended && s.spec.view !== "resources");
    if (this.socket !== null && waiting && this.host.now() - this.heard > silence) this.drop(this.socket);
  }

  private change(to: Connection): void {
    if (this.connection === to) return;
    this.connection = to;
    this.since = this.host.now();
    this.onConnection();
  }
}

// Parses the close reason that a stopping or overloaded server sends: a delay and a message. The delay differs for each
// client, so that not all clients return at the same time.
function partingWords({ code, reason }: Pick<CloseEvent, "code" | "reason">): { words: string; wait: number | null } {
  const asked = code === 1001 || code === 1013 ? /^retry after (\d+) ms: (.*)$/s.exec(reason) : null;
  if (asked === null) return { words: reason, wait: null };
  return { words: asked[2] ?? "", wait: Math.min(longestAsked, Number(asked[1])) };
}
