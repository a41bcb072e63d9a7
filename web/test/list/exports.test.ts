// Invariant: I19, I33.

import assert from "node:assert/strict";
import { test } from "node:test";
import "../fake-page.ts";
import { exportHref, exportName } from "../../static/src/list/exports.ts";
import { parseView } from "../../static/src/model/view.ts";
import type { Column } from "../../static/src/net/wire.ts";

const column = (name: string, priority = 0): Column => ({ name, type: "", format: "", priority, relative: false });
const columns = [column("Name"), column("Ready"), column("IP Address", 1)];

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
  const added: Column = { ...column("Last change", 1), extraAt: 0 };
  assert.equal(
    exportHref({ ...view, cols: ["wide"] }, [...columns, added], "rows", "json").split("&view=rows")[1],
    "&cols=namespace&cols=name&cols=ready&cols=ip+address&cols=last+change",
    "the server's wide columns do not contain an added column",
  );
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
