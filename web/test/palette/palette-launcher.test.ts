// Invariant: I32.

import assert from "node:assert/strict";
import { test } from "node:test";
import { clearPage, page, Part, type FakeEvent } from "../fake-page.ts";
import { Upstream } from "../fake-log-server.ts";
import type { Command } from "../../static/src/palette/commands.ts";
import { PaletteLauncher } from "../../static/src/palette/palette-launcher.ts";

const loaded = (): Promise<void> => new Promise((done) => setTimeout(done, 20));

// In this fake head element, a style sheet loads without delay.
const head = Object.assign(new Part("head"), { append: (link: Part) => queueMicrotask(() => link.fire("load")) });

function start() {
  clearPage();
  Object.assign(page, { head });
  const button = new Part("button");
  page.body.append(button);
  const commands = [{ group: "Page", keys: ["t"], scope: "page", label: "Change theme", run: () => ran.push("theme") }];
  const ran: string[] = [];
  const launcher = new PaletteLauncher(button as unknown as HTMLElement, {
    live: new Upstream().live,
    context: () => ({
      kinds: [],
      pins: [],
      recent: [],
      commands: commands as unknown as Command[],
      contexts: null,
      view: null,
      rows: null,
      windowTotal: null,
      rowNamespaces: () => [],
    }),
    go: () => undefined,
    open: () => undefined,
    opened: () => undefined,
  });
  return {
    button,
    launcher,
    ran,
    press: (key: string, more: object = {}): FakeEvent => page.body.dispatch("keydown", { key, ...more }),
    dialog: () => page.body.querySelector("#palette"),
    text: () => page.body.querySelector("#palette-box")?.value,
  };
}

void test("text that the user types while the palette loads is kept", async () => {
  const p = start();
  p.launcher.open(":");
  for (const key of ["p", "x", "Backspace", "o", "Shift", " "]) {
    const e = p.press(key);
    assert.deepEqual([e.defaultPrevented, e.stopped], key === "Shift" ? [false, false] : [true, true], key);
  }
  const shortcut = p.press("l", { ctrlKey: true });
  assert.equal(shortcut.defaultPrevented, false, "shortcuts of the browser are not canceled");
  await loaded();
  assert.deepEqual([p.dialog()?.open, p.text()], [true, ":po "]);
});

void test("Enter pressed while the palette loads runs the first result", async () => {
  const p = start();
  p.launcher.open("");
  for (const key of ["t", "h", "e", "m", "Enter"]) assert.ok(p.press(key).stopped, key);
  await loaded();
  assert.deepEqual([p.dialog()?.open, p.ran], [false, ["theme"]]);
});

void test("keys are not intercepted before the palette opens and after it has loaded", async () => {
  const p = start();
  assert.equal(p.press("x").defaultPrevented, false);
  p.launcher.open("");
  await loaded();
  assert.equal(p.press("x").defaultPrevented, false);
  assert.equal(p.text(), "");
});

void test("a click on the button opens the palette, and the palette returns the focus to the button", async () => {
  const p = start();
  p.button.focus();
  p.button.click();
  await loaded();
  assert.deepEqual([p.dialog()?.open, page.activeElement?.id], [true, "palette-box"]);
  p.dialog()?.close();
  assert.equal(page.activeElement, p.button);
});

void test("the palette is preloaded, but stays closed, when the user is about to open it", async () => {
  for (const prepare of [
    (p: ReturnType<typeof start>) => p.button.fire("pointerenter"),
    (p: ReturnType<typeof start>) => p.button.fire("focus"),
    (p: ReturnType<typeof start>) => void p.press("Control", { ctrlKey: true }),
    (p: ReturnType<typeof start>) => void p.press("Meta", { metaKey: true }),
  ]) {
    const p = start();
    prepare(p);
    await loaded();
    assert.equal(p.dialog()?.open, false);
  }
  const other = start();
  other.press("Shift");
  await loaded();
  assert.equal(other.dialog(), null);
});

void test("the palette is created once", async () => {
  const p = start();
  p.launcher.open("");
  await loaded();
  p.dialog()?.close();
  p.launcher.open(":");
  await loaded();
  assert.equal(page.body.querySelectorAll("#palette").length, 1);
  assert.deepEqual([p.dialog()?.open, p.text()], [true, ":"]);
});

void test("a loading error is reported, keys work normally, and the next attempt loads the palette again", async () => {
  const p = start();
  const { append } = page.body;
  let fails = true;
  page.body.append = (...nodes) => {
    if (fails && nodes.some((n) => n instanceof Part && n.id === "palette")) throw new Error("not loaded");
    append.apply(page.body, nodes);
  };
  try {
    p.launcher.open("");
    await loaded();
    assert.match(page.body.querySelector("#toast")?.textContent ?? "", /^The search could not be loaded/);
    assert.equal(p.press("x").defaultPrevented, false);
    fails = false;
    p.launcher.open("");
    await loaded();
    assert.equal(p.dialog()?.open, true);
  } finally {
    page.body.append = append;
  }
});
