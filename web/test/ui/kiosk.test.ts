import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { page } from "../fake-page.ts";
import { browser, openPage } from "../fake-app.ts";
import { parseRotation, startKiosk } from "../../static/src/ui/kiosk.ts";

const stored = new Map<string, string>();
Object.assign(globalThis, {
  sessionStorage: {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  },
});

const settled = async (): Promise<void> => {
  for (let microtask = 0; microtask < 20; microtask++) await Promise.resolve();
};

/** Opens a page in kiosk mode. Returns the URLs that it opens in the given number of seconds. */
async function loadsOf(address: string, seconds: number, input?: string): Promise<string[]> {
  openPage(address);
  browser.response = () => Promise.resolve({ ok: true });
  startKiosk(() => null);
  if (input !== undefined) page.fire(input);
  for (let s = 0; s < seconds && browser.loads.length === 0; s++) {
    mock.timers.tick(1000);
    await settled();
  }
  return [...browser.loads];
}

void test("the fragment of a URL contains the interval and the views of a rotation", () => {
  const parse = (rest: string) => parseRotation(`http://glasshouse${rest}`);
  assert.equal(parse("/?kiosk=1"), null);
  assert.deepEqual(parse("/r/core/v1/pods?kiosk=1#rotate=30&view=/r/core/v1/pods&view=/ns/shop%3Fq=a%26x=1"), {
    interval: 30_000,
    views: ["/r/core/v1/pods?kiosk=1", "/ns/shop?q=a&x=1&kiosk=1"],
    next: 1,
  });
  assert.equal(parse("/#rotate=1&view=/")?.interval, 5000, "a view is shown for at least 5 s");
  assert.deepEqual(
    parse("/#rotate=30&view=https://example.org/&view=//example.org/x&view=javascript:alert()")?.views,
    [],
  );
  for (const rotate of ["0", "", "soon"]) assert.deepEqual(parse(`/#rotate=${rotate}&view=/`)?.views, [], rotate);
});

void test("a wall display rotates through the views, and starts again after the last one", async () => {
  stored.clear();
  const start = "/?kiosk=1#rotate=30&view=/&view=/r/core/v1/nodes";
  assert.deepEqual(await loadsOf(start, 29), []);
  assert.deepEqual(await loadsOf(start, 31), ["replace /r/core/v1/nodes?kiosk=1"]);
  assert.deepEqual(await loadsOf("/r/core/v1/nodes?kiosk=1", 31), ["replace /?kiosk=1"]);
  assert.deepEqual(await loadsOf("/?kiosk=1", 31), ["replace /r/core/v1/nodes?kiosk=1"]);
  assert.deepEqual(await loadsOf("/?kiosk=1#rotate=0", 100), []);
  assert.deepEqual(await loadsOf("/?kiosk=1", 100), [], "the interval 0 ends the rotation");
});

void test("input pauses the rotation", async () => {
  const start = "/?kiosk=1#rotate=30&view=/r/core/v1/nodes";
  for (const input of ["pointermove", "keydown", "wheel"]) {
    assert.deepEqual(await loadsOf(start, 59, input), [], input);
    assert.deepEqual(await loadsOf(start, 61, input), ["replace /r/core/v1/nodes?kiosk=1"], input);
  }
});

void test("if the server does not respond, the display keeps its view", async () => {
  openPage("/?kiosk=1#rotate=30&view=/r/core/v1/nodes");
  browser.response = () => Promise.reject(new Error("offline"));
  startKiosk(() => null);
  mock.timers.tick(30_000);
  await settled();
  assert.deepEqual(browser.loads, []);
  browser.response = () => Promise.resolve({ ok: true });
  mock.timers.tick(30_000);
  await settled();
  assert.deepEqual(browser.loads, ["replace /r/core/v1/nodes?kiosk=1"]);
});
