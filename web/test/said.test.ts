import assert from "node:assert/strict";
import { test } from "node:test";
import { Element } from "./element.ts";
import { Browser } from "./browser.ts";
import { drawHead, type Head } from "../static/src/columns.ts";
import type { Shape } from "../static/src/row.ts";
import { sayAfterTyping } from "../static/src/said.ts";

void test("what is found is said once typing has paused", () => {
  const browser = new Browser();
  const place = new Element("p");
  const page = globalThis as unknown as {
    document: { getElementById: () => Element };
    setTimeout: unknown;
    clearTimeout: unknown;
  };
  const { setTimeout: after, clearTimeout: cancel } = page;
  page.document.getElementById = () => place;
  page.setTimeout = (run: () => void, ms: number) => browser.after(ms, run);
  page.clearTimeout = (timer: unknown) => browser.cancel(timer);
  try {
    let found = "20 of 168 pods";
    sayAfterTyping(() => found);
    browser.pass(900);
    sayAfterTyping(() => found);
    browser.pass(900);
    assert.equal(place.textContent, "");
    found = "12 of 168 pods";
    browser.pass(100);
    assert.equal(place.textContent, "12 of 168 pods");
    sayAfterTyping(() => "");
    browser.pass(1000);
    assert.equal(place.textContent, "12 of 168 pods");
  } finally {
    Object.assign(page, { setTimeout: after, clearTimeout: cancel });
  }
});

void test("a table tells how many columns it has", () => {
  const head = { thead: new Element("thead"), colgroup: new Element("colgroup"), table: new Element("table") };
  const column = (name: string, index: number): object => ({ name, index });
  for (const namespace of [true, false]) {
    drawHead(
      head as unknown as Head,
      { namespace, columns: ["Name", "Ready", "Age"].map(column) } as unknown as Shape,
      null,
    );
    assert.equal(head.table.getAttribute("aria-colcount"), namespace ? "4" : "3");
  }
});
