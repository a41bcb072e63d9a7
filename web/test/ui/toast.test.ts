import assert from "node:assert/strict";
import { test } from "node:test";
import { Element } from "../fake-element.ts";
import { Browser } from "../fake-browser.ts";
import { showToastAfterTyping } from "../../static/src/ui/toast.ts";

void test("the number of matches is announced once typing has paused", () => {
  const browser = new Browser();
  const toast = new Element("p");
  const page = globalThis as unknown as {
    document: { getElementById: () => Element };
    setTimeout: unknown;
    clearTimeout: unknown;
  };
  const { setTimeout: after, clearTimeout: cancel } = page;
  page.document.getElementById = () => toast;
  page.setTimeout = (run: () => void, ms: number) => browser.after(ms, run);
  page.clearTimeout = (timer: unknown) => browser.cancel(timer);
  try {
    let found = "20 of 168 pods";
    showToastAfterTyping(() => found);
    browser.advance(900);
    showToastAfterTyping(() => found);
    browser.advance(900);
    assert.equal(toast.textContent, "");
    found = "12 of 168 pods";
    browser.advance(100);
    assert.equal(toast.textContent, "12 of 168 pods");
    assert.equal(
      toast.getAttribute("data-quiet"),
      "",
      "the toast is only for screen readers, because the header shows the count",
    );
    showToastAfterTyping(() => "");
    browser.advance(1000);
    assert.equal(toast.textContent, "12 of 168 pods");
  } finally {
    Object.assign(page, { setTimeout: after, clearTimeout: cancel });
  }
});
