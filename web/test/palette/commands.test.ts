// Invariant: I32. Shortcuts, palette and help have the same commands. A single key runs no command while the user types
// text, or while a modifier key other than Shift is pressed. The palette shows the best match first. It also shows
// which resources it did not search.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  findCommand,
  keyLabel,
  type Command,
  type KeyPress,
  type FocusArea,
} from "../../static/src/palette/commands.ts";

const command = (words: string, keys: string[], where: Command["scope"], more: Partial<Command> = {}): Command => ({
  label: words,
  group: "",
  keys,
  scope: where,
  run: () => undefined,
  ...more,
});
const commands = [
  command("empty", ["Escape"], "filter", { isEnabled: () => full }),
  command("leave", ["Escape"], "text-field"),
  command("close", ["Escape"], "page"),
  command("down", ["j", "ArrowDown"], "rows", { repeats: true }),
  command("open", ["Enter"], "rows"),
  command("theme", ["t"], "page"),
  command("jump", ["Mod+k"], "everywhere"),
];
let full = true;
const press = (key: string, spot: FocusArea, more: Partial<KeyPress> = {}): string | undefined =>
  findCommand(commands, { key, focus: spot, ctrlOrCmd: false, plain: true, repeat: false, singleKeys: true, ...more })
    ?.label;

const cases: [string, string | undefined, string | undefined][] = [
  ["a letter while the rows have the focus", press("t", "rows"), "theme"],
  ["a letter while a button has the focus", press("t", "control"), "theme"],
  ["a letter while the panel has the focus", press("j", "page"), "down"],
  ["a letter in a text field", press("t", "text-field"), undefined],
  ["a letter in the filter", press("j", "filter"), undefined],
  ["an arrow key while the rows have the focus", press("ArrowDown", "rows"), "down"],
  ["an arrow key elsewhere, which scrolls the page", press("ArrowDown", "page"), undefined],
  ["Enter while the rows have the focus", press("Enter", "rows"), "open"],
  ["Enter on a button, which the button handles", press("Enter", "control"), undefined],
  ["a letter with Ctrl", press("t", "rows", { ctrlOrCmd: true, plain: false }), undefined],
  ["a letter with Alt", press("t", "rows", { plain: false }), undefined],
  ["Ctrl K", press("k", "rows", { ctrlOrCmd: true, plain: false }), "jump"],
  ["Ctrl K with Caps Lock, while typing", press("K", "text-field", { ctrlOrCmd: true, plain: false }), "jump"],
  ["K without Ctrl", press("k", "rows"), undefined],
  ["a repeated key of a command that does not repeat", press("t", "rows", { repeat: true }), undefined],
  ["a repeated key of a command that repeats", press("j", "rows", { repeat: true }), "down"],
  ["a letter with single-key shortcuts disabled", press("t", "rows", { singleKeys: false }), undefined],
  ["an arrow key with single-key shortcuts disabled", press("ArrowDown", "rows", { singleKeys: false }), "down"],
  ["Enter with single-key shortcuts disabled", press("Enter", "rows", { singleKeys: false }), "open"],
  [
    "Ctrl K with single-key shortcuts disabled",
    press("k", "rows", { singleKeys: false, ctrlOrCmd: true, plain: false }),
    "jump",
  ],
  ["Esc on the page", press("Escape", "rows"), "close"],
  ["Esc in a text field", press("Escape", "text-field"), "leave"],
  ["Esc in the filter with text", press("Escape", "filter"), "empty"],
];
for (const [name, got, want] of cases) void test(`keys: ${name}`, () => assert.equal(got, want));

void test("a disabled command passes its key to the next command", () => {
  full = false;
  assert.equal(press("Escape", "filter"), "leave");
});

void test("key labels match the labels of keyboards", () => {
  assert.deepEqual(
    ["Mod+k", "ArrowDown", "Escape", "PageUp", "G"].map((k) => keyLabel(k, false)),
    ["Ctrl K", "↓", "Esc", "PgUp", "G"],
  );
  assert.equal(keyLabel("Mod+k", true), "⌘ K");
});
