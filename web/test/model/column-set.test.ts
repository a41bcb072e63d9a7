// Invariant: I19, I33.

import assert from "node:assert/strict";
import { test } from "node:test";
import "../fake-page.ts";
import { columnChoices, encodeColumns, columnsLabel, unknownColumnsText } from "../../static/src/model/column-set.ts";
import { parseView } from "../../static/src/model/view.ts";
import type { Column } from "../../static/src/net/wire.ts";

const column = (name: string, priority = 0): Column => ({ name, type: "", format: "", priority, relative: false });
const columns = [column("Name"), column("Ready"), column("IP Address", 1)];

const sets: [string[], string[], string[]][] = [
  [[], ["namespace", "name", "ready"], []],
  [["wide"], ["namespace", "name", "ready", "ip address"], ["wide"]],
  [["ip address"], ["name", "ip address"], ["name", "ip address"]],
  [["namespace", "name", "ready"], ["namespace", "name", "ready"], []],
];
for (const [cols, shown, back] of sets) {
  void test(`the URL parameter cols=${cols.join()} shows ${shown.join()}`, () => {
    const all = columnChoices(columns, true, cols);
    assert.deepEqual(
      all.filter((c) => c.shown).map((c) => c.name),
      shown,
    );
    assert.deepEqual(encodeColumns(all), back);
  });
}

void test("the columns button shows how many columns are chosen", () =>
  assert.deepEqual([[], ["wide"], ["name"], ["name", "ready"]].map(columnsLabel), [
    "Columns",
    "All columns",
    "Columns: 1",
    "Columns: 2",
  ]));

void test("unknown columns are reported with the list of existing ones", () => {
  const words = (search: string, namespaced = true, all = columns): string | null => {
    const { sort, cols } = parseView("/r/core/v1/pods", search, "");
    return unknownColumnsText(all, namespaced, sort, cols);
  };
  for (const search of [
    "",
    "?sort=-ready&cols=IP+Address&cols=namespace",
    "?sort=namespace&cols=wide",
    "?sort=-severity",
    "?sort=auto",
  ])
    assert.equal(words(search), null, search);
  assert.equal(words("?sort=-colour"), "No column “colour” to sort by. Available: namespace, name, ready, ip address.");
  assert.equal(
    words("?sort=Colour&cols=a&cols=name&cols=b", false),
    "No column “colour” to sort by, and no column “a” or “b” to show. Available: name, ready, ip address.",
  );
  assert.equal(
    words("?cols=wide&cols=name"),
    "No column “wide” to show. Available: namespace, name, ready, ip address.",
  );
  assert.match(
    words("?cols=severity") ?? "",
    /^No column “severity” to show/,
    "the column Why is not a valid column to choose",
  );
  assert.equal(words("?sort=colour", true, []), null, "no note is shown before the columns are known");
});
