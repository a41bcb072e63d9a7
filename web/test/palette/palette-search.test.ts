// Invariant: I32.

import assert from "node:assert/strict";
import { test } from "node:test";
import { unsupportedHint, parseColon } from "../../static/src/palette/colon-command.ts";
import { PaletteSearch, rankKinds, type SearchContext } from "../../static/src/palette/palette-search.ts";
import { coverageDetails, searchCoverage } from "../../static/src/palette/search-coverage.ts";
import { Fuzzy } from "../../static/src/text/fuzzy.ts";
import type { ListedKind } from "../../static/src/net/kinds.ts";
import { Rows } from "../../static/src/model/rows.ts";
import { emptyResponse, type SearchResponse } from "../../static/src/net/search.ts";
import { defaultView } from "../../static/src/model/view.ts";
import { none } from "../verdicts.ts";

const kind = (ref: string, kind: string, short: string[], categories: string[] = [], namespaced = true): ListedKind => {
  const [group = "", , resource = ""] = ref.split("/");
  return {
    ref,
    kind,
    resource,
    group,
    short,
    categories,
    namespaced,
    isRare: false,
    section: "",
    searchText: "",
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
    verdict: none,
    cells: [key.split("/")[1] ?? ""],
  })),
});
const known: SearchContext = {
  kinds,
  pins: ["core/v1/nodes"],
  recent: ["apps/v1/deployments"],
  namespaces: ["data", "kube-system", "shop", "shop-old"],
  commands: [],
  contexts: null,
  view: { ...defaultView("core/v1/pods"), ns: ["shop"] },
  rows,
  windowTotal: null,
};
const labels = (typed: string, part: Partial<SearchContext> = {}): string[] =>
  new PaletteSearch().find(typed, { ...known, ...part }, emptyResponse).items.map((i) => i.label);

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
  void test(`${typed} finds ${want} first`, () => assert.equal(rankKinds(known, typed, new Fuzzy())[0]?.ref, want));

void test("an empty search lists pinned and recent kinds, except the kind of the page", () =>
  assert.deepEqual(labels("", { recent: ["core/v1/pods", "apps/v1/deployments"] }), ["Nodes", "Deployments"]));

void test("a kind has the count of the resource picker", () => {
  const counted = kinds.map((k) => ({ ...k, count: 7 }));
  const detail = (typed: string, ns: string[]): string | undefined =>
    new PaletteSearch().find(
      typed,
      { ...known, kinds: counted, view: { ...defaultView("core/v1/pods"), ns } },
      emptyResponse,
    ).items[0]?.detail;
  assert.deepEqual(
    [detail("deploy", []), detail("deploy", ["shop"]), detail("nodes", ["shop"])],
    ["deploy · apps · 7", "deploy · apps · 7", "no · 7"],
  );
});

void test("terms match in any order, in separate places, and without hyphens", () => {
  const objects = (typed: string): string[] => labels(typed).filter((l) => l.includes("/"));
  assert.deepEqual(objects("xyz web"), ["shop/web-7c9-xyz99"]);
  assert.deepEqual(objects("web-abc"), ["shop/web-7c9-abc12"]);
  assert.deepEqual(objects("app12"), ["data/app-12"]);
  assert.deepEqual(objects("zebra"), []);
});

void test(
  "an object whose name contains the text ranks before a kind with a similar name, " +
    "and after a kind whose name contains the text",
  () => {
    const other = kind("apiextensions.k8s.io/v1/customresourcedefinitions", "CustomResourceDefinition", ["crd"]);
    const answer: SearchResponse = {
      ...emptyResponse,
      results: [{ ref: "apps/v1/deployments", kind: "Deployment", ns: "shop", name: "storefront" }],
    };
    const labels = (typed: string): string[] =>
      new PaletteSearch().find(typed, { ...known, kinds: [...kinds, other] }, answer).items.map((i) => i.label);
    assert.deepEqual(labels("store").slice(0, 2), ["shop/storefront", "CustomResourceDefinitions"]);
    assert.deepEqual(labels("custom").slice(0, 2), ["CustomResourceDefinitions", "shop/storefront"]);
    assert.deepEqual(
      labels("definitions custom").slice(0, 1),
      ["CustomResourceDefinitions"],
      "words match in any order",
    );
    assert.deepEqual(
      labels("customresourcedefinitions.apiextensions").slice(0, 1),
      ["CustomResourceDefinitions"],
      "a kind matches with its API group",
    );
  },
);

void test("matching ranges are marked", () => {
  const item = new PaletteSearch().find("worker", known, emptyResponse).items.find((i) => i.label === "data/worker");
  assert.deepEqual(item?.ranges, [5, 11]);
});

void test("changed names are searched again", () => {
  const finder = new PaletteSearch();
  const found = (): number =>
    finder.find("fresh", known, emptyResponse).items.filter((i) => i.label === "data/fresh").length;
  assert.equal(found(), 0);
  rows.apply({
    id: 1,
    type: "row-events",
    cursor: "d",
    events: [
      {
        op: "add",
        row: { ns: "data", name: "fresh", uid: "f", rv: "2", created: "", verdict: none, cells: ["fresh"] },
      },
    ],
  });
  assert.equal(found(), 1);
});

void test("a namespace opens the current kind in it, or its pods if the kind is cluster-scoped", () => {
  const href = (ref: string): string | null | undefined =>
    new PaletteSearch()
      .find("kube-sys", { ...known, view: defaultView(ref), rows: null }, emptyResponse)
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
  void test(`${typed} opens ${want}`, () =>
    assert.equal(new PaletteSearch().find(typed, known, emptyResponse).items[0]?.href, want));

void test("unsupported k9s and vim commands show a hint", () => {
  for (const word of ["ctx", "context", "q", "q!", "wq", "delete", "pulses", "xray"])
    assert.match(unsupportedHint(word) ?? "", /\.$/);
  for (const word of ["po", "", "constructor", "toString"]) assert.equal(unsupportedHint(word), undefined);
  assert.deepEqual(new PaletteSearch().find(":ctx", known, emptyResponse).items, []);
  assert.match(new PaletteSearch().find(":ctx", known, emptyResponse).words, /one cluster/);
});

void test("the arguments of a colon command are parsed in any order", () =>
  assert.deepEqual(parseColon("  Deploy a=b shop /x y"), {
    word: "deploy",
    hasArguments: true,
    ns: "shop",
    labels: "a=b",
    filter: "x y",
  }));

void test("the palette names the searched resource types and objects", () => {
  const searched = [
    { ref: "core/v1/pods", state: "live", count: 12 },
    { ref: "apps/v1/deployments", state: "syncing", count: null },
  ];
  assert.equal(
    searchCoverage({ ...known, rows: null }, { ...emptyResponse, searched }),
    "Searched the names of 8 resource types and 4 namespaces. On the server: 12 Pods, Deployments (syncing).",
  );
  const kinds = (n: number): typeof searched =>
    Array.from({ length: n }, () => ({ ref: "core/v1/pods", state: "live", count: 1 }));
  assert.match(searchCoverage(known, { ...emptyResponse, searched: kinds(7) }), / 1 Pods, 1 more resource type\.$/);
  assert.match(searchCoverage(known, { ...emptyResponse, searched: kinds(9) }), / 1 Pods, 3 more resource types\.$/);
  assert.match(
    searchCoverage(known, { ...emptyResponse, error: "No." }),
    /^Searched the names of 8 resource types, 4 namespaces and 5 Pods in this list\. No\.$/,
  );
});

void test("the palette reports what the server has searched, what it still reads, and what it does not search", () => {
  const pods = { ref: "core/v1/pods", state: "live", count: 1200 };
  const maps = { ref: "core/v1/configmaps", state: "syncing", count: null };
  const listed = [...kinds, { ...kind("g/v1/k0", "K0", []), isRare: true }];
  const coverage = (response: Partial<SearchResponse>): string =>
    searchCoverage({ ...known, rows: null, kinds: listed }, { ...emptyResponse, omitted: [], ...response });
  const here = "Also searched: the names of 9 resource types and 4 namespaces.";
  assert.equal(
    coverage({ searched: [pods, maps] }),
    `Searched 1,200 objects of 1 of 2 resource types so far. The server is still reading others. ${here}`,
  );
  assert.equal(
    coverage({ searched: [pods, { ...maps, state: "live", count: 1 }] }),
    `Searched 1,201 objects of 2 resource types. ${here}`,
  );
  const omitted = [
    { ref: "core/v1/secrets", reason: "forbidden" },
    ...Array.from({ length: 7 }, (_, n) => ({ ref: `g/v1/k${n}`, reason: "unread" })),
    { ref: "example.com/v1/widgets", reason: "limit" },
  ];
  const searched = [
    { ...pods, state: "stale" },
    { ...maps, state: "failed" },
  ];
  assert.equal(
    coverage({ searched, omitted }),
    `Searched 1,200 objects of 1 resource type. ${here} Not searched: k1, k2, k3 and 4 more. ` +
      "Forbidden: secrets. Not searched, because there are too many custom resource types: widgets. " +
      "Not available: configmaps (failed). Possibly out of date: Pods.",
  );
  assert.equal(
    coverageDetails({ ...emptyResponse, searched: [...searched, maps], omitted }, listed)
      ?.split("\n")
      .slice(0, 3)
      .join("|"),
    "Searched: 1,200 Pods|Not read yet: configmaps|Not searched: k1, k2, k3, k4, k5, k6, K0",
  );
  assert.equal(coverageDetails(emptyResponse, listed), undefined);
});

void test("search results within a windowed list count as objects of the page", () => {
  const pod = (ns: string, name: string) => ({ ref: "core/v1/pods", kind: "Pod", ns, name });
  const answer: SearchResponse = {
    results: [
      pod("shop", "web-1"),
      pod("data", "web-2"),
      { ref: "apps/v1/deployments", kind: "Deployment", ns: "shop", name: "web" },
    ],
    searched: [{ ref: "core/v1/pods", state: "live", count: 120_000 }],
    omitted: null,
    error: "",
  };
  const windowed: SearchContext = { ...known, rows: null, windowTotal: 90_000 };
  const sections = (known: SearchContext): string[] =>
    new PaletteSearch()
      .find("web", known, answer)
      .items.filter((i) => ["In this list", "Other resources"].includes(i.section))
      .map((i) => `${i.section}: ${i.label}`);
  assert.deepEqual(sections(windowed), [
    "In this list: shop/web-1",
    "Other resources: data/web-2",
    "Other resources: shop/web",
  ]);
  assert.deepEqual(
    sections({ ...windowed, view: { ...defaultView("core/v1/pods"), labels: "app=web" } })[0],
    "Other resources: shop/web-1",
    "with a label selector, search results are not assigned to the list",
  );
  assert.match(
    searchCoverage(windowed, answer),
    /namespaces and 90,000 Pods in this list\. On the server: 120,000 Pods\.$/,
  );
  assert.equal(
    sections({ ...windowed, windowTotal: null })[0],
    "Other resources: shop/web-1",
    "results are not assigned to the list before the list is known to be a window",
  );
  assert.ok(
    !searchCoverage(windowed, {
      ...answer,
      searched: [{ ref: "core/v1/pods", state: "syncing", count: null }],
    }).includes("in this list"),
    "the list is not mentioned before its kind was searched",
  );
  assert.ok(
    !searchCoverage(windowed, emptyResponse).includes("in this list"),
    "the list is not mentioned before the server responds",
  );
});

void test(":home and :ns NAME open the home page, if the viewer has one", () => {
  const home = { label: "Home", group: "Page", keys: ["h"], scope: "page", run: () => undefined } as const;
  const find = (typed: string, commands: SearchContext["commands"] = [home]): (string | null)[] =>
    new PaletteSearch()
      .find(typed, { ...known, view: null, commands }, emptyResponse)
      .items.map((i) => i.href ?? i.label);
  assert.deepEqual(find(":home"), ["Home"]);
  assert.deepEqual(find(":ns shop"), ["/ns/shop", "/ns/shop-old"]);
  assert.deepEqual(find(":ns all"), ["/?ns="]);
  assert.deepEqual(find(":ns ").slice(0, 2), ["/?ns=", "/ns/data"], "without a name, all namespaces are offered");
  assert.deepEqual(find(":ns").includes("/ns/shop"), false);
  assert.deepEqual(find(":ns nope").at(-1), "/ns/nope");
  assert.deepEqual(find(":ns shop", []).includes("/ns/shop"), false);
});

void test("a custom resource does not replace a built-in resource of the same name, even if it is pinned", () => {
  const pony = kind("x.io/v1/ponies", "Pony", ["po", "no"]);
  const service = kind("serving.knative.dev/v1/services", "Service", ["ksvc"]);
  const metrics = kind("metrics.k8s.io/v1beta1/pods", "PodMetrics", []);
  const all = { kinds: [pony, service, metrics, ...kinds, kind("core/v1/services", "Service", ["svc"])] };
  const first = (word: string): string | undefined =>
    rankKinds({ ...all, pins: [pony.ref, service.ref], recent: [metrics.ref] }, word, new Fuzzy())[0]?.ref;
  assert.deepEqual(["po", "no", "pods", "services", "ponies", "ksvc", "services.serving.knative.dev"].map(first), [
    "core/v1/pods",
    "core/v1/nodes",
    "core/v1/pods",
    "core/v1/services",
    pony.ref,
    service.ref,
    service.ref,
  ]);
});

void test("a command with a colon finds API versions that are not preferred, after the preferred ones", () => {
  const preferred = kind("autoscaling/v2/horizontalpodautoscalers", "HorizontalPodAutoscaler", ["hpa"]);
  const old = kind("autoscaling/v1/horizontalpodautoscalers", "HorizontalPodAutoscaler", ["hpa"]);
  const versioned: SearchContext = { ...known, view: null, kinds: [...kinds, preferred], versions: [old] };
  const find = (text: string): string[] =>
    new PaletteSearch().find(text, versioned, emptyResponse).items.map((i) => `${i.href ?? ""} ${i.detail}`);
  assert.deepEqual(find(":hpa").slice(0, 2), [
    "/r/autoscaling/v2/horizontalpodautoscalers hpa · autoscaling",
    "/r/autoscaling/v1/horizontalpodautoscalers hpa · autoscaling/v1",
  ]);
  assert.match(find(":hpa.v1")[0] ?? "", /autoscaling\/v1/);
  assert.match(find(":horizontalpodautoscalers.v1.autoscaling")[0] ?? "", /autoscaling\/v1/);
  assert.match(find(":hpa.v2")[0] ?? "", /autoscaling\/v2/);
  assert.equal(find("hpa").filter((line) => line.includes("/v1/horizontal")).length, 0);
});

void test(":ns with a name selects the namespace for the list on the screen", () => {
  const at: SearchContext = { ...known, namespaces: ["shop", "data"], view: defaultView("core/v1/pods") };
  const [item] = new PaletteSearch().find(":ns shop", at, emptyResponse).items;
  assert.deepEqual([item?.label, item?.href], ["shop", "/r/core/v1/pods?ns=shop"]);
  assert.equal(new PaletteSearch().find(":ns zz", at, emptyResponse).words, "No namespaces match “zz”.");
});
