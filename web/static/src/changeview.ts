// One change of an object as an element: its time, its authors, and each field with its previous value.

import { clockTime } from "./age.ts";
import { diffView, type Layout } from "./diffview.ts";
import { h } from "./dom.ts";
import { jsonText, type Field } from "./fields.ts";
import { at } from "./paths.ts";
import type { Step } from "./history.ts";
import { masked } from "./masked.ts";
import { applicable } from "./noise.ts";
import { authorsOf, missedWord, opWords } from "./timeline.ts";
import { valueLines } from "./values.ts";
import { byView, timeOf } from "./who.ts";
import type { Change, Tree } from "./wire.ts";

const mostLines = 24; // lines of a value that are shown at first
const mostBrief = 64; // characters of both values together that fit into one line

/** Returns the element of a change with the given fields. */
export function changeView(step: Step, fields: readonly Field[], layout: Layout, now: number): HTMLElement {
  const { change } = step;
  const who = authorsOf(change);
  const op = step.missed ? missedWord : opWords[change.op];
  const unnamed = step.missed ? missedWords(step) : "Unknown author";
  const head = h(
    "header",
    {},
    h("span", { class: "op" }, op),
    timeOf(change.time, now),
    h(
      "span",
      { class: "who" },
      ...(who.length > 0 ? who.map(byView) : [h("span", { class: "by" }, h("span", { class: "how" }, unnamed))]),
    ),
  );
  const item = h(
    "article",
    {
      class: "happened",
      "data-op": step.missed ? "missed" : change.op,
      "aria-label": `${op} ${clockTime(change.time, now)}`,
    },
    head,
  );
  if (change.op !== "update") return item;
  const draw = (f: Field): HTMLElement => fieldView(f, layout, who.length > 1);
  const loud = fields.filter((f) => !f.noise);
  const quiet = fields.filter((f) => f.noise);
  item.append(...(loud.length > 0 ? loud : quiet).map(draw));
  if (loud.length > 0 && quiet.length > 0)
    head.append(quietButton(quiet.length, () => item.append(...quiet.map(draw))));
  if (!step.missed) head.append(copyButton(change));
  return item;
}

// Returns the words for changes that were missed, for example while the server was down.
function missedWords({ before, after }: Step): string {
  const told = "Earlier changes were missed";
  if (before === null || after === null) return told;
  const uid = (o: Tree): unknown => at(o, ["metadata", "uid"]);
  return `${told}; ${
    uid(before) === uid(after) ? "this is their combined result" : "deleted and recreated, with these differences"
  }`;
}

function quietButton(fields: number, open: () => void): HTMLElement {
  const button = h(
    "button",
    { type: "button", class: "copy", title: "Heartbeats, resource versions and similar fields" },
    `${fields} minor ${fields === 1 ? "field" : "fields"}`,
  );
  button.addEventListener("click", () => {
    button.remove();
    open();
  });
  return button;
}

/** Returns a collapsed section that builds its content when it is first opened. */
export function later(words: string, make: () => HTMLElement[]): HTMLDetailsElement {
  const details = h("details", { class: "quietly" }, h("summary", {}, words));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(...make());
  });
  return details;
}

function fieldView(f: Field, layout: Layout, named: boolean): HTMLElement {
  const path = h("h3", { class: "path" }, f.words, ...(named ? f.by.map(byView) : []));
  const hidden = [f.before, f.after].some((v) => v.is === "value" && masked(v.value));
  const short = hidden ? null : brief(f, layout);
  if (short !== null) return h("div", { class: "field brief" }, path, short);
  const parts: HTMLElement[] = [path, diffView(valueLines(f.before), valueLines(f.after), { layout, most: mostLines })];
  if (f.before.is === "unknown") parts.splice(1, 0, h("p", { class: "untold" }, "The previous value is unknown."));
  if (hidden) parts.push(h("p", { class: "untold" }, "Masked value changed"));
  return h("div", { class: "field" }, ...parts);
}

// Returns a one-line form for a short replacement; null if the field needs lines of its own.
function brief(f: Field, layout: Layout): HTMLElement | null {
  const [before, after] = [valueLines(f.before), valueLines(f.after)];
  const room = before.join("").length + after.join("").length <= mostBrief && before.length <= 1 && after.length <= 1;
  if (layout === "split" || !room || f.before.is === "unknown") return null;
  const parts = [...before.map((l) => h("del", {}, l)), ...after.map((l) => h("ins", {}, l))];
  return h("span", { class: "turn" }, ...parts);
}

function copyButton(change: Change): HTMLElement {
  const button = h(
    "button",
    {
      type: "button",
      class: "copy",
      title:
        "Copy this change as a JSON Patch (RFC 6902), without fields that the API server sets, " +
        "such as metadata.resourceVersion",
    },
    "Copy patch",
  );
  const say = (words: string): void => {
    button.textContent = words;
    setTimeout(() => (button.textContent = "Copy patch"), 2000);
  };
  button.addEventListener("click", () => {
    navigator.clipboard.writeText(jsonText(applicable(change.patch))).then(
      () => say("Copied"),
      () => say("Copy failed"),
    );
  });
  return button;
}
