// axe cannot check the colors of CSS highlights, such as those of code, nor all states of rows. WCAG 2.2 requires a
// ratio of 4.5.
//
// Invariant: I35, I36.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const tokens = new Map(
  [...readFileSync("static/src/css/tokens.css", "utf8").matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(
    (m) => [m[1] ?? "", [m[2] ?? "", m[3] ?? ""] as const],
  ),
);

function luminance(color: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5]
    .map((i) => parseInt(color.slice(i, i + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function checkContrast(texts: readonly string[], backgrounds: readonly string[], i: 0 | 1, wanted = 4.5): void {
  for (const text of texts) {
    for (const background of backgrounds) {
      const [high = 0, low = 0] = [text, background]
        .map((name) => luminance(tokens.get(name)?.[i] ?? ""))
        .sort((a, b) => b - a);
      const contrast = (high + 0.05) / (low + 0.05);
      assert.ok(contrast >= wanted, `${text} on ${background}: ${contrast.toFixed(2)}`);
    }
  }
}

for (const [scheme, i] of [
  ["light", 0],
  ["dark", 1],
] as const) {
  void test(`code has enough contrast on all backgrounds, ${scheme}`, () =>
    checkContrast(["code-key", "code-string", "code-value"], ["bg", "flash", "hover", "found", "selected"], i));
  // Text colors in cells and counts, and the backgrounds behind them, such as "flash" (a changed cell).
  void test(`texts have enough contrast on all backgrounds of rows, ${scheme}`, () =>
    checkContrast(
      ["text", "muted", "accent", "live", "bad", "warn", "progress"],
      ["bg", "panel", "flash", "hover", "selected", "added", "bad-bg"],
      i,
    ));
  void test(`warnings have enough contrast on their amber background, ${scheme}`, () =>
    checkContrast(["warn"], ["warn-bg"], i));
  // WCAG 2.2 requires a ratio of 3 for graphics.
  void test(`the shapes of warnings have enough contrast on all backgrounds of rows, ${scheme}`, () =>
    checkContrast(["warn-mark"], ["bg", "panel", "hover", "selected", "bad-bg", "warn-bg"], i, 3));
}
