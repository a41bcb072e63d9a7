// Invariant: I30.

import assert from "node:assert/strict";
import { test } from "node:test";
import jsQR from "jsqr";
import "../fake-page.ts";
import { expiryText } from "../../static/src/model/guest.ts";
import { qrOutline } from "../../static/src/share/qr.ts";
import { matchingLines } from "../../static/src/share/share-kinds.tsx";
import {
  hasEvents,
  hasLogs,
  homeResources,
  unmaskedText,
  requestBody,
  isLoopback,
  kioskUrl,
  linkText,
  partsOf,
  partsText,
  readLinks,
  readCreated,
  visibilityText,
  linkLifetimes,
  targetPath,
  type ShareChoice,
} from "../../static/src/share/share-text.ts";
import { defaultView } from "../../static/src/model/view.ts";

const page = (data: Record<string, string> = {}): void =>
  void Object.assign(globalThis, { document: { documentElement: { dataset: data } } });
const pods = { ref: "core/v1/pods", kind: "Pod", resource: "pods", namespaced: true };
const nodes = { ref: "core/v1/nodes", kind: "Node", resource: "nodes", namespaced: false };
const events = { ref: "core/v1/events", kind: "Event", resource: "events", namespaced: true };
const deployments = { ref: "apps/v1/deployments", kind: "Deployment", resource: "deployments", namespaced: true };
const listed = [pods, nodes, events, deployments];
const part = (resource: string, more: object = {}): object => ({
  resource,
  namespaces: [],
  labels: "",
  name: "",
  q: "",
  about: "",
  ...more,
});

const view: ShareChoice = {
  what: "view",
  kind: pods,
  view: {
    ...defaultView("core/v1/pods"),
    ns: ["shop"],
    labels: "app=web",
    q: "err",
    sort: { column: "age", descending: true },
  },
  logs: false,
  events: false,
};
const object: ShareChoice = {
  what: "object",
  kind: pods,
  name: { ns: "shop", name: "web-1" },
  tab: "",
  logs: false,
  events: false,
};
const node: ShareChoice = {
  what: "object",
  kind: nodes,
  name: { ns: "", name: "node-1" },
  tab: "yaml",
  logs: true,
  events: true,
};
const deployment: ShareChoice = {
  what: "object",
  kind: deployments,
  name: { ns: "shop", name: "web" },
  tab: "",
  logs: false,
  events: true,
};
const kinds: ShareChoice = { what: "kinds", kinds: [pods, nodes], ns: ["data", "shop"] };

const watched = [
  { resource: "apps/v1/deployments", state: "live", namespaces: [] },
  { resource: "core/v1/pods", state: "stale", namespaces: ["data", "shop"] },
  { resource: "core/v1/nodes", state: "live", namespaces: [] },
  { resource: "core/v1/events", state: "live", namespaces: [] },
  { resource: "core/v1/secrets", state: "live", namespaces: [] },
  { resource: "core/v1/services", state: "forbidden", namespaces: [] },
  { resource: "example.com/v1/unknown", state: "live", namespaces: [] },
] as const;
const namespacedKinds = ["core/v1/events", "core/v1/secrets", "core/v1/services"].map((ref) => ({ ...pods, ref }));
const home = (ns: string[], more: object = {}): ShareChoice => ({
  what: "home",
  view: { ns, q: "is:failed" },
  resources: homeResources(ns, watched, [pods, nodes, deployments, ...namespacedKinds]),
  logs: false,
  events: false,
  ...more,
});

const cases: [string, ShareChoice, object[], string][] = [
  [
    "a view with its filters",
    view,
    [part("core/v1/pods", { namespaces: ["shop"], labels: "app=web", q: "err" })],
    "/r/core/v1/pods?ns=shop&q=err&labels=app=web&sort=-age",
  ],
  [
    "a view with logs and events",
    { ...view, logs: true, events: true },
    [
      part("core/v1/pods", { namespaces: ["shop"], labels: "app=web", q: "err" }),
      part("core/v1/pods/log", { namespaces: ["shop"], labels: "app=web", q: "err" }),
      part("core/v1/events", { namespaces: ["shop"] }),
    ],
    "/r/core/v1/pods?ns=shop&q=err&labels=app=web&sort=-age",
  ],
  ["an object", object, [part("core/v1/pods", { namespaces: ["shop"], name: "web-1" })], "/o/core/v1/pods/shop/web-1"],
  [
    "an object with its log and events, with the Logs tab open",
    { ...object, tab: "logs", logs: true, events: true },
    [
      part("core/v1/pods", { namespaces: ["shop"], name: "web-1" }),
      part("core/v1/pods/log", { namespaces: ["shop"], name: "web-1" }),
      part("core/v1/events", { namespaces: ["shop"], about: "pod.core/web-1" }),
    ],
    "/o/core/v1/pods/shop/web-1?tab=logs",
  ],
  [
    "a cluster-scoped object, which has no log",
    node,
    [
      part("core/v1/nodes", { name: "node-1" }),
      part("core/v1/events", { namespaces: ["default"], about: "node.core/node-1" }),
    ],
    "/o/core/v1/nodes/_/node-1?tab=yaml",
  ],
  [
    "an object of another API group, with events",
    deployment,
    [
      part("apps/v1/deployments", { namespaces: ["shop"], name: "web" }),
      part("core/v1/events", { namespaces: ["shop"], about: "deployment.apps/web" }),
    ],
    "/o/apps/v1/deployments/shop/web",
  ],
  [
    "a view of a cluster-scoped kind, with events",
    { what: "view", kind: nodes, view: { ...defaultView("core/v1/nodes"), ns: ["shop"] }, logs: true, events: true },
    [part("core/v1/nodes"), part("core/v1/events", { namespaces: ["default"] })],
    "/r/core/v1/nodes?ns=shop",
  ],
  [
    "several kinds in several namespaces",
    kinds,
    [part("core/v1/pods", { namespaces: ["data", "shop"] }), part("core/v1/nodes")],
    "/r/core/v1/pods?ns=data&ns=shop",
  ],
  [
    "the home page, with all resources that it reads except Secrets",
    home([]),
    [part("core/v1/pods", { namespaces: ["data", "shop"] }), part("apps/v1/deployments"), part("core/v1/nodes")],
    "/?q=is:failed",
  ],
  [
    "the home page of one namespace, with its logs and events",
    home(["shop"], { logs: true, events: true }),
    [
      part("core/v1/pods", { namespaces: ["shop"] }),
      part("core/v1/pods/log", { namespaces: ["shop"] }),
      part("core/v1/events", { namespaces: ["shop"] }),
      part("apps/v1/deployments", { namespaces: ["shop"] }),
    ],
    "/ns/shop?q=is:failed",
  ],
  [
    "the home page of two namespaces, with all parts restricted to them",
    home(["data", "shop"]),
    [
      part("core/v1/pods", { namespaces: ["data", "shop"] }),
      part("apps/v1/deployments", { namespaces: ["data", "shop"] }),
    ],
    "/?q=is:failed",
  ],
];
for (const [name, choice, parts, to] of cases) {
  void test(`shared parts: ${name}`, () => {
    page();
    assert.deepEqual(partsOf(choice), parts);
    assert.equal(targetPath(choice, ""), to);
    page({ base: "/team/glasshouse", kiosk: "" });
    assert.equal(
      targetPath(choice, "/team/glasshouse"),
      to,
      "the target omits the base path, and the kiosk parameter unless it is requested",
    );
  });
}

void test("logs and events of the home page can be shared only if it reads pods and events", () => {
  assert.deepEqual([hasLogs(home([])), hasEvents(home([]))], [true, true]);
  const none = home([], { resources: [{ ref: "core/v1/nodes", namespaces: [] }] });
  assert.deepEqual([hasLogs(none), hasEvents(none)], [false, false]);
  assert.deepEqual([hasLogs(view), hasEvents(view), hasLogs(node), hasEvents(kinds)], [true, true, false, false]);
  const many = Array.from({ length: 120 }, (_, n) => ({ ref: `example.com/v1/kind${n}`, namespaces: [] }));
  assert.equal(
    partsOf(home([], { resources: many })).length,
    100,
    "at most 100 parts are shared, because the server accepts no more",
  );
});

void test("the request body of a new link contains the parts, the duration and the note", () => {
  page();
  assert.deepEqual(requestBody(object, "", 3600, " for the incident "), {
    parts: partsOf(object),
    to: "/o/core/v1/pods/shop/web-1",
    seconds: 3600,
    note: "for the incident",
  });
  assert.deepEqual(
    linkLifetimes.map((t) => t.seconds / 3600),
    [1, 24, 7 * 24, 30 * 24],
  );
});

void test("shared parts are described", () => {
  for (const [choice, want] of [
    [view, "Pods in shop with app=web that match “err”"],
    [{ ...object, logs: true, events: true }, "shop/web-1 (Pod), its log and Events about it"],
    [node, "node-1 (Node) and Events about it"],
    [
      { ...view, logs: true, events: true },
      "Pods in shop with app=web that match “err”, their logs and all Events in the same namespaces",
    ],
    [
      { ...view, logs: true, events: true, view: defaultView("core/v1/pods") },
      "all Pods, their logs and all Events in the same namespaces",
    ],
    [kinds, "Pods in data and shop and all Nodes"],
    [
      { what: "kinds", kinds: [pods, nodes, { ...pods, ref: "core/v1/services", resource: "services" }], ns: ["shop"] },
      "Pods, Nodes and services in shop",
    ],
    [{ what: "kinds", kinds: [pods], ns: ["a", "b", "c", "d", "e", "f", "g"] }, "Pods in a, b, c, d, e and 2 more"],
  ] as [ShareChoice, string][])
    assert.equal(partsText(partsOf(choice), listed), want);
  assert.equal(partsText(partsOf({ ...object, events: true }).slice(1), listed), "Events in shop about pod/web-1");
  assert.equal(partsText(partsOf(deployment).slice(1), listed), "Events in shop about deployment.apps/web");
});

void test("without a login, the text does not claim that a link restricts access", () => {
  const parts = partsOf(object);
  assert.equal(visibilityText(parts, listed, false), "Viewers see shop/web-1 (Pod), and nothing else.");
  assert.match(
    visibilityText(parts, listed, true),
    /^The link shows shop\/web-1 \(Pod\)\. .*anyone who can reach this address can already see everything/,
  );
  assert.ok(!visibilityText(parts, listed, true).includes("nothing else"));
  for (const open of [true, false]) assert.match(visibilityText([], listed, open), /^Select at least one resource/);
});

void test("sharing unmasked content shows a warning", () => {
  const words = (choice: ShareChoice): string | null => unmaskedText(partsOf(choice));
  assert.equal(words(object), null);
  assert.match(words({ ...object, logs: true }) ?? "", /^Logs are not masked/);
  assert.match(words({ ...object, events: true }) ?? "", /^Event messages are not masked/);
  assert.match(words({ ...object, logs: true, events: true }) ?? "", /^Logs and event messages are not masked/);
  assert.match(
    words({ what: "kinds", kinds: [{ ...pods, ref: "events.k8s.io/v1/events", resource: "events" }], ns: [] }) ?? "",
    /^Event messages are not masked/,
  );
});

const now = new Date(2026, 10, 21, 14, 3, 22).getTime();
const at = (hours: number): string => new Date(now + hours * 3_600_000).toISOString();

void test("the description of a link contains its expiry and use", () => {
  const link = {
    id: "a",
    to: "/",
    expires: at(23),
    created: at(-1),
    lastUsed: "",
    note: "",
    creator: "",
    viewers: 0,
    parts: [],
  };
  assert.equal(linkText(link, now), "expires in 23h · 0 viewing · never used");
  assert.equal(
    linkText({ ...link, creator: "anna", viewers: 1, lastUsed: at(-0.1) }, now),
    "by anna · expires in 23h · 1 viewing",
  );
  assert.equal(linkText({ ...link, viewers: 12, expires: at(-1) }, now), "expired · 12 viewing");
  assert.equal(linkText({ ...link, lastUsed: at(-0.5) }, now), "expires in 23h · 0 viewing · last used 30m ago");
});

void test("the expiry is formatted as a local time", () => {
  assert.equal(expiryText(at(1), now), "15:03");
  assert.equal(expiryText(at(24), now), "tomorrow 14:03");
  assert.equal(expiryText(at(48), now), "2026-11-23 14:03");
  assert.equal(expiryText("x", now), "");
});

void test("invalid responses are rejected", () => {
  for (const invalid of [null, 1, "x", [], {}, { shares: 1 }]) assert.equal(readLinks(invalid), null);
  assert.deepEqual(
    readLinks({
      shares: [
        1,
        null,
        {},
        {
          id: "a",
          viewers: "x",
          parts: [1, { resource: "core/v1/pods", namespaces: ["a", 1] }],
          creator: 3,
          lastUsed: null,
        },
      ],
      persistent: "yes",
    }),
    {
      links: [
        {
          id: "a",
          to: "",
          expires: "",
          created: "",
          lastUsed: "",
          note: "",
          creator: "",
          viewers: 0,
          parts: [part("core/v1/pods", { namespaces: ["a"] })],
        },
      ],
      persistent: false,
    },
  );
  assert.equal(readCreated({ id: "a" }), null);
  assert.equal(readCreated({ url: "http://x/share#t", persistent: true })?.url, "http://x/share#t");
});

void test("loopback addresses are recognized", () => {
  for (const host of ["localhost", "a.localhost", "127.0.0.1", "127.8.9.1", "[::1]"])
    assert.equal(isLoopback(host), true, host);
  for (const host of ["glasshouse.example.com", "localhost.example.com", "10.0.0.1", "127.0.0.1.example.com", "[::2]"])
    assert.equal(isLoopback(host), false, host);
});

void test("a kiosk link has the kiosk parameter before the #", () => {
  assert.equal(kioskUrl("https://x/base/share#token"), "https://x/base/share?kiosk=1#token");
});

void test("chosen items are first, and the filter does not hide them", () => {
  const lines = ["core/v1/pods", "core/v1/services", "apps/v1/deployments"].map((key) => ({
    key,
    text: key.split("/")[2] ?? "",
    detail: key.split("/")[0] ?? "",
  }));
  const keys = (chosen: string[], typed: string): string[] =>
    matchingLines(lines, new Set(chosen), typed).map((l) => l.text);
  assert.deepEqual(keys([], ""), ["pods", "services", "deployments"]);
  assert.deepEqual(keys(["apps/v1/deployments"], ""), ["deployments", "pods", "services"]);
  assert.deepEqual(keys(["apps/v1/deployments"], "serv"), ["deployments", "services"]);
  assert.deepEqual(keys([], "apps dep"), ["deployments"]);
  const services = ["APIServices", "Services"].map((text) => ({ key: text, text, detail: "" }));
  assert.deepEqual(
    matchingLines(services, new Set(), "serv").map((l) => l.text),
    ["Services", "APIServices"],
  );
});

void test("the QR code contains the link", () => {
  for (const url of [
    "http://127.0.0.1:8080/share#Zx1p0b8dA-_9qWcLm3rT5uVyKe2sHgJ4nOiPfXtCa7Y",
    "https://glasshouse.example.com/a/long/base/path/of/a/team/share?kiosk=1" +
      "#Zx1p0b8dA-_9qWcLm3rT5uVyKe2sHgJ4nOiPfXtCa7Y",
  ]) {
    const { d, size } = qrOutline(url);
    const scale = 4;
    const pixels = new Uint8ClampedArray((size * scale) ** 2 * 4).fill(255);
    for (const [, x = "", y = "", width = ""] of d.matchAll(/M(\d+) (\d+)h(\d+)v1H\d+z/g)) {
      for (let row = Number(y) * scale; row < (Number(y) + 1) * scale; row++) {
        for (let column = Number(x) * scale; column < (Number(x) + Number(width)) * scale; column++)
          pixels.fill(0, (row * size * scale + column) * 4, (row * size * scale + column) * 4 + 3);
      }
    }
    assert.equal(jsQR(pixels, size * scale, size * scale)?.data, url);
  }
});
