// Invariant: I24.

import assert from "node:assert/strict";
import { test } from "node:test";
import { page } from "../fake-page.ts";
import { browser, element, openPage } from "../fake-app.ts";
import { ClusterSwitcher } from "../../static/src/list/cluster-switcher.ts";
import { Contexts } from "../../static/src/net/contexts.ts";

const after = setTimeout; // the original setTimeout; openPage replaces the global one
const settled = (): Promise<void> => new Promise((done) => after(done));

function start(hasPopover: boolean) {
  openPage("/");
  let switches = 0;
  let response = (): Response => Response.json({ present: "a", contexts: [{ name: "a" }, { name: "b" }] });
  const contexts = new Contexts(
    () => switches++,
    async () => response(),
  );
  const link = element("cluster");
  link.append("demo");
  link.title = "Switch cluster";
  const clicks: string[] = [];
  link.addEventListener("click", () => clicks.push("link"));
  const switcher = new ClusterSwitcher(link as unknown as HTMLAnchorElement, hasPopover, contexts);
  return {
    switcher,
    clicks,
    popover: () => page.getElementById("cluster-pop"),
    toast: () => page.getElementById("toast")?.textContent,
    switches: () => switches,
    respond: (next: typeof response) => {
      response = next;
    },
  };
}
const refused = (): Response =>
  Response.json({ title: "Context not opened", status: 502, detail: "No such command." }, { status: 502 });

void test("a button with a popover replaces the link, with the same text", () => {
  const p = start(true);
  const button = element("cluster");
  assert.deepEqual([button.localName, button.textContent, button.title], ["button", "demo", "Switch cluster"]);
  assert.equal(p.popover()?.open, false);
  p.switcher.open();
  assert.deepEqual([p.popover()?.open, p.clicks], [true, []]);
  p.popover()?.hidePopover();
});

void test("a page that reloads itself keeps the link", () => {
  const p = start(false);
  assert.deepEqual([element("cluster").localName, p.popover()], ["a", null]);
  p.switcher.open();
  assert.deepEqual(p.clicks, ["link"]);
});

void test("choosing a context switches to its cluster", async () => {
  const p = start(true);
  assert.deepEqual(p.switcher.choices(), []);
  await p.switcher.read();
  assert.deepEqual(
    p.switcher.choices().map((c) => c.name),
    ["a", "b"],
  );
  p.respond(() => new Response(null, { status: 204 }));
  p.switcher.choices()[1]?.choose();
  assert.equal(p.toast(), "Switching to b…");
  await settled();
  assert.deepEqual([p.switches(), p.popover()?.open], [1, false]);
});

void test("a failed switch opens the popover, which shows the error, or reports it without a popover", async () => {
  for (const hasPopover of [true, false]) {
    const p = start(hasPopover);
    await p.switcher.read();
    p.respond(refused);
    p.switcher.choices()[1]?.choose();
    await settled();
    assert.equal(p.switches(), 0);
    if (hasPopover) assert.equal(p.popover()?.open, true);
    else assert.equal(p.toast(), "No such command.");
    p.popover()?.hidePopover();
  }
});

void test("after a switch, the start page is loaded", async () => {
  openPage("/r/core/v1/pods");
  const link = element("cluster") as unknown as HTMLAnchorElement;
  const switcher = new ClusterSwitcher(link, true);
  browser.response = () => Promise.resolve(Response.json({ contexts: [{ name: "b" }] }));
  await switcher.read();
  browser.response = () => Promise.resolve(new Response(null, { status: 204 }));
  switcher.choices()[0]?.choose();
  await settled();
  assert.deepEqual(browser.loads, ["/"]);
});
