import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser } from "./browser.ts";
import { Build, firstOf } from "../static/src/build.ts";

// A tab in which pages of one address follow each other.
class Tab {
  readonly browser = new Browser();
  hidden = false;
  spare = true;
  reloads = 0;
  told: boolean[] = [];
  private readonly known = new Set<string>();
  page(own: string): Build {
    this.told = [];
    return new Build(own, {
      hidden: () => this.hidden,
      spare: () => this.spare,
      after: (ms, run) => this.browser.after(ms, run),
      cancel: (timer) => this.browser.cancel(timer),
      random: () => this.browser.random(),
      first: (build) => !this.known.has(build) && this.known.add(build) !== null,
      reload: () => this.reloads++,
      told: (other) => this.told.push(other),
    });
  }
}
const long = 600_000;

void test("another build is told once, and no more where it is ours again", () => {
  const tab = new Tab();
  const page = tab.page("one");
  for (const build of ["one", "two", "two", "one", ""]) page.heard(build);
  assert.deepEqual(tab.told, [true, false]);
  page.heard("two");
  page.heard("");
  assert.deepEqual(tab.told, [true, false, true, false], "a server that does not tell is not known to be another");
  const unknown = tab.page("");
  unknown.heard("two");
  assert.deepEqual(tab.told, []);
});

void test("a page that is looked at never reloads itself", () => {
  const tab = new Tab();
  const page = tab.page("one");
  page.heard("two");
  tab.browser.pass(long);
  tab.hidden = true;
  page.looked();
  tab.browser.pass(59_000);
  tab.hidden = false;
  page.looked();
  tab.browser.pass(long);
  assert.equal(tab.reloads, 0, "nor one that was not looked at for a moment");
});

void test("one that nobody has looked at for a while does, once there is nothing to lose", () => {
  for (const first of ["hidden", "told"]) {
    const tab = new Tab();
    const page = tab.page("one");
    tab.spare = false;
    tab.hidden = first === "hidden";
    page.heard("two");
    tab.hidden = true;
    page.looked();
    tab.browser.pass(long);
    assert.equal(tab.reloads, 0);
    tab.spare = true;
    tab.browser.pass(120_000);
    assert.equal(tab.reloads, 1, first);
  }
});

void test("an old page that comes again, and servers of two builds in turn, make no loop", () => {
  const tab = new Tab();
  tab.hidden = true;
  for (let n = 0; n < 20; n++) {
    const page = tab.page(n % 2 === 0 ? "one" : "two");
    page.heard(n % 2 === 0 ? "two" : "one");
    tab.browser.pass(long);
  }
  assert.equal(tab.reloads, 2, "once for each build");
  tab.page("one").heard("two");
  tab.browser.pass(long);
  assert.deepEqual([tab.reloads, tab.told], [2, [true]], "then it is told alone");
});

void test("a tab remembers the builds; one that may not remember has none for the first time", () => {
  const storage = (get: () => unknown): void => void Object.defineProperty(globalThis, "sessionStorage", { configurable: true, get });
  const kept = new Map<string, string>();
  storage(() => ({ getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => void kept.set(key, value) }));
  assert.deepEqual(["one", "two", "one", "two", "three"].map(firstOf), [true, true, false, false, true]);
  storage(() => { throw new Error("SecurityError"); });
  assert.equal(firstOf("four"), false);
});
