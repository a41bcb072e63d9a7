import assert from "node:assert/strict";
import { test } from "node:test";
import { Part } from "../../fake-page.ts";
import { HealthView } from "../../../static/src/object/overview/health.ts";

void test("a deleted object shows no health, a recreated one does", () => {
  const view = new HealthView();
  assert.ok((view.element as unknown) instanceof Part);
  const e: Part = view.element as unknown as Part;
  const shownText = (): string =>
    `${e.getAttribute("data-health") ?? ""}: ${e.textContent.replace(/\s+/g, " ").trim()}`;
  const health = { status: "Current", summary: "4 of 4 replicas ready", details: [] } as const;
  view.show(health, false);
  assert.equal(shownText(), "Current: OK 4 of 4 replicas ready");
  view.show(health, true);
  assert.equal(shownText(), "Deleted: Deleted Showing its last state");
  assert.equal(e.getAttribute("title"), null);
  view.show(health, false);
  assert.equal(shownText(), "Current: OK 4 of 4 replicas ready");
});
