import assert from "node:assert/strict";
import { test } from "node:test";
import { Browser } from "./browser.ts";
import { Build, firstOf, servedAs } from "../static/src/build.ts";

// A browser tab that loads pages of the same URL one after the other.
class Tab {
  readonly browser = new Browser();
  hidden = false;
  spare = true;
  served: () => Promise<boolean> = () => Promise.resolve(true);
  reloads = 0;
  told: boolean[] = [];
  private readonly known = new Set<string>();
  page(own: string): Build {
    this.told = [];
    return new Build(own, {
      hidden: () => this.hidden,
      spare: () => this.spare,
      served: () => this.served(),
      after: (ms, run) => this.browser.after(ms, run),
      cancel: (timer) => this.browser.cancel(timer),
      random: () => this.browser.random(),
      first: (build) => !this.known.has(build) && this.known.add(build) !== null,
      reload: () => this.reloads++,
      told: (other) => this.told.push(other),
    });
  }
  async pass(ms: number): Promise<void> {
    for (let at = 0; at < ms; at += 1000) {
      this.browser.pass(1000);
      for (let turn = 0; turn < 4; turn++) await Promise.resolve();
    }
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

void test("a page that is looked at never reloads itself", async () => {
  const tab = new Tab();
  const page = tab.page("one");
  page.heard("two");
  await tab.pass(long);
  tab.hidden = true;
  page.looked();
  await tab.pass(59_000);
  tab.hidden = false;
  page.looked();
  await tab.pass(long);
  assert.equal(tab.reloads, 0, "nor one that was not looked at for a moment");
});

void test("one that nobody has looked at for a while does, once there is nothing to lose", async () => {
  for (const first of ["hidden", "told"]) {
    const tab = new Tab();
    const page = tab.page("one");
    tab.spare = false;
    tab.hidden = first === "hidden";
    page.heard("two");
    tab.hidden = true;
    page.looked();
    await tab.pass(long);
    assert.equal(tab.reloads, 0);
    tab.spare = true;
    await tab.pass(120_000);
    assert.equal(tab.reloads, 1, first);
  }
});

void test("it looks before it leaps: only where that brings the other build, " +
  "and nothing is to be lost by then", async () => {
  const tab = new Tab();
  const page = tab.page("one");
  let asked = 0;
  let answer: (is: boolean) => void = () => undefined;
  tab.served = () => {
    asked++;
    return new Promise((done) => { answer = done; });
  };
  const meanwhile = async (is: boolean, happens: () => void): Promise<void> => {
    const before = asked;
    await tab.pass(120_000);
    assert.equal(asked, before + 1, "it is tried again");
    happens();
    answer(is);
    await tab.pass(1000);
    assert.equal(tab.reloads, 0);
  };
  tab.hidden = true;
  page.heard("two");
  await meanwhile(false, () => undefined);
  await meanwhile(true, () => { tab.spare = false; });
  tab.spare = true;
  await meanwhile(true, () => {
    tab.hidden = false;
    page.looked();
  });
  tab.hidden = true;
  page.looked();
  await meanwhile(true, () => page.heard("three"));
  await tab.pass(120_000);
  answer(true);
  await tab.pass(1000);
  assert.equal(tab.reloads, 1);
});

void test("what is served is the other build's where the page names its script", async () => {
  const script = (build: string): string => `<script type="module" src="/static/app.js?v=${build}"></script>`;
  const answers: [want: boolean, answer: () => Promise<Partial<Response>>][] = [
    [true, () => Promise.resolve({ ok: true, text: () => Promise.resolve(script("two")) })],
    [false, () => Promise.resolve({ ok: true, text: () => Promise.resolve(script("one")) })],
    [false, () => Promise.resolve({ ok: true, text: () => Promise.resolve("Sign in") })],
    [false, () => Promise.resolve({ ok: false, text: () => Promise.resolve(script("two")) })],
    [false, () => Promise.reject(new TypeError("Failed to fetch"))],
  ];
  const asked: unknown[] = [];
  Object.assign(globalThis, { location: { href: "http://glasshouse/r/core/v1/pods?ns=shop" } });
  for (const [want, answer] of answers) {
    Object.assign(globalThis, { fetch: (address: string, { cache }: RequestInit) => {
      asked.push([address, cache]);
      return answer();
    } });
    assert.equal(await servedAs("two"), want);
  }
  assert.deepEqual(asked, answers.map(() => ["http://glasshouse/r/core/v1/pods?ns=shop", "no-store"]));
});

void test("an old page that comes again, and servers of two builds in turn, make no loop", async () => {
  const tab = new Tab();
  tab.hidden = true;
  for (let n = 0; n < 20; n++) {
    const page = tab.page(n % 2 === 0 ? "one" : "two");
    page.heard(n % 2 === 0 ? "two" : "one");
    await tab.pass(long);
  }
  assert.equal(tab.reloads, 2, "once for each build");
  tab.page("one").heard("two");
  await tab.pass(long);
  assert.deepEqual([tab.reloads, tab.told], [2, [true]], "then it is told alone");
});

void test("a tab remembers the builds; one that may not remember has none for the first time", () => {
  const storage = (get: () => unknown): void =>
    void Object.defineProperty(globalThis, "sessionStorage", { configurable: true, get });
  const kept = new Map<string, string>();
  storage(() => ({
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  }));
  assert.deepEqual(["one", "two", "one", "two", "three"].map(firstOf), [true, true, false, false, true]);
  storage(() => { throw new Error("SecurityError"); });
  assert.equal(firstOf("four"), false);
});
