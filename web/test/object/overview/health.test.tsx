import assert from "node:assert/strict";
import { test } from "node:test";
import { rendering } from "../../fake-page.ts";
import { HealthView } from "../../../static/src/object/overview/health.tsx";
import { mount } from "../../../static/src/ui/view.tsx";

void test("a deleted object shows no health, a recreated one does", () => {
  const { part, element } = rendering();
  const show = (isDeleted: boolean): string => {
    mount(element, <HealthView health={health} verdict={verdict} isDeleted={isDeleted} />);
    const status = part.firstElementChild?.getAttribute("data-health") ?? "";
    return `${status}: ${part.textContent.replace(/\s+/g, " ").trim()}`;
  };
  const verdict = { severity: "ok", reason: "", sentence: "" } as const;
  const health = { status: "Current", summary: "4 of 4 replicas ready", details: [] } as const;
  assert.equal(show(false), "ok: OK 4 of 4 replicas ready");
  assert.equal(show(true), "deleted: Deleted Showing its last state");
  assert.equal(show(false), "ok: OK 4 of 4 replicas ready");
});

void test("an object without a verdict shows no health", () => {
  const { part, element } = rendering();
  const health = { status: "Current", summary: "", details: [] } as const;
  const verdict = { severity: "none", reason: "", sentence: "" } as const;
  mount(element, <HealthView health={health} verdict={verdict} isDeleted={false} />);
  assert.equal(part.childElementCount, 0);
});

void test("an error of a health script is shown", () => {
  const { part, element } = rendering();
  const summary = "The health script failed: example.com_Widget: line 1: attempt to index a nil value";
  const health = { status: "Unknown", summary, details: [] } as const;
  const verdict = { severity: "none", reason: "Unknown", sentence: "" } as const;
  mount(element, <HealthView health={health} verdict={verdict} isDeleted={false} />);
  assert.equal(part.firstElementChild?.getAttribute("data-health"), "unknown");
  assert.equal(part.textContent.replace(/\s+/g, " ").trim(), `Unknown ${summary}`);
  mount(element, <HealthView health={health} verdict={{ ...verdict, reason: "Other" }} isDeleted={false} />);
  assert.equal(part.childElementCount, 0, "another reason does not mean that a script failed");
});

void test("the verdict replaces the summary of the health", () => {
  const { part, element } = rendering();
  const health = { status: "InProgress", summary: "0 of 2 replicas ready", details: ["2 replicas updated"] } as const;
  const verdict = {
    severity: "failed",
    reason: "CrashLoopBackOff",
    sentence: "container app: CrashLoopBackOff",
  } as const;
  mount(element, <HealthView health={health} verdict={verdict} isDeleted={false} />);
  assert.match(part.textContent, /Failed\s+container app: CrashLoopBackOff\s+2 replicas updated/);
});

void test("a sentence that begins with the severity does not repeat it", () => {
  const { part, element } = rendering();
  const verdict = { severity: "failed", reason: "Evicted", sentence: "Failed: Evicted: out of memory" } as const;
  mount(element, <HealthView health={null} verdict={verdict} isDeleted={false} />);
  assert.equal(part.textContent.replace(/\s+/g, " ").trim(), "Failed Evicted: out of memory");
});

void test("the cause does not repeat the sentence of the verdict", () => {
  const { part, element } = rendering();
  const sentence = "Container app: CrashLoopBackOff";
  const verdict = { severity: "failed", reason: "CrashLoopBackOff", sentence } as const;
  const cause = { resource: "core/v1/pods", kind: "Pod", ns: "a", name: "web-1", sentence, isMissing: false };
  mount(element, <HealthView health={null} verdict={verdict} isDeleted={false} cause={cause} />);
  const text = part.textContent.replace(/\s+/g, " ").trim();
  assert.equal(text, `Failed ${sentence} Cause Pod web-1`);
});
