// Invariant: I19, I33.

import assert from "node:assert/strict";
import { test } from "node:test";
import "../fake-page.ts";
import { columnChoices, encodeColumns, columnsLabel, unknownColumnsText } from "../../static/src/model/column-set.ts";
import { exportHref, exportName } from "../../static/src/list/exports.ts";
import { Rows } from "../../static/src/model/rows.ts";
import { isNamespaceName, matchingNamespaces } from "../../static/src/list/namespace-chooser.tsx";
import { missingNamespacesText, namespacesLabel } from "../../static/src/model/namespaces.ts";
import { parseView } from "../../static/src/model/view.ts";
import type { Column } from "../../static/src/net/wire.ts";
import { none } from "../verdicts.ts";

const column = (name: string, priority = 0): Column => ({ name, type: "", format: "", priority, relative: false });
const columns = [column("Name"), column("Ready"), column("IP Address", 1)];

void test("the namespaces button names a few namespaces and counts many", () => {
  assert.deepEqual(
    [[], ["shop"], ["data", "shop"], ["a-very-long-namespace", "another-long-one"], ["a", "b", "c", "d", "e"]].map(
      namespacesLabel,
    ),
    ["All namespaces", "shop", "data, shop", "2 namespaces", "5 namespaces"],
  );
});

void test("missing namespaces are named once all namespaces are known", () => {
  const rows = new Rows();
  assert.equal(missingNamespacesText(["nope", "shop"], rows, null), null);
  rows.apply({
    id: 1,
    type: "rows",
    cursor: "c",
    columns,
    rows: [{ ns: "", name: "shop", uid: "", rv: "1", created: "", verdict: none, cells: ["shop", "1", ""] }],
    last: true,
  });
  assert.deepEqual(
    [
      ["a", "b", "shop"],
      ["shop", "shop"],
    ].map((ns) => missingNamespacesText(ns, rows, null)),
    ["Namespaces a and b do not exist.", null],
  );
  assert.deepEqual(
    [
      ["a", "b", "shop"],
      ["shop", "shop"],
    ].map((ns) => missingNamespacesText(ns, rows, "at 14:02:10")),
    ["Namespaces a and b did not exist at 14:02:10.", null],
  );
  assert.equal(missingNamespacesText(["nope", "shop"], null, null), null);
});

void test("namespaces are sorted by chosen, recent, then name", () => {
  assert.deepEqual(matchingNamespaces(["c", "a", "b", "d"], ["d"], ["c", "x"], ""), ["d", "c", "a", "b"]);
  assert.deepEqual(matchingNamespaces(["shop-1", "shop-2", "data"], [], [], "sho 2"), ["shop-2"]);
  assert.deepEqual(matchingNamespaces(["shop-1", "shop-2", "data"], [], [], "data, p-1"), ["data", "shop-1"]);
  assert.deepEqual(["shop", "a-1", "", "A", "-a", "a_b", "a".repeat(64)].map(isNamespaceName), [
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});

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

void test("the export URL matches the view", () => {
  const view = parseView(
    "/r/core/v1/pods",
    "?ns=a&ns=b&q=web+1&labels=app=web&sort=-age&cols=status&cols=gone&open=a/b",
    "",
  );
  assert.equal(
    exportHref(view, [column("Name"), column("Status")], "rows", "csv"),
    "/api/v1/snapshot/core/v1/pods?ns=a&ns=b&labels=app%3Dweb&q=web+1&sort=-age&format=csv&view=rows&cols=status",
  );
  assert.equal(exportHref({ ...view, cols: [] }, columns, "rows", "json").endsWith("&view=rows&cols=usual"), true);
  assert.equal(exportHref({ ...view, cols: ["wide"] }, columns, "rows", "json").endsWith("&cols=wide"), true);
  assert.equal(exportHref(view, columns, "objects", "yaml").endsWith("&format=yaml&view=objects"), true);
});

void test("the file name of an export contains the resource, namespaces and time", () => {
  const at = new Date(2026, 10, 21, 14, 5);
  const name = (search: string): string => exportName(parseView("/r/core/v1/pods", search, ""), "csv", at);
  assert.deepEqual(["?ns=shop", "", "?ns=a,b,c,d"].map(name), [
    "pods-shop-20261121T1405.csv",
    "pods-20261121T1405.csv",
    "pods-4-namespaces-20261121T1405.csv",
  ]);
});
