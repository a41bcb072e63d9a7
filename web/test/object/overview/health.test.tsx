import assert from "node:assert/strict";
import { test } from "node:test";
import { rendering } from "../../fake-page.ts";
import { HealthView } from "../../../static/src/object/overview/health.tsx";
import { mount } from "../../../static/src/ui/view.tsx";

void test("a deleted object shows no health, a recreated one does", () => {
  const { part, element } = rendering();
  const show = (isDeleted: boolean): string => {
    mount(element, <HealthView reported={health} isDeleted={isDeleted} />);
    const status = part.firstElementChild?.getAttribute("data-health") ?? "";
    return `${status}: ${part.textContent.replace(/\s+/g, " ").trim()}`;
  };
  const health = { status: "Current", summary: "4 of 4 replicas ready", details: [] } as const;
  assert.equal(show(false), "Current: OK 4 of 4 replicas ready");
  assert.equal(part.firstElementChild?.getAttribute("title"), "kstatus: Current");
  assert.equal(show(true), "Deleted: Deleted Showing its last state");
  assert.equal(part.firstElementChild?.getAttribute("title"), null);
  assert.equal(show(false), "Current: OK 4 of 4 replicas ready");
});
