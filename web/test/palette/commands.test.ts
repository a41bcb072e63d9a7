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
  ["a letter at the rows", press("t", "rows"), "theme"],
  ["a letter at a button", press("t", "control"), "theme"],
  ["a letter in the panel", press("j", "page"), "down"],
  ["a letter that is typed", press("t", "text-field"), undefined],
  ["a letter in the filter", press("j", "filter"), undefined],
  ["an arrow at the rows", press("ArrowDown", "rows"), "down"],
  ["an arrow elsewhere, which scrolls", press("ArrowDown", "page"), undefined],
  ["Enter at the rows", press("Enter", "rows"), "open"],
  ["Enter at a button, which is its own", press("Enter", "control"), undefined],
  ["with Ctrl", press("t", "rows", { ctrlOrCmd: true, plain: false }), undefined],
  ["with Alt", press("t", "rows", { plain: false }), undefined],
  ["Ctrl K", press("k", "rows", { ctrlOrCmd: true, plain: false }), "jump"],
  ["Ctrl K with Caps Lock, while typing", press("K", "text-field", { ctrlOrCmd: true, plain: false }), "jump"],
  ["K alone", press("k", "rows"), undefined],
  ["a repeating key", press("t", "rows", { repeat: true }), undefined],
  ["one that goes on", press("j", "rows", { repeat: true }), "down"],
  ["a letter, where they are to do nothing", press("t", "rows", { singleKeys: false }), undefined],
  ["an arrow, where letters do nothing", press("ArrowDown", "rows", { singleKeys: false }), "down"],
  ["Enter, where letters do nothing", press("Enter", "rows", { singleKeys: false }), "open"],
  [
    "Ctrl K, where letters do nothing",
    press("k", "rows", { singleKeys: false, ctrlOrCmd: true, plain: false }),
    "jump",
  ],
  ["Esc on the page", press("Escape", "rows"), "close"],
  ["Esc in a text field", press("Escape", "text-field"), "leave"],
  ["Esc in the full filter", press("Escape", "filter"), "empty"],
];
for (const [name, got, want] of cases) void test(`keys: ${name}`, () => assert.equal(got, want));

void test("a disabled command passes its key to the next command", () => {
  full = false;
  assert.equal(press("Escape", "filter"), "leave");
});

void test("keys are labeled as on the keyboard", () => {
  assert.deepEqual(
    ["Mod+k", "ArrowDown", "Escape", "PageUp", "G"].map((k) => keyLabel(k, false)),
    ["Ctrl K", "↓", "Esc", "PgUp", "G"],
  );
  assert.equal(keyLabel("Mod+k", true), "⌘ K");
});
