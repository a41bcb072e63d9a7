// Invariant: I30.

import assert from "node:assert/strict";
import { test } from "node:test";
import "../fake-page.ts";
import { Browser } from "../fake-browser.ts";
import { readParts, sharedParts, sharedNamespaces } from "../../static/src/model/guest.ts";
import { pageCommands } from "../../static/src/keymap.ts";
import { Live } from "../../static/src/net/live.ts";
import { tabsFor } from "../../static/src/object/tabs.ts";
import { formatView, objectHref, pageHref, parseView, defaultView } from "../../static/src/model/view.ts";

const page = (data: Record<string, string> = {}): void =>
  void Object.assign(globalThis, { document: { documentElement: { dataset: data } } });
const kind = { ref: "core/v1/pods", kind: "Pod", resource: "pods", namespaced: true };
const guest = (...parts: object[]): void => page({ shared: JSON.stringify(parts) });
const pods = { resource: "core/v1/pods", namespaces: ["shop"] };

void test("a guest sees only the shared resources and tabs", () => {
  const tabs = (): string =>
    tabsFor(kind)
      .map((t) => t.id)
      .join(" ");
  page();
  assert.equal(sharedParts(), null);
  assert.equal(sharedNamespaces("core/v1/pods"), null);
  assert.equal(tabs(), "overview yaml changes events related logs");
  guest(pods);
  assert.deepEqual(sharedNamespaces("core/v1/pods"), ["shop"]);
  assert.equal(tabs(), "overview yaml changes");
  guest(pods, { resource: "core/v1/pods/log" }, { resource: "core/v1/events" });
  assert.equal(tabs(), "overview yaml changes events logs");
  page({ shared: "{" });
  assert.deepEqual(sharedParts(), [], "a list of shared parts that cannot be decoded shares nothing");
  assert.deepEqual(readParts("x"), []);
  const words = (share: (() => void) | null, home: string | null = null): string[] =>
    pageCommands({ open: () => undefined } as never, () => undefined, share, null, home).map((c) => c.label);
  assert.deepEqual([words(null).includes("Home"), words(null, "/").includes("Home")], [false, true]);
  const beyond = words(() => undefined).filter((w) => !words(null).includes(w));
  assert.deepEqual(beyond, ["Copy link to this view", "Share this view, manage links", "Go to watch status"]);
  page();
});

void test("the connection is not retried after the share link has ended", () => {
  const browser = new Browser();
  const live = new Live("ws://x", browser, () => undefined);
  live.connect();
  browser.socket.accept();
  browser.socket.drop(4403, "this share has ended");
  browser.advance(600_000);
  live.retryNow();
  assert.equal(browser.sockets.length, 1);
  assert.equal(browser.reconnects.length, 1, "the page handles the ended share link");
});

void test("links of a kiosk page stay in kiosk mode", () => {
  page({ kiosk: "", base: "/b" });
  const view = { ...defaultView("core/v1/pods"), ns: ["shop"], tab: "yaml", open: { ns: "shop", name: "a" } };
  assert.equal(formatView(defaultView("core/v1/pods")), "/b/r/core/v1/pods?kiosk=1");
  assert.equal(objectHref("core/v1/pods", { ns: "shop", name: "a" }), "/b/o/core/v1/pods/shop/a?kiosk=1");
  assert.equal(pageHref(view), "/b/o/core/v1/pods/shop/a?tab=yaml&kiosk=1");
  const { pathname, search } = new URL(formatView(view), "http://x");
  assert.deepEqual(parseView(pathname, search, ""), view);
  page();
  assert.equal(formatView(defaultView("core/v1/pods")), "/r/core/v1/pods");
});
