// The one WebSocket of the browser tab, which carries all its subscriptions.

import { decode, type DecodeFault } from "./decode.ts";
import type { Message, SubscriptionSpec } from "./wire.ts";

export type Connection = "connecting" | "open" | "lost";

export interface Handler {
  /** Handles a message. The messages arrive in order. */
  message(m: Exclude<Message, { type: "heartbeat" | "pong" | "part" }>): void;
  /** Called if the rest of a partly received snapshot will not arrive. A new snapshot follows. */
  restart(): void;
  /** Reports the progress of a long message: receivedBytes of its totalBytes have arrived. */
  part?(receivedBytes: number, totalBytes: number): void;
}

export interface Subscription {
  /** Discards the current data and requests a new snapshot. The page shows the reason in the parameter `why`. */
  requestSnapshot(why: string): void;
  /** Requests other rows of a window (a part of a sorted list), by offset or around an object. */
  move(offset: number, around?: { readonly ns: string; readonly name: string }): void;
  /** Retries immediately, instead of waiting for the next automatic retry. */
  retryNow(): void;
  close(): void;
}

/** The functions of the browser and of the page that Live calls. Tests replace them. */
export interface LiveHost {
  open(url: string, protocol: string): WebSocket;
  now(): number;
  random(): number;
  after(ms: number, run: () => void): unknown;
  cancel(timer: unknown): void;
  report(what: string): void;
  /**
   * Called when the login or the share link has ended. If the viewer still has access, for example after a new login,
   * the implementation must call again(), which reconnects.
   */
  accessEnded(again: () => void): void;
  clusterSwitched(): void;
}

const [loggedOut, shareEnded, otherCluster] = [4401, 4403, 4409]; // WebSocket close codes that prevent a retry
const maxSilence = 35_000; // ms without a message after which the connection counts as lost
const minRetryDelay = 500;
const maxRetryDelay = 20_000;
const maxRequestedDelay = 60_000; // ms; the longest retry delay that the server is allowed to request

interface SubscriptionState {
  spec: SubscriptionSpec;
  readonly handler: Handler;
  id: number;
  cursor: string | null; // position in the server's history; null until a complete snapshot has arrived
  isSent: boolean; // whether the server knows this subscription on the current connection
  partialMessage: string; // the received chunks of an incomplete long message
  ended: boolean; // whether the server has ended or refused this subscription
  resyncs: number; // number of consecutive resyncs (requests for all data); each one doubles the delay
  timer: unknown;
}

export class Live {
  connection: Connection = "connecting";
  /** The time in ms at which the connection changed to its current state. */
  since: number;
  /** The reason that the server gave when it closed the connection. Empty if it gave none. */
  closeReason = "";
  /** Whether the server has ever sent a message. If it has, WebSocket connections work, and no proxy blocks them. */
  hasAnswered = false;
  /** How many times data was loaded again, because it was inconsistent or missed changes were not available. */
  reloadCount = 0;
  /** The reason of the last reload, as a text for the status page. Empty if data was never reloaded. */
  reloadReason = "";
  /** Is called with the id of each ping that the server has answered. */
  onPong: (id: number) => void = () => {};
  private socket: WebSocket | null = null;
  private readonly subs = new Map<number, SubscriptionState>();
  private nextId = 1;
  private retryCount = 0;
  private lastReceivedAt = 0;
  private retry: unknown = null;
  private waitsForServerDelay = false; // whether the next retry must wait as long as the server requested
  private watchdog: unknown = null;

  constructor(
    private readonly url: string,
    private readonly host: LiveHost,
    private readonly onConnection: () => void,
  ) {
    this.since = host.now();
  }

  connect(): void {
    if (this.socket !== null) return;
    this.host.cancel(this.retry);
    this.retry = null;
    this.waitsForServerDelay = false;
    const socket = this.host.open(this.url, "glasshouse.v1+json");
    this.socket = socket;
    this.lastReceivedAt = this.host.now();
    socket.onopen = () => {
      if (this.socket !== socket) return;
      this.closeReason = "";
      this.setConnection("open");
      for (const sub of [...this.subs.values()]) if (sub.timer === null) this.send(sub);
    };
    socket.onmessage = (e: MessageEvent) => {
      if (this.socket === socket && typeof e.data === "string") this.handleText(e.data);
    };
    socket.onclose = (e: CloseEvent) => this.connectionLost(socket, e);
    socket.onerror = () => this.connectionLost(socket);
    this.watch();
  }

  /**
   * Retries or checks the connection now, for example when the network is back. Never shortens a delay of the server.
   */
  retryNow(): void {
    if (this.waitsForServerDelay) return;
    if (this.retry !== null) {
      this.retryCount = 0;
      this.connect();
    } else if (this.socket !== null) {
      this.check();
    }
  }

  subscribe(spec: SubscriptionSpec, handler: Handler): Subscription {
    const sub: SubscriptionState = {
      spec,
      handler,
      id: 0,
      cursor: null,
      isSent: false,
      partialMessage: "",
      ended: false,
      resyncs: 0,
      timer: null,
    };
    this.send(sub);
    return {
      requestSnapshot: (why) => this.requestSnapshot(sub, why),
      move: (offset, around) => {
        sub.spec = { ...sub.spec, offset };
        const row = around === undefined ? {} : { ns: around.ns === "" ? [] : [around.ns], name: around.name };
        if (sub.isSent) this.sendMessage({ op: "window", id: sub.id, ...row, offset, count: sub.spec.count });
      },
      retryNow: () => {
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

  /** Records that data was reloaded, because the server could not replay the changes that a subscription missed. */
  reset(reason: string): void {
    this.reloadCount++;
    const why = reason === "" ? "" : `: ${reason}`;
    this.reloadReason = `Missed changes could not be replayed, so the data was reloaded${why}.`;
  }

  ping(id: number): void {
    if (this.connection === "open") this.sendMessage({ op: "ping", id });
  }

  // Each subscribe request uses a new id, so that late messages for the previous id are ignored.
  private send(sub: SubscriptionState): void {
    this.forget(sub);
    sub.id = this.nextId++;
    sub.partialMessage = "";
    sub.ended = false;
    sub.timer = null;
    this.subs.set(sub.id, sub);
    if (this.connection !== "open") return;
    sub.isSent = true;
    const { resource, ns, labels, fields, name, every, view, watched, q, sort, offset, count, log } = sub.spec;
    this.sendMessage({
      op: "subscribe",
      id: sub.id,
      ...(resource !== "" ? { resource } : {}),
      ...(ns !== undefined && ns.length > 0 ? { ns } : {}),
      ...(labels !== undefined && labels !== "" ? { labels } : {}),
      ...(fields !== undefined && fields !== "" ? { fields } : {}),
      ...(name !== undefined ? { name } : {}),
      ...(every !== undefined ? { every } : {}),
      ...(view === "window" || view === "rates" ? { q, sort, offset, count } : {}),
      ...log,
      view,
      ...(watched === true ? { watched } : {}),
      // With a cursor, the server sends only the missed changes. If it no longer has them, it sends a new snapshot.
      ...(sub.cursor !== null ? { cursor: sub.cursor } : {}),
    });
  }

  private forget(sub: SubscriptionState): void {
    if (!this.subs.delete(sub.id) || !sub.isSent) return;
    sub.isSent = false;
    this.sendMessage({ op: "unsubscribe", id: sub.id });
  }

  private sendMessage(message: unknown): void {
    if (this.socket?.readyState === 1) this.socket.send(JSON.stringify(message));
  }

  private handleText(text: string): void {
    this.lastReceivedAt = this.host.now();
    this.hasAnswered = true;
    const { messages, faults } = decode(text, (id) => this.subs.get(id)?.spec.view ?? null);
    for (const m of messages) this.deliver(m);
    for (const f of faults) this.handleFault(f);
  }

  private deliver(m: Message): void {
    // Any message except an error proves that the server works, so the next retry delay is short again.
    if (m.type !== "error") this.retryCount = 0;
    if (m.id === null) {
      // "No such subscription" is no fault: a subscription (such as a log) can end on the server before the message
      // that closes it arrives.
      if (m.type === "error" && m.problem.title !== "No such subscription")
        this.host.report(`the server rejected a message: ${m.problem.title}. ${m.problem.detail}`);
      return;
    }
    if (m.type === "pong") return this.onPong(m.id);
    const sub = this.subs.get(m.id);
    if (sub === undefined) return;
    // If another message arrives before the last part of a long message, the server has aborted the long message.
    // Discard the parts of the long message.
    if (m.type !== "part") sub.partialMessage = "";
    switch (m.type) {
      case "part": {
        sub.partialMessage += m.text;
        if (m.told < m.of) return sub.handler.part?.(m.told, m.of);
        const complete = sub.partialMessage;
        sub.partialMessage = "";
        return this.handleText(complete);
      }
      case "heartbeat":
      case "digest":
        // The page missed a message. Subscribe again from the last cursor that the page has, to get the missed changes.
        if (sub.cursor !== null && m.cursor !== "" && m.cursor !== sub.cursor) {
          this.host.report(`the page missed changes to ${sub.spec.resource}, and requests them again`);
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
        if (!m.waiting) sub.resyncs = 0; // the API server has accepted the request, so retry delays are short again
        break;
      case "log-end":
        sub.ended = true;
        sub.isSent = false;
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
        sub.isSent = false;
        // Status 503 means a temporary error, so request the data again after a delay. close() cancels this.
        if (m.problem.status === 503) {
          sub.cursor = null;
          const maxDelay = Math.min(maxRetryDelay, minRetryDelay * 4 * 2 ** sub.resyncs++);
          sub.timer = this.host.after(maxDelay / 2 + (maxDelay / 2) * this.host.random(), () => this.send(sub));
        }
    }
    sub.handler.message(m);
  }

  private handleFault(f: DecodeFault): void {
    if (f.id !== null) {
      const sub = this.subs.get(f.id);
      if (sub !== undefined) this.requestSnapshot(sub, f.message);
      return;
    }
    this.host.report(f.message);
    for (const sub of [...this.subs.values()]) this.requestSnapshot(sub, f.message);
  }

  private requestSnapshot(sub: SubscriptionState, why: string): void {
    if (sub.timer !== null || this.subs.get(sub.id) !== sub) return;
    this.host.report(`reloading ${sub.spec.resource || sub.spec.view}: ${why}`);
    // A log is not reloaded: it resumes after the lines that the page has.
    if (sub.spec.view !== "log") {
      this.reloadCount++;
      this.reloadReason = `The data was reloaded, because ${why}.`;
    }
    sub.cursor = null;
    this.forget(sub);
    // Register the new id before the delay, so that a reconnect during the delay also sends the subscription.
    sub.id = this.nextId++;
    this.subs.set(sub.id, sub);
    const wait = Math.min(maxRetryDelay, sub.resyncs++ === 0 ? 0 : minRetryDelay * 2 ** sub.resyncs);
    sub.timer = this.host.after(wait, () => this.send(sub));
    sub.handler.restart(); // keep this call last, because the handler can close the subscription
  }

  private connectionLost(
    socket: WebSocket,
    closed: Pick<CloseEvent, "code" | "reason"> = { code: 1006, reason: "" },
  ): void {
    if (this.socket !== socket) return;
    this.socket = null;
    socket.onopen = socket.onmessage = socket.onclose = socket.onerror = null;
    socket.close();
    this.host.cancel(this.watchdog);
    const { words, wait } = parseCloseReason(closed);
    if (words !== "") this.closeReason = words; // keep the previous reason if the server gave none
    this.waitsForServerDelay = wait !== null;
    this.setConnection("lost");
    for (const sub of this.subs.values()) {
      this.host.cancel(sub.timer);
      sub.timer = null;
      sub.isSent = false;
      if (sub.cursor === null) sub.handler.restart();
    }
    if (closed.code === loggedOut || closed.code === shareEnded) return this.host.accessEnded(() => this.connect());
    if (closed.code === otherCluster) return this.host.clusterSwitched();
    const maxDelay = Math.min(maxRetryDelay, minRetryDelay * 2 ** this.retryCount++);
    this.retry = this.host.after(wait ?? maxDelay / 2 + (maxDelay / 2) * this.host.random(), () => {
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

  // Detects a dead connection. After sleep or packet loss, the browser fires no close event.
  private check(): void {
    // Older servers send no heartbeats for the view "resources". So, if the open connection has no other subscription,
    // silence does not mean that it is dead.
    const waiting =
      this.connection !== "open" || [...this.subs.values()].some((s) => !s.ended && s.spec.view !== "resources");
    if (this.socket !== null && waiting && this.host.now() - this.lastReceivedAt > maxSilence)
      this.connectionLost(this.socket);
  }

  private setConnection(to: Connection): void {
    if (this.connection === to) return;
    this.connection = to;
    this.since = this.host.now();
    this.onConnection();
  }
}

// Parses a close reason such as "retry after 500 ms: text". A stopping or overloaded server sends it.
function parseCloseReason({ code, reason }: Pick<CloseEvent, "code" | "reason">): {
  words: string;
  wait: number | null;
} {
  const match = code === 1001 || code === 1013 ? /^retry after (\d+) ms: (.*)$/s.exec(reason) : null;
  if (match === null) return { words: reason, wait: null };
  // The delay differs by client, so that not all clients reconnect at the same time.
  return { words: match[2] ?? "", wait: Math.min(maxRequestedDelay, Number(match[1])) };
}
