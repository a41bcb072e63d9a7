import assert from "node:assert/strict";
import { test } from "node:test";
import { isOdd, isolated, pieces, spelled } from "../static/src/odd.ts";

void test("text that is seen as it is stays one piece", () => {
  for (const text of ["", "web-1", "größe", "日本語", "שלום", "👩‍💻", "line\nline\ttab\r\n"]) {
    assert.equal(isOdd(text), false, text);
    assert.deepEqual(pieces(text).map((p) => p.text).join(""), text);
    assert.equal(spelled(text), text);
  }
});

void test("what is written from the right is kept apart from what stands beside it", () => {
  assert.equal(isolated("Running"), "Running");
  assert.equal(isolated("שלום"), "\u2068שלום\u2069");
  assert.equal(
    isolated("שלום\u2069 → \u202ex"),
    "\u2068שלום[U+2069] → [U+202E]x\u2069",
    "it does not end what keeps it apart",
  );
});

void test("what is not seen, or turns the order, is told by its number", () => {
  assert.deepEqual(pieces("admin\u202e\u2066nimda\u200b"), [
    { text: "admin", told: null },
    { text: "\u202e\u2066", told: "U+202E U+2066" },
    { text: "nimda", told: null },
    { text: "\u200b", told: "U+200B" },
  ]);
  assert.equal(spelled("a\u001b[31m\u{e0041}"), "a[U+001B][31m[U+E0041]");
});

void test("all that Unicode calls a control or a format character is told, " +
  "but for those that letters and signs need", () => {
  const needed =
    /[\t\n\r\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u200c\u200d\u{110bd}\u{110cd}\u{13430}-\u{1343f}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}]/u;
  for (let n = 0; n < 0x110000; n++) {
    const c = String.fromCodePoint(n);
    if (/[\p{Cc}\p{Cf}]/u.test(c)) assert.equal(isOdd(c), !needed.test(c), n.toString(16));
  }
});

void test("a flood of them stays bounded, and apart", () => {
  const flood = "\u202ex".repeat(5000);
  const some = pieces(flood);
  assert.equal(some.map((p) => p.text).join(""), flood);
  assert.equal(some.length, 65);
  assert.equal(some.at(-1)?.told, "");
  assert.equal(pieces("\u202e".repeat(5000))[0]?.told?.endsWith(" and 4968 more"), true);
});
