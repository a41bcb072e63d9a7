import assert from "node:assert/strict";
import { test } from "node:test";
import type { Part } from "../fake-page.ts";
import { page } from "../fake-page.ts";
import { element, openPage } from "../fake-app.ts";
import { openRowMenu } from "../../static/src/list/row-menu.tsx";

const ran: string[] = [];
const items = [
  { label: "YAML", key: "y", run: () => void ran.push("YAML") },
  { label: "Open in new tab", href: "/o/core/v1/pods/shop/web-1" },
  { label: "Mark to compare", key: " ", run: () => void ran.push("mark") },
];

/** Opens the menu of a row. Returns its items. */
async function open(): Promise<Part[]> {
  openPage("/r/core/v1/pods");
  ran.length = 0;
  const opened = openRowMenu(
    "shop/web-1",
    items,
    { left: 0, bottom: 0 } as DOMRect,
    element("rows") as unknown as HTMLElement,
    element("table") as unknown as HTMLElement,
  );
  for (const link of (page as unknown as { head: Part }).head.children) link.fire("load");
  await opened;
  return page.querySelectorAll(".row-menu [role=menuitem]");
}
const focused = (): string | undefined => page.activeElement?.textContent;
const press = (key: string): boolean => (page.activeElement as Part).dispatch("keydown", { key }).defaultPrevented;

void test("the menu shows links, and actions with their keys", async () => {
  const shown = await open();
  assert.deepEqual(
    shown.map((e) => [e.localName, e.textContent, e.getAttribute("href")]),
    [
      ["button", "YAML y", null],
      ["a", "Open in new tab", "/o/core/v1/pods/shop/web-1"],
      ["button", "Mark to compare Space", null],
    ],
  );
});

void test("arrow keys move the focus within the menu", async () => {
  await open();
  assert.equal(focused(), "YAML y");
  assert.equal(press("ArrowUp"), true);
  assert.equal(focused(), "Mark to compare Space");
  press("ArrowDown");
  press("j");
  assert.equal(focused(), "Open in new tab");
  assert.equal(press("x"), false);
});

void test("an action closes the menu, moves the focus to the rows, and runs", async () => {
  for (const act of [(shown: Part[]) => shown[2]?.click(), () => press(" ")]) {
    act(await open());
    assert.deepEqual(ran, ["mark"]);
    assert.equal(page.querySelector(".row-menu"), null);
    assert.equal(page.activeElement, element("table"));
  }
});
