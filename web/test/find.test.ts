import assert from "node:assert/strict";
import { test } from "node:test";
import { instead, parseColon } from "../static/src/colon.ts";
import { Finder, lookedThrough, rankKinds, type Known } from "../static/src/find.ts";
import { Fuzzy } from "../static/src/fuzzy.ts";
import type { Listed } from "../static/src/kinds.ts";
import { Rows } from "../static/src/rows.ts";
import { none, type Answer } from "../static/src/search.ts";
import { plain } from "../static/src/view.ts";

const kind = (ref: string, kind: string, short: string[], categories: string[] = [], namespaced = true): Listed => {
  const [group = "", , resource = ""] = ref.split("/");
  return {
    ref,
    kind,
    resource,
    group,
    short,
    categories,
    namespaced,
    section: "",
    words: "",
    state: "",
    reason: "",
    count: null,
    namespaces: 0,
  };
};
const kinds = [
  kind("core/v1/pods", "Pod", ["po"], ["all"]),
  kind("apps/v1/deployments", "Deployment", ["deploy"], ["all"]),
  kind("core/v1/nodes", "Node", ["no"], [], false),
  kind("policy/v1/poddisruptionbudgets", "PodDisruptionBudget", ["pdb"]),
  kind("core/v1/podtemplates", "PodTemplate", []),
  kind("networking.k8s.io/v1/networkpolicies", "NetworkPolicy", ["netpol"]),
  kind("events.k8s.io/v1/events", "Event", ["ev"]),
  kind("core/v1/events", "Event", ["ev"]),
];
const rows = new Rows();
rows.apply({
  id: 1,
  type: "rows",
  cursor: "c",
  columns: [{ name: "Name", type: "", format: "", priority: 0, relative: false }],
  last: true,
  rows: ["shop/web-7c9-abc12", "shop/web-7c9-xyz99", "data/app-12", "data/worker"].map((key) => ({
    ns: key.split("/")[0] ?? "",
    name: key.split("/")[1] ?? "",
    uid: key,
    rv: "1",
    created: "",
    cells: [key.split("/")[1] ?? ""],
  })),
});
const known: Known = {
  kinds,
  pins: ["core/v1/nodes"],
  recent: ["apps/v1/deployments"],
  namespaces: ["data", "kube-system", "shop", "shop-old"],
  commands: [],
  contexts: null,
  view: { ...plain("core/v1/pods"), ns: ["shop"] },
  rows,
  kept: null,
};
const labels = (typed: string, part: Partial<Known> = {}): string[] =>
  new Finder().find(typed, { ...known, ...part }, none).items.map((i) => i.label);

const first: [string, string][] = [
  ["po", "core/v1/pods"],
  ["pod", "core/v1/pods"],
  ["PODS", "core/v1/pods"],
  ["deploy", "apps/v1/deployments"],
  ["netpol", "networking.k8s.io/v1/networkpolicies"],
  ["pdb", "policy/v1/poddisruptionbudgets"],
  ["disruption", "policy/v1/poddisruptionbudgets"],
  ["events.events.k8s.io", "events.k8s.io/v1/events"],
  ["all", "apps/v1/deployments"],
  ["policy", "policy/v1/poddisruptionbudgets"],
];
for (const [typed, want] of first)
  void test(`${typed} means ${want} before all others`, () =>
    assert.equal(rankKinds(known, typed, new Fuzzy())[0]?.ref, want));

void test("with nothing typed pins and recent kinds are offered, but for the page's own", () =>
  assert.deepEqual(labels("", { recent: ["core/v1/pods", "apps/v1/deployments"] }), ["Nodes", "Deployments"]));

void test("terms may be apart, in any order, and leave out a hyphen", () => {
  const objects = (typed: string): string[] => labels(typed).filter((l) => l.includes("/"));
  assert.deepEqual(objects("xyz web"), ["shop/web-7c9-xyz99"]);
  assert.deepEqual(objects("web-abc"), ["shop/web-7c9-abc12"]);
  assert.deepEqual(objects("app12"), ["data/app-12"]);
  assert.deepEqual(objects("zebra"), []);
});

void test("an object that has what is typed stands before a kind that is only spelled alike, " +
  "and behind one that has it", () => {
  const other = kind("apiextensions.k8s.io/v1/customresourcedefinitions", "CustomResourceDefinition", ["crd"]);
  const answer: Answer = {
    ...none,
    results: [{ ref: "apps/v1/deployments", kind: "Deployment", ns: "shop", name: "storefront" }],
  };
  const labels = (typed: string): string[] =>
    new Finder().find(typed, { ...known, kinds: [...kinds, other] }, answer).items.map((i) => i.label);
  assert.deepEqual(labels("store").slice(0, 2), ["shop/storefront", "CustomResourceDefinitions"]);
  assert.deepEqual(labels("custom").slice(0, 2), ["CustomResourceDefinitions", "shop/storefront"]);
  assert.deepEqual(labels("definitions custom").slice(0, 1), ["CustomResourceDefinitions"], "in any order");
  assert.deepEqual(
    labels("customresourcedefinitions.apiextensions").slice(0, 1),
    ["CustomResourceDefinitions"],
    "with its group",
  );
});

void test("what matches is marked", () => {
  const item = new Finder().find("worker", known, none).items.find((i) => i.label === "data/worker");
  assert.deepEqual(item?.ranges, [5, 11]);
});

void test("names that have changed are looked through anew", () => {
  const finder = new Finder();
  const found = (): number => finder.find("fresh", known, none).items.filter((i) => i.label === "data/fresh").length;
  assert.equal(found(), 0);
  rows.apply({
    id: 1,
    type: "row-events",
    cursor: "d",
    events: [{ op: "add", row: { ns: "data", name: "fresh", uid: "f", rv: "2", created: "", cells: ["fresh"] } }],
  });
  assert.equal(found(), 1);
});

void test("a namespace leads to the same kind in it; from a kind without any, to its pods", () => {
  const href = (ref: string): string | null | undefined =>
    new Finder()
      .find("kube-sys", { ...known, view: plain(ref), rows: null }, none)
      .items.find((i) => i.label === "kube-system")?.href;
  assert.equal(href("apps/v1/deployments"), "/r/apps/v1/deployments?ns=kube-system");
  assert.equal(href("core/v1/nodes"), "/r/core/v1/pods?ns=kube-system");
});

const colons: [string, string | null | undefined][] = [
  [":po", "/r/core/v1/pods?ns=shop"],
  [":deploy data", "/r/apps/v1/deployments?ns=data"],
  [":deploy shop", "/r/apps/v1/deployments?ns=shop"],
  [":deploy sh", "/r/apps/v1/deployments?ns=shop"],
  [":deploy all", "/r/apps/v1/deployments"],
  [":deploy ", "/r/apps/v1/deployments"],
  [":po app=web,tier=front data", "/r/core/v1/pods?ns=data&labels=app=web,tier=front"],
  [":po data /crash loop", "/r/core/v1/pods?ns=data&q=crash+loop"],
  [":no shop", "/r/core/v1/nodes"],
  [":po elsewhere", "/r/core/v1/pods?ns=elsewhere"],
];
for (const [typed, want] of colons)
  void test(`${typed} goes to ${want}`, () => assert.equal(new Finder().find(typed, known, none).items[0]?.href, want));

void test("words of k9s and vim that mean nothing here say what there is", () => {
  for (const word of ["ctx", "context", "q", "q!", "wq", "delete", "pulses", "xray"])
    assert.match(instead(word) ?? "", /\.$/);
  for (const word of ["po", "", "constructor", "toString"]) assert.equal(instead(word), undefined);
  assert.deepEqual(new Finder().find(":ctx", known, none).items, []);
  assert.match(new Finder().find(":ctx", known, none).words, /one cluster/);
});

void test("a colon's text is read in any order", () =>
  assert.deepEqual(parseColon("  Deploy a=b shop /x y"), {
    word: "deploy",
    through: true,
    ns: "shop",
    labels: "a=b",
    filter: "x y",
  }));

void test("what was looked through is said", () => {
  const searched = [
    { ref: "core/v1/pods", state: "live", count: 12 },
    { ref: "apps/v1/deployments", state: "syncing", count: null },
  ];
  assert.equal(
    lookedThrough({ ...known, rows: null }, { ...none, searched }),
    "Searched the names of 8 resource types and 4 namespaces. On the server: 12 pods, deployments (syncing).",
  );
  const kinds = (n: number): typeof searched =>
    Array.from({ length: n }, () => ({ ref: "core/v1/pods", state: "live", count: 1 }));
  assert.match(lookedThrough(known, { ...none, searched: kinds(7) }), / 1 pods, 1 more resource type\.$/);
  assert.match(lookedThrough(known, { ...none, searched: kinds(9) }), / 1 pods, 3 more resource types\.$/);
  assert.match(
    lookedThrough(known, { ...none, trouble: "No." }),
    /^Searched the names of 8 resource types, 4 namespaces and 5 Pods in this list\. No\.$/,
  );
});

void test("of rows that the server keeps those that it finds are the page's", () => {
  const pod = (ns: string, name: string) => ({ ref: "core/v1/pods", kind: "Pod", ns, name });
  const answer: Answer = {
    results: [
      pod("shop", "web-1"),
      pod("data", "web-2"),
      { ref: "apps/v1/deployments", kind: "Deployment", ns: "shop", name: "web" },
    ],
    searched: [{ ref: "core/v1/pods", state: "live", count: 120_000 }],
    trouble: "",
  };
  const windowed: Known = { ...known, rows: null, kept: 90_000 };
  const sections = (known: Known): string[] =>
    new Finder()
      .find("web", known, answer)
      .items.filter((i) => ["In this list", "Other resources"].includes(i.section))
      .map((i) => `${i.section}: ${i.label}`);
  assert.deepEqual(sections(windowed), [
    "In this list: shop/web-1",
    "Other resources: data/web-2",
    "Other resources: shop/web",
  ]);
  assert.deepEqual(
    sections({ ...windowed, view: { ...plain("core/v1/pods"), labels: "app=web" } })[0],
    "Other resources: shop/web-1",
    "it may have other labels",
  );
  assert.match(
    lookedThrough(windowed, answer),
    /namespaces and 90,000 Pods in this list\. On the server: 120,000 pods\.$/,
  );
  assert.equal(
    sections({ ...windowed, kept: null })[0],
    "Other resources: shop/web-1",
    "before it is known that the server keeps them",
  );
  assert.ok(
    !lookedThrough(windowed, {
      ...answer,
      searched: [{ ref: "core/v1/pods", state: "syncing", count: null }],
    }).includes("in this list"),
    "before they were looked through",
  );
  assert.ok(!lookedThrough(windowed, none).includes("in this list"), "before the server has");
});
