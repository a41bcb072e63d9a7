// Invariant: I38.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser } from "../fake-browser.ts";
import { BuildMonitor, recordReloadFor, isBuildServed } from "../../static/src/ui/build-monitor.ts";

// A fake browser tab. Each call of page() loads a page.
class Tab {
  readonly browser = new Browser();
  hidden = false;
  canReload = true;
  isServed: () => Promise<boolean> = () => Promise.resolve(true);
  reloads = 0;
  updates: boolean[] = [];
  private readonly recorded = new Set<string>();
  page(own: string): BuildMonitor {
    this.updates = [];
    return new BuildMonitor(own, {
      hidden: () => this.hidden,
      canReload: () => this.canReload,
      isServed: () => this.isServed(),
      after: (ms, run) => this.browser.after(ms, run),
      cancel: (timer) => this.browser.cancel(timer),
      random: () => this.browser.random(),
      recordReload: (build) => !this.recorded.has(build) && this.recorded.add(build) !== null,
      reload: () => this.reloads++,
      updateChanged: (other) => this.updates.push(other),
    });
  }
  async advance(ms: number): Promise<void> {
    for (let at = 0; at < ms; at += 1000) {
      this.browser.advance(1000);
      for (let microtask = 0; microtask < 4; microtask++) await Promise.resolve();
    }
  }
}
const long = 600_000;

void test("another build is reported once, until the server has the page's build again", () => {
  const tab = new Tab();
  const page = tab.page("one");
  for (const build of ["one", "two", "two", "one", ""]) page.setServerBuild(build);
  assert.deepEqual(tab.updates, [true, false]);
  page.setServerBuild("two");
  page.setServerBuild("");
  assert.deepEqual(tab.updates, [true, false, true, false], "a server that reports no build counts as unchanged");
  const unknown = tab.page("");
  unknown.setServerBuild("two");
  assert.deepEqual(tab.updates, []);
});

void test("a visible page never reloads itself", async () => {
  const tab = new Tab();
  const page = tab.page("one");
  page.setServerBuild("two");
  await tab.advance(long);
  tab.hidden = true;
  page.visibilityChanged();
  await tab.advance(59_000);
  tab.hidden = false;
  page.visibilityChanged();
  await tab.advance(long);
  assert.equal(tab.reloads, 0, "a page that was hidden only briefly does not reload");
});

void test("a hidden page reloads after a delay, once a reload loses no user input", async () => {
  for (const first of ["hidden", "shown"]) {
    const tab = new Tab();
    const page = tab.page("one");
    tab.canReload = false;
    tab.hidden = first === "hidden";
    page.setServerBuild("two");
    tab.hidden = true;
    page.visibilityChanged();
    await tab.advance(long);
    assert.equal(tab.reloads, 0);
    tab.canReload = true;
    await tab.advance(120_000);
    assert.equal(tab.reloads, 1, first);
  }
});

void test(
  "a hidden page reloads only if the server still serves the other build, " + "and a reload loses no user input",
  async () => {
    const tab = new Tab();
    const page = tab.page("one");
    let requested = 0;
    let answer: (is: boolean) => void = () => undefined;
    tab.isServed = () => {
      requested++;
      return new Promise((done) => {
        answer = done;
      });
    };
    const meanwhile = async (is: boolean, happens: () => void): Promise<void> => {
      const before = requested;
      await tab.advance(120_000);
      assert.equal(requested, before + 1, "the page checks the served build again");
      happens();
      answer(is);
      await tab.advance(1000);
      assert.equal(tab.reloads, 0);
    };
    tab.hidden = true;
    page.setServerBuild("two");
    await meanwhile(false, () => undefined);
    await meanwhile(true, () => {
      tab.canReload = false;
    });
    tab.canReload = true;
    await meanwhile(true, () => {
      tab.hidden = false;
      page.visibilityChanged();
    });
    tab.hidden = true;
    page.visibilityChanged();
    await meanwhile(true, () => page.setServerBuild("three"));
    await tab.advance(120_000);
    answer(true);
    await tab.advance(1000);
    assert.equal(tab.reloads, 1);
  },
);

void test("isBuildServed checks the script URL in the page", async () => {
  const script = (build: string): string => `<script type="module" src="/static/app.js?v=${build}"></script>`;
  const answers: [want: boolean, answer: () => Promise<Partial<Response>>][] = [
    [true, () => Promise.resolve({ ok: true, text: () => Promise.resolve(script("two")) })],
    [false, () => Promise.resolve({ ok: true, text: () => Promise.resolve(script("one")) })],
    [false, () => Promise.resolve({ ok: true, text: () => Promise.resolve("Sign in") })],
    [false, () => Promise.resolve({ ok: false, text: () => Promise.resolve(script("two")) })],
    [false, () => Promise.reject(new TypeError("Failed to fetch"))],
  ];
  const requested: unknown[] = [];
  Object.assign(globalThis, { location: { href: "http://glasshouse/r/core/v1/pods?ns=shop" } });
  for (const [want, answer] of answers) {
    Object.assign(globalThis, {
      fetch: (address: string, { cache }: RequestInit) => {
        requested.push([address, cache]);
        return answer();
      },
    });
    assert.equal(await isBuildServed("two"), want);
  }
  assert.deepEqual(
    requested,
    answers.map(() => ["http://glasshouse/r/core/v1/pods?ns=shop", "no-store"]),
  );
});

void test("an old cached page, or servers with alternating builds, cause no reload loop", async () => {
  const tab = new Tab();
  tab.hidden = true;
  for (let n = 0; n < 20; n++) {
    const page = tab.page(n % 2 === 0 ? "one" : "two");
    page.setServerBuild(n % 2 === 0 ? "two" : "one");
    await tab.advance(long);
  }
  assert.equal(tab.reloads, 2, "the page reloads once for each build");
  tab.page("one").setServerBuild("two");
  await tab.advance(long);
  assert.deepEqual(
    [tab.reloads, tab.updates],
    [2, [true]],
    "a page that has already reloaded for the build only reports it",
  );
});

void test("a tab stores the builds that it reloaded for, and never reloads without storage", () => {
  const storage = (get: () => unknown): void =>
    void Object.defineProperty(globalThis, "sessionStorage", { configurable: true, get });
  const kept = new Map<string, string>();
  storage(() => ({
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  }));
  assert.deepEqual(["one", "two", "one", "two", "three"].map(recordReloadFor), [true, true, false, false, true]);
  storage(() => {
    throw new Error("SecurityError");
  });
  assert.equal(recordReloadFor("four"), false);
});
