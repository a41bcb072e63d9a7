import assert from "node:assert/strict";
import { test } from "node:test";
import { habits, store, stored, storedElsewhere } from "../static/src/stored.ts";

const browser = (get: () => unknown): void =>
  void Object.defineProperty(globalThis, "localStorage", { configurable: true, get });
const kept = new Map<string, string>();
const storage = {
  getItem: (key: string) => kept.get(key) ?? null,
  setItem: (key: string, value: string) => void kept.set(key, value),
  removeItem: (key: string) => void kept.delete(key),
};
const full = { ...storage, setItem: () => { throw new Error("QuotaExceededError"); } };

void test("a browser that keeps nothing remembers while the page stands", () => {
  browser(() => { throw new Error("SecurityError"); });
  assert.equal(habits.get("wrap"), null);
  habits.turn("wrap", true);
  store("pins", ["core/v1/pods"]);
  assert.deepEqual([habits.get("wrap"), stored("pins")], ["", ["core/v1/pods"]]);
  habits.turn("wrap", false);
  store("pins", []);
  assert.deepEqual([habits.get("wrap"), stored("pins")], [null, []]);
});

void test("what does not fit is remembered while the page stands, and what fits by the browser", () => {
  kept.set("wrap", "old");
  browser(() => full);
  habits.set("wrap", "new");
  assert.deepEqual([habits.get("wrap"), kept.get("wrap")], ["new", "old"]);
  browser(() => storage);
  habits.set("wrap", "newer");
  assert.deepEqual([habits.get("wrap"), kept.get("wrap")], ["newer", "newer"]);
  habits.remove("wrap");
  assert.deepEqual([habits.get("wrap"), kept.has("wrap")], [null, false]);
});

void test("what another tab changes is told, and nothing else", () => {
  const page = new EventTarget();
  Object.defineProperty(globalThis, "addEventListener", {
    configurable: true,
    value: page.addEventListener.bind(page),
  });
  let told = 0;
  storedElsewhere("pins", () => told++);
  for (const key of ["glasshouse.pins", "glasshouse.folded", null])
    page.dispatchEvent(Object.assign(new Event("storage"), { key }));
  assert.equal(told, 2);
});
