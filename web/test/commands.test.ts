import assert from "node:assert/strict";
import { test } from "node:test";
import { commandOf, keyWords, type Command, type Press, type Spot } from "../static/src/commands.ts";

const command = (words: string, keys: string[], where: Command["where"], more: Partial<Command> = {}): Command => ({
  words,
  group: "",
  keys,
  where,
  run: () => undefined,
  ...more,
});
const commands = [
  command("empty", ["Escape"], "filter", { can: () => full }),
  command("leave", ["Escape"], "box"),
  command("close", ["Escape"], "page"),
  command("down", ["j", "ArrowDown"], "rows", { repeats: true }),
  command("open", ["Enter"], "rows"),
  command("theme", ["t"], "page"),
  command("jump", ["Mod+k"], "ever"),
];
let full = true;
const press = (key: string, spot: Spot, more: Partial<Press> = {}): string | undefined =>
  commandOf(commands, { key, spot, mod: false, plain: true, repeat: false, letters: true, ...more })?.words;

const cases: [string, string | undefined, string | undefined][] = [
  ["a letter at the rows", press("t", "rows"), "theme"],
  ["a letter at a button", press("t", "control"), "theme"],
  ["a letter in the panel", press("j", "page"), "down"],
  ["a letter that is typed", press("t", "box"), undefined],
  ["a letter in the filter", press("j", "filter"), undefined],
  ["an arrow at the rows", press("ArrowDown", "rows"), "down"],
  ["an arrow elsewhere, which scrolls", press("ArrowDown", "page"), undefined],
  ["Enter at the rows", press("Enter", "rows"), "open"],
  ["Enter at a button, which is its own", press("Enter", "control"), undefined],
  ["with Ctrl", press("t", "rows", { mod: true, plain: false }), undefined],
  ["with Alt", press("t", "rows", { plain: false }), undefined],
  ["Ctrl K", press("k", "rows", { mod: true, plain: false }), "jump"],
  ["Ctrl K with Caps Lock, while typing", press("K", "box", { mod: true, plain: false }), "jump"],
  ["K alone", press("k", "rows"), undefined],
  ["a key that is held", press("t", "rows", { repeat: true }), undefined],
  ["one that goes on", press("j", "rows", { repeat: true }), "down"],
  ["a letter, where they are to do nothing", press("t", "rows", { letters: false }), undefined],
  ["an arrow, where letters do nothing", press("ArrowDown", "rows", { letters: false }), "down"],
  ["Enter, where letters do nothing", press("Enter", "rows", { letters: false }), "open"],
  ["Ctrl K, where letters do nothing", press("k", "rows", { letters: false, mod: true, plain: false }), "jump"],
  ["Esc on the page", press("Escape", "rows"), "close"],
  ["Esc in a box", press("Escape", "box"), "leave"],
  ["Esc in the full filter", press("Escape", "filter"), "empty"],
];
for (const [name, got, want] of cases) void test(`keys: ${name}`, () => assert.equal(got, want));

void test("a command that can do nothing lets the next have the key", () => {
  full = false;
  assert.equal(press("Escape", "filter"), "leave");
});

void test("keys are written as they stand on the keyboard", () => {
  assert.deepEqual(
    ["Mod+k", "ArrowDown", "Escape", "PageUp", "G"].map((k) => keyWords(k, false)),
    ["Ctrl K", "↓", "Esc", "PgUp", "G"],
  );
  assert.equal(keyWords("Mod+k", true), "⌘ K");
});
