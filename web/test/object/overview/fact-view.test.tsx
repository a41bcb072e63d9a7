import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeCluster, tabData } from "../../fake-cluster.ts";
import { rendering, type Part } from "../../fake-page.ts";
import { factsOf } from "../../../static/src/object/facts/facts.ts";
import { OverviewTab } from "../../../static/src/object/overview/overview-tab.tsx";
import { SectionView } from "../../../static/src/object/overview/fact-view.tsx";
import { mount } from "../../../static/src/ui/view.tsx";

// Fakes of the CSS Custom Highlight API.
const highlights = new Map<string, Set<{ startOffset: number; endOffset: number }>>();
Object.assign(globalThis, {
  CSS: { highlights },
  Highlight: Set,
  StaticRange: class {
    constructor(range: object) {
      Object.assign(this, range);
    }
  },
});
const colored = (text: string): string[] =>
  [...highlights].flatMap(([name, ranges]) =>
    [...ranges].map((r) => `${name} ${text.slice(r.startOffset, r.endOffset)}`),
  );

void test("a long value of a ConfigMap is drawn only while it is open, with colors if it is YAML", async () => {
  const { part, element } = rendering();
  const object = { apiVersion: "v1", kind: "ConfigMap", data: { "app.yaml": "a: 1\nb: <b>2</b>\n", MODE: "prod" } };
  const [section] = factsOf(object);
  assert.ok(section);
  mount(element, <SectionView section={section} />);
  const details = part.querySelector(".long-value");
  assert.equal(details?.querySelector("summary")?.textContent, "17 B, 2 lines");
  assert.equal(part.querySelectorAll("pre").length, 0);
  const toggle = async (open: boolean): Promise<void> => {
    details?.fire("toggle", { currentTarget: { open } });
    mount(element, <SectionView section={section} />);
    await new Promise((done) => setTimeout(done, 5));
  };
  const value = "a: 1\nb: <b>2</b>\n";
  await toggle(true);
  const text = part.querySelector("pre")?.firstChild;
  assert.equal(part.querySelector("pre")?.textContent, value);
  assert.match(part.textContent, /prod/);
  assert.deepEqual(colored(value), ["yaml-key a", "yaml-key b", "yaml-number 1", "yaml-string <b>2</b>"]);
  assert.ok(text !== undefined);
  await toggle(false);
  assert.deepEqual(colored(value), [], "a closed value has no colors");
});

void test("the overview of a ConfigMap, a Secret or a role starts with its content", () => {
  const rules = [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }];
  const metadata = { name: "web", namespace: "shop", uid: "u" };
  const order = (ref: string, kind: string, more: object): string[] => {
    const tab = new OverviewTab(new FakeCluster({}).host(ref, kind, "web"));
    const apiVersion = ref.startsWith("core/") ? "v1" : ref.split("/").slice(0, 2).join("/");
    tab.show(tabData({ apiVersion, kind, metadata, ...more }));
    const parts = (tab.element as unknown as Part).querySelectorAll(".copy-bar, .facts, .column");
    tab.close();
    return parts.map((e) => e.classes.find((c) => ["copy-bar", "facts", "column"].includes(c)) ?? "");
  };
  const first = ["column", "facts", "copy-bar", "column"];
  assert.deepEqual(order("core/v1/configmaps", "ConfigMap", { data: { a: "1" } }), first);
  assert.deepEqual(order("core/v1/secrets", "Secret", { data: { a: "(masked)" } }), first);
  assert.deepEqual(order("rbac.authorization.k8s.io/v1/roles", "Role", { rules }), first);
  assert.deepEqual(order("rbac.authorization.k8s.io/v1/clusterroles", "ClusterRole", { rules }), first);
  assert.deepEqual(order("core/v1/services", "Service", {}), ["copy-bar", "column", "facts", "column"]);
});
