// The fake document of the tests has no layout, so these tests check the rules of the style sheets.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

/** Returns the declarations of the rules whose selector list contains the selector, such as "flex-wrap: wrap". */
function declarationsOf(sheet: string, selector: string): string[] {
  const css = readFileSync(`static/src/css/${sheet}.css`, "utf8").replace(/\/\*.*?\*\//gs, "");
  const rules = [...css.matchAll(/([^{};]+)\{([^{}]*)\}/g)];
  return rules
    .filter(([, selectors = ""]) => selectors.split(/,(?![^()]*\))/).some((s) => s.trim() === selector))
    .flatMap(([, , body = ""]) => body.split(";").map((d) => d.trim()))
    .filter((d) => d !== "");
}

function check(sheet: string, selector: string, ...wanted: string[]): void {
  const found = declarationsOf(sheet, selector);
  for (const d of wanted) assert.ok(found.includes(d), `${selector} has ${d}, but only: ${found.join("; ")}`);
}

void test("the bar of a list wraps as soon as its filters cannot shrink further, and truncates no heading", () => {
  check("list", ".list > .bar", "flex-wrap: wrap");
  check("list", ".list > .bar > *", "flex-shrink: 0", "max-width: 100%");
  check("list", ".list > .bar > .filters", "flex: 1000 0 150px", "max-width: max-content");
});

void test("the name of the cluster has its color as background, also on a small screen", () => {
  check("layout", ".cluster", "background: oklch(0.65 0.13 var(--hue) / 0.3)");
  check("layout", '[data-color="prod"]', "--hue: 25");
  for (const sheet of ["navigation", "small"] as const)
    assert.deepEqual(
      [".cluster", "button.cluster"]
        .flatMap((c) => declarationsOf(sheet, c))
        .filter((d) => /^(display|background)/.test(d)),
      [],
    );
});

void test("the button to share is outlined in the color of actions", () => {
  check("share", ".top .share-button", "border-color: var(--accent)", "color: var(--accent)");
});

void test("titles are 18 px high, and a long name breaks into lines instead of being cut", () => {
  check("layout", ".bar h1", "font: 600 18px / 1.3 var(--sans)");
  check("layout", ".bar h2", "font: 600 18px / 1.3 var(--sans)");
  for (const heading of [".title h2", ".crumbs h1"])
    check("panel", heading, "white-space: normal", "overflow-wrap: anywhere");
  check("panel", ".bar.title", "flex-wrap: wrap-reverse");
  check("panel", ".crumbs", "flex-wrap: wrap");
});

void test("the filter of changes keeps its minimum width", () => {
  check("timeline", ".tools", "flex-wrap: wrap");
  check("timeline", '.tools input[type="search"]', "min-width: 100px");
});

void test("a kiosk shows no controls, and its fixed status overlaps nothing", () => {
  for (const control of [".tab-row", ".bar .icon", ".copy-bar", ".uses", ".related-bar", ".rollouts button"])
    check("kiosk", control, "display: none");
  check("kiosk", ":is(.list, .object-page) > .bar", "padding-right: calc(var(--value) * 24)");
});

void test("stale data keeps the color of its severity, and only a deleted object is gray and italic", () => {
  check("overview", "[data-gone] .health", "--health-color: var(--muted)", "font-style: italic");
  const css = readFileSync("static/src/css/overview.css", "utf8");
  for (const [, selectors = ""] of css.matchAll(/([^{};]+)\{/g))
    assert.doesNotMatch(selectors, /data-stale.*\.(health|verdict)/, "no rule changes a stale verdict");
});

void test("a long kind name is truncated at the edge of its card", () => {
  check("related", ".card :is(.kind, .where)", "min-width: 0", "overflow: hidden", "text-overflow: ellipsis");
  check("related", ".card .state", "flex: none");
});

void test("the note about waiting changes pulses, and the panel slides in, unless the user prefers less motion", () => {
  check("dialogs", ".pending-changes", "animation: pulse 600ms ease-out");
  check("panel", ".side-panel", "animation: slide 150ms ease-out");
  for (const [sheet, selector] of [
    ["dialogs", ".pending-changes"],
    ["panel", ".side-panel"],
  ] as const) {
    const css = readFileSync(`static/src/css/${sheet}.css`, "utf8");
    const media = "@media (prefers-reduced-motion: no-preference) {";
    assert.match(css, new RegExp(`${escaped(media)}\\s*${escaped(selector)} \\{\\s*animation`), selector);
  }
});

const escaped = (text: string): string => text.replace(/[.(){}]/g, "\\$&");
