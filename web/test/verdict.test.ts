import assert from "node:assert/strict";
import { test } from "node:test";
import { Part } from "./page.ts";
import { VerdictView } from "../static/src/overview/verdict.ts";

void test("what is deleted is not told as well, and what is made anew is", () => {
  const view = new VerdictView();
  assert.ok((view.element as unknown) instanceof Part);
  const e: Part = view.element as unknown as Part;
  const told = (): string => `${e.getAttribute("data-verdict") ?? ""}: ${e.textContent.replace(/\s+/g, " ").trim()}`;
  const health = { status: "Current", summary: "4 of 4 replicas ready", details: [] } as const;
  view.show(health, false);
  assert.equal(told(), "Current: OK 4 of 4 replicas ready");
  view.show(health, true);
  assert.equal(told(), "Deleted: Deleted Showing its last state");
  assert.equal(e.getAttribute("title"), null);
  view.show(health, false);
  assert.equal(told(), "Current: OK 4 of 4 replicas ready");
});
