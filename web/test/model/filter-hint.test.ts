import assert from "node:assert/strict";
import { test } from "node:test";
import { filterHint, labelHint } from "../../static/src/model/filter-hint.ts";

for (const [q, want] of [
  ["web-1", ""],
  ["shop/checkout Running 10.0.0.1 app-v2.1 is:failed", ""],
  ["or and", ""],
  ["-", ""],
  ['web "a b"', "Quotes and wildcards have no special meaning"],
  ["web-*", "Quotes and wildcards have no special meaning"],
  ["web IS:nonsense", "“IS:nonsense” is not a known filter word. Known: is:failing, is:failed, "],
  ["shop -checkout", "does not support “-checkout”. It cannot exclude words. To exclude a label, type app!=web"],
  ["!checkout", "does not support “!checkout”. It cannot exclude words."],
  ["ns:shop", "does not support “ns:shop”. Type only shop, or select the namespace in the header."],
  ["Namespace:shop", "Type only shop, or select the namespace"],
  ["status:Running", "does not support “status:Running”. Type only the value: Running."],
  ["node:a-01", "Type only the value: a-01."],
  ["label:app=web", "does not support “label:app=web”. Type app=web into the field “Labels”."],
  ["app=web", "does not support “app=web”. Type app=web into the field “Labels”."],
  ["restarts>3", "does not support “restarts>3”. It cannot compare values. To sort by a value, click"],
  ["age<10m", "It cannot compare values."],
  ["restarts>=3", "It cannot compare values."],
  ["checkout OR cart", "does not support “OR”. Each result contains all words of the filter"],
  ["checkout | cart", "does not support “|”."],
] as const)
  void test(`the hint about the filter ${JSON.stringify(q)}`, () => {
    if (want === "") assert.equal(filterHint(q), "");
    else assert.ok(filterHint(q).includes(want), filterHint(q));
  });

void test("a page without a label selector does not suggest it", () => {
  for (const q of ["-checkout", "app=web", "label:app=web", "restarts>3"])
    assert.doesNotMatch(filterHint(q, false), /Labels|header/, q);
  assert.match(filterHint("-checkout", false), /cannot exclude words\.$/);
  assert.match(filterHint("ns:shop", false), /Type only shop, or search for :ns shop\.$/);
});

for (const [labels, key] of [
  ["checkout", "checkout"],
  ["app=web, checkout", "checkout"],
  ["example.com/team", ""],
  ["app=web", ""],
  ["!checkout", ""],
  ["app in (a, b),tier!=x", ""],
  ["", ""],
] as const)
  void test(`the hint about the label selector ${JSON.stringify(labels)}`, () => {
    const want = `“${key}” selects only objects that have a label with the key ${key}. To select by value, type`;
    if (key === "") assert.equal(labelHint(labels), "");
    else assert.equal(labelHint(labels), `${want} the key, too: app=${key}.`);
  });
