import assert from "node:assert/strict";
import { test } from "node:test";
import { rendering } from "../../fake-page.ts";
import { readExplanation } from "../../../static/src/object/overview/explanation.ts";
import { AffectedObjects, Chain, Unexamined } from "../../../static/src/object/overview/explanation-view.tsx";
import { Overview } from "../../../static/src/object/overview/fact-view.tsx";
import { mount } from "../../../static/src/ui/view.tsx";
import type { ComponentChild } from "preact";

const ingress = {
  resource: "networking.k8s.io/v1/ingresses",
  kind: "Ingress",
  ns: "shop",
  name: "edge",
  severity: "failed",
  state: "there",
  rule: "shop.example.com/",
};
const service = { resource: "core/v1/services", kind: "Service", ns: "shop", name: "web", severity: "failed" };
const pod = { resource: "core/v1/pods", kind: "Pod", ns: "other", name: "web-1", severity: "degraded", state: "there" };
const map = { resource: "core/v1/configmaps", kind: "ConfigMap", ns: "shop", name: "env", severity: "none" };

const parts = rendering();

function render(view: ComponentChild): string {
  mount(
    parts.element,
    <Overview.Provider
      value={{ href: () => null, hrefOf: (ref, { ns, name }) => `${ref}/${ns}/${name}`, headingLevel: undefined }}
    >
      {view}
    </Overview.Provider>,
  );
  return parts.part.textContent.replace(/\s+/g, " ").trim();
}

void test("invalid parts of an explanation are skipped", () => {
  const e = readExplanation({
    chain: [7, { ...service, severity: "bad", state: 1 }],
    affected: "x",
    affectedTotal: -1,
  });
  assert.deepEqual(e, {
    chain: [{ ...service, severity: "none", sentence: "", rule: "", state: "unknown" }],
    affected: [],
    affectedTotal: 0,
    related: "",
    unexamined: [],
  });
});

void test("the path links each object except the first one, and marks the cause", () => {
  const { chain } = readExplanation({
    chain: [ingress, service, pod, { ...map, state: "missing", sentence: "ConfigMap env does not exist" }],
  });
  const text = render(<Chain hops={chain} />);
  assert.equal(
    text,
    "Ingress edge Rule shop.example.com/ Service web not examined Pod other/web-1 ConfigMap env missing Cause",
  );
  const hops = parts.part.querySelectorAll(".hop");
  assert.deepEqual(
    hops.map((hop) => hop.getAttribute("data-severity")),
    ["failed", null, "failed", "degraded", "failed"],
  );
  assert.deepEqual(
    hops.map((hop) => hop.querySelector("a")?.getAttribute("href") ?? ""),
    ["", "", "core/v1/services/shop/web", "core/v1/pods/other/web-1", ""],
  );
  assert.equal(hops.filter((hop) => hop.getAttribute("data-cause") !== null).length, 1);
});

void test("the affected objects are counted, and the first ones are shown", () => {
  const objects = Array.from({ length: 100 }, (_, i) => ({ ...pod, name: `web-${i}` }));
  const explanation = readExplanation({ affected: objects, affectedTotal: 250 });
  const text = render(<AffectedObjects explanation={explanation} resource="core/v1/nodes" ns="" />);
  assert.match(text, /^Affects \(250\) Pod other\/web-0 .* Pod other\/web-7 Show 100$/);
  parts.part.querySelector("button")?.click();
  render(<AffectedObjects explanation={explanation} resource="core/v1/nodes" ns="" />);
  const all = render(<AffectedObjects explanation={explanation} resource="core/v1/nodes" ns="" />);
  assert.match(all, /Pod other\/web-99 and 150 more Show fewer$/);
  assert.equal(render(<AffectedObjects explanation={readExplanation({})} resource="core/v1/nodes" ns="" />), "");
});

void test("sentences about resources that were not examined are listed", () => {
  assert.equal(render(<Unexamined sentences={["Node: stale."]} />), "Not examined Node: stale.");
  assert.equal(render(<Unexamined sentences={[]} />), "");
});
