// Runs the script of a page without a browser: in the minimal document of fake-page.ts, with a fake address, history
// and WebSocket.
import { mock } from "node:test";
import { clearPage, page, Part } from "./fake-page.ts";
import { Socket } from "./fake-browser.ts";
import { tableOf } from "./table-encoding.ts";
import type { PageServices } from "../static/src/page-services.ts";

const ids: Record<string, string[]> = {
  a: ["cluster"],
  button: [
    "jump",
    "theme",
    "namespace-button",
    "columns",
    "charts-button",
    "connection",
    "pending-changes",
    "picker-width",
  ],
  details: ["export"],
  div: ["picker-groups", "panel", "side", "split", "object", "rows", "progress", "note", "charts"],
  footer: ["activity"],
  form: ["filters"],
  h1: ["heading"],
  input: ["picker-filter", "q", "labels", "ns"],
  nav: ["picker"],
  p: ["banner", "coverage-note"],
  span: ["status", "asof", "reloads", "count", "severity-counts"],
};

/** Records what the page does with its window. */
export const browser = {
  url: new URL("http://glasshouse/"),
  state: null as unknown,
  loads: [] as string[], // addresses that the page opened with a page load; "reload" for a reload
  history: [] as string[], // "push" or "replace" with the address
  savedStates: [] as unknown[], // states that the page stored in its history entry without changing the address
  sockets: [] as Socket[],
  socketUrls: [] as string[],
  selection: "",
  requests: [] as string[], // addresses of HTTP requests
  response: (): Promise<unknown> => new Promise(() => undefined),
  listeners: new Map<string, (() => void)[]>(),
  fire: (type: string): void => {
    for (const run of browser.listeners.get(type) ?? []) run();
  },
  get socket(): Socket {
    return browser.sockets[browser.sockets.length - 1] as Socket;
  },
};

function setHistory(how: string, state: unknown, href?: string): void {
  browser.state = state;
  if (href === undefined) return void browser.savedStates.push(state);
  browser.history.push(`${how} ${href}`);
  browser.url = new URL(href, browser.url);
}

Object.assign(globalThis, {
  addEventListener: (type: string, run: () => void) =>
    void browser.listeners.set(type, [...(browser.listeners.get(type) ?? []), run]),
  fetch: (address: string) => {
    browser.requests.push(address);
    return browser.response();
  },
  getSelection: () => browser.selection,
  history: {
    get state() {
      return browser.state;
    },
    pushState: (state: unknown, _: string, href?: string) => setHistory("push", state, href),
    replaceState: (state: unknown, _: string, href?: string) => setHistory("replace", state, href),
  },
  innerWidth: 1200,
  location: {
    get href() {
      return browser.url.href;
    },
    get pathname() {
      return browser.url.pathname;
    },
    get search() {
      return browser.url.search;
    },
    assign: (href: string) => browser.loads.push(href),
    replace: (href: string) => browser.loads.push(`replace ${href}`),
    reload: () => browser.loads.push("reload"),
  },
  WebSocket: class extends Socket {
    constructor(url: string) {
      super();
      browser.sockets.push(this);
      browser.socketUrls.push(url);
    }
  },
});

/**
 * Empties the page, and creates the elements that the server's templates contain. Returns the section element
 * with the given data attributes.
 */
export function openPage(address: string, data: Record<string, string> = {}): HTMLElement {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const { setTimeout } = globalThis;
  // Unlike browsers, the fake timers of older versions of Node.js never run a function without a delay.
  Object.assign(globalThis, { setTimeout: (run: () => void, ms = 0) => setTimeout(run, ms) });
  clearPage();
  Object.assign(page, { head: new Part("head") });
  page.hidden = false;
  for (const name of ["shared", "kiosk", "started"]) page.documentElement.removeAttribute(`data-${name}`);
  localStorage.removeItem("glasshouse.kinds");
  Object.assign(browser, {
    url: new URL(address, "http://glasshouse/"),
    state: null,
    selection: "",
    response: () => new Promise(() => undefined),
  });
  const { loads, history, savedStates, sockets, socketUrls, requests } = browser;
  for (const list of [loads, history, savedStates, sockets, socketUrls, requests]) list.length = 0;
  browser.listeners.clear();
  for (const [tag, names] of Object.entries(ids)) {
    for (const id of names) {
      const e = new Part(tag);
      e.id = id;
      page.body.append(e);
    }
  }
  const table = new Part("table");
  const tbody = new Part("tbody");
  const warning = new Part("p");
  table.id = "table";
  tbody.id = "tbody";
  warning.setAttribute("class", "doubt");
  table.append(new Part("thead"), tbody);
  element("rows").append(table);
  element("export").append(warning);
  const section = new Part("section");
  Object.assign(section.dataset, data);
  page.body.append(section);
  return section as unknown as HTMLElement;
}

export const element = (id: string): Part => {
  const found = page.getElementById(id);
  if (found === null) throw new Error(`no #${id}`);
  return found;
};

/** Opens the page's connection. Returns a function that sends a message to the page's subscription for a resource. */
export function connect(services: PageServices): (resource: string, message: object) => void {
  services.connect();
  browser.socket.accept();
  return (resource, message) => {
    const request = browser.socket.sent.findLast((m) => m["op"] === "subscribe" && (m["resource"] ?? "") === resource);
    browser.socket.receive({ id: request?.["id"], ...message });
  };
}

/** Returns the messages for a complete and live list with these rows. */
export function snapshotOf(...names: string[]): object[] {
  const rows = names.map((name) => ({ ns: "shop", name, rv: "1", created: "", cells: [name] }));
  return [
    { type: "snapshot", cursor: "c", columns: [{ name: "Name", type: "string" }], table: tableOf(rows), last: true },
    { type: "state", state: "live", since: "", reason: "", namespaces: [] },
  ];
}
