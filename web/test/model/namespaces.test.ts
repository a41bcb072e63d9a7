// Invariant: I19, I33.

import assert from "node:assert/strict";
import { test } from "node:test";
import "../fake-page.ts";
import { Rows } from "../../static/src/model/rows.ts";
import { missingNamespacesText, namespacesLabel } from "../../static/src/model/namespaces.ts";
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
