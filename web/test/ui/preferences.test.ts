import assert from "node:assert/strict";
import { test } from "node:test";
import {
  preferences,
  storeList,
  storedList,
  onListChangedElsewhere,
  withPreferredColumns,
} from "../../static/src/ui/preferences.ts";
import { defaultView } from "../../static/src/model/view.ts";

const browser = (get: () => unknown): void =>
  void Object.defineProperty(globalThis, "localStorage", { configurable: true, get });
const kept = new Map<string, string>();
const storage = {
  getItem: (key: string) => kept.get(key) ?? null,
  setItem: (key: string, value: string) => void kept.set(key, value),
  removeItem: (key: string) => void kept.delete(key),
};
const quotaExceeded = {
  ...storage,
  setItem: () => {
    throw new Error("QuotaExceededError");
  },
};

void test("without storage, preferences last as long as the page", () => {
  browser(() => {
    throw new Error("SecurityError");
  });
  assert.equal(preferences.get("wrap"), null);
  preferences.setFlag("wrap", true);
  storeList("pins", ["core/v1/pods"]);
  assert.deepEqual([preferences.get("wrap"), storedList("pins")], ["", ["core/v1/pods"]]);
  preferences.setFlag("wrap", false);
  storeList("pins", []);
  assert.deepEqual([preferences.get("wrap"), storedList("pins")], [null, []]);
});

void test("values that exceed the storage quota last as long as the page, other values are stored", () => {
  kept.set("wrap", "old");
  browser(() => quotaExceeded);
  preferences.set("wrap", "new");
  assert.deepEqual([preferences.get("wrap"), kept.get("wrap")], ["new", "old"]);
  browser(() => storage);
  preferences.set("wrap", "newer");
  assert.deepEqual([preferences.get("wrap"), kept.get("wrap")], ["newer", "newer"]);
  preferences.remove("wrap");
  assert.deepEqual([preferences.get("wrap"), kept.has("wrap")], [null, false]);
});

void test("only changes by another tab to the watched list are reported", () => {
  const page = new EventTarget();
  Object.defineProperty(globalThis, "addEventListener", {
    configurable: true,
    value: page.addEventListener.bind(page),
  });
  let notifications = 0;
  onListChangedElsewhere("pins", () => notifications++);
  for (const key of ["glasshouse.pins", "glasshouse.folded", null])
    page.dispatchEvent(Object.assign(new Event("storage"), { key }));
  assert.equal(notifications, 2);
});

void test("another list gets the columns that the user last chose for it, unless the view names columns", () => {
  const view = defaultView("core/v1/pods");
  storeList("columns.core/v1/pods", ["name", "ready"]);
  assert.deepEqual(withPreferredColumns(view).cols, ["name", "ready"]);
  assert.deepEqual(withPreferredColumns(view, "core/v1/nodes").cols, ["name", "ready"]);
  assert.deepEqual(withPreferredColumns(view, "core/v1/pods").cols, []);
  assert.deepEqual(withPreferredColumns({ ...view, cols: ["wide"] }).cols, ["wide"]);
  assert.deepEqual(withPreferredColumns(defaultView("core/v1/nodes")).cols, []);
});
