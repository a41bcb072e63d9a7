// Invariant: I19, I33.

import assert from "node:assert/strict";
import { test } from "node:test";
import "../fake-page.ts";
import { isNamespaceName, matchingNamespaces } from "../../static/src/list/namespace-chooser.tsx";

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
