import assert from "node:assert/strict";
import { test } from "node:test";
import { clearPage, page } from "../fake-page.ts";
import { dialogLauncher } from "../../static/src/ui/dialog-launcher.ts";

const settled = (): Promise<void> => new Promise((done) => setTimeout(done));

void test("a dialog is loaded once, when it opens for the first time", async () => {
  let loads = 0;
  let opens = 0;
  const open = dialogLauncher(async () => {
    loads++;
    return { open: () => opens++ };
  });
  assert.equal(loads, 0);
  open();
  await settled();
  open();
  await settled();
  assert.deepEqual([loads, opens], [1, 2]);
});

void test("if a dialog cannot be loaded, the error is reported, and the next attempt loads it again", async () => {
  clearPage();
  let fails = true;
  let opens = 0;
  const open = dialogLauncher(async () => {
    if (fails) throw new Error("not loaded");
    return { open: () => opens++ };
  });
  open();
  await settled();
  assert.match(page.getElementById("toast")?.textContent ?? "", /^The dialog could not be loaded/);
  fails = false;
  open();
  await settled();
  assert.equal(opens, 1);
});
