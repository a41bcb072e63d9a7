// Invariant: I34.

import assert from "node:assert/strict";
import { test } from "node:test";
import { hasInvisible, isolateText, splitInvisible, escapeInvisible } from "../../static/src/text/invisible-chars.ts";

void test("plain text stays one part", () => {
  for (const text of ["", "web-1", "größe", "日本語", "שלום", "👩‍💻", "line\nline\ttab\r\n"]) {
    assert.equal(hasInvisible(text), false, text);
    assert.deepEqual(
      splitInvisible(text)
        .map((p) => p.text)
        .join(""),
      text,
    );
    assert.equal(escapeInvisible(text), text);
  }
});

void test("right-to-left text does not change the direction of the text around it", () => {
  assert.equal(isolateText("Running"), "Running");
  assert.equal(isolateText("שלום"), "\u2068שלום\u2069");
  assert.equal(
    isolateText("שלום\u2069 → \u202ex"),
    "\u2068שלום[U+2069] → [U+202E]x\u2069",
    "invisible characters in the text cannot end the isolation",
  );
});

void test("invisible and direction-changing characters are shown as code points", () => {
  assert.deepEqual(splitInvisible("admin\u202e\u2066nimda\u200b"), [
    { text: "admin", codePoints: null },
    { text: "\u202e\u2066", codePoints: "U+202E U+2066" },
    { text: "nimda", codePoints: null },
    { text: "\u200b", codePoints: "U+200B" },
  ]);
  assert.equal(escapeInvisible("a\u001b[31m\u{e0041}"), "a[U+001B][31m[U+E0041]");
});

void test(
  "all Unicode control and format characters are shown as code points, " + "except those that scripts and symbols need",
  () => {
    const needed = new RegExp(
      "[\\t\\n\\r\\u0600-\\u0605\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u200c\\u200d" +
        "\\u{110bd}\\u{110cd}\\u{13430}-\\u{1343f}\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}]",
      "u",
    );
    for (let n = 0; n < 0x110000; n++) {
      const c = String.fromCodePoint(n);
      if (/[\p{Cc}\p{Cf}]/u.test(c)) assert.equal(hasInvisible(c), !needed.test(c), n.toString(16));
    }
  },
);

void test("the code points of many invisible characters are truncated and isolated", () => {
  const manyInvisible = "\u202ex".repeat(5000);
  const some = splitInvisible(manyInvisible);
  assert.equal(some.map((p) => p.text).join(""), manyInvisible);
  assert.equal(some.length, 65);
  assert.equal(some.at(-1)?.codePoints, "");
  assert.equal(splitInvisible("\u202e".repeat(5000))[0]?.codePoints?.endsWith(" and 4968 more"), true);
});
