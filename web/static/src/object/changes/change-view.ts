// Draws one change of an object: its time, its authors, and each changed field with its previous and new value.

import { clockTime } from "../../text/age.ts";
import { diffView, type DiffLayout } from "../../diff/diff-view.ts";
import { h } from "../../ui/dom.ts";
import { jsonText, type Field } from "../../model/fields.ts";
import { valueAt } from "../../model/paths.ts";
import type { HistoryStep } from "../../model/history.ts";
import { isMasked } from "../../model/masked.ts";
import { applicableOps } from "../../model/volatile-fields.ts";
import { changeAuthors, gapLabel, opLabels } from "../../activity/timeline.ts";
import { valueLines } from "./values.ts";
import { authorView, timeView } from "../../ui/author-view.ts";
import type { Change, JsonObject } from "../../net/wire.ts";

const maxLines = 24; // maximum number of lines of a value that are shown at first
const maxBriefLength = 64; // maximum number of characters in both values together, for a one-line change

/** Returns an HTML element for a step of the history. Only the given fields are shown. */
export function changeView(step: HistoryStep, fields: readonly Field[], layout: DiffLayout, now: number): HTMLElement {
  const { change } = step;
  const authors = changeAuthors(change);
  const op = step.isGap ? gapLabel : opLabels[change.op];
  const noAuthorText = step.isGap ? missedText(step) : "Unknown author";
  const head = h(
    "header",
    {},
    h("span", { class: "op" }, op),
    timeView(change.time, now),
    h(
      "span",
      { class: "who" },
      ...(authors.length > 0
        ? authors.map(authorView)
        : [h("span", { class: "by" }, h("span", { class: "how" }, noAuthorText))]),
    ),
  );
  const item = h(
    "article",
    {
      class: "change-entry",
      "data-op": step.isGap ? "missed" : change.op,
      "aria-label": `${op} ${clockTime(change.time, now)}`,
    },
    head,
  );
  if (change.op !== "update") return item;
  const draw = (f: Field): HTMLElement => fieldView(f, layout, authors.length > 1);
  const relevant = fields.filter((f) => !f.isVolatile);
  const minor = fields.filter((f) => f.isVolatile);
  item.append(...(relevant.length > 0 ? relevant : minor).map(draw));
  if (relevant.length > 0 && minor.length > 0)
    head.append(minorFieldsButton(minor.length, () => item.append(...minor.map(draw))));
  if (!step.isGap) head.append(copyButton(change));
  return item;
}

// Describes changes that the page has missed, for example because the server was not running.
function missedText({ before, after }: HistoryStep): string {
  const prefix = "Earlier changes were missed";
  if (before === null || after === null) return prefix;
  const uid = (o: JsonObject): unknown => valueAt(o, ["metadata", "uid"]);
  return `${prefix}; ${
    uid(before) === uid(after) ? "this is their combined result" : "deleted and recreated, with these differences"
  }`;
}

function minorFieldsButton(fields: number, open: () => void): HTMLElement {
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

/** Returns a collapsed section. Its content is built when the user first opens it. */
export function lazyDetails(label: string, buildContent: () => HTMLElement[]): HTMLDetailsElement {
  const details = h("details", { class: "minor-changes" }, h("summary", {}, label));
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(...buildContent());
  });
  return details;
}

function fieldView(f: Field, layout: DiffLayout, showAuthors: boolean): HTMLElement {
  const path = h("h3", { class: "path" }, f.pathText, ...(showAuthors ? f.by.map(authorView) : []));
  const masked = [f.before, f.after].some((v) => v.type === "value" && isMasked(v.value));
  const oneLine = masked ? null : briefView(f, layout);
  if (oneLine !== null) return h("div", { class: "field brief" }, path, oneLine);
  const parts: HTMLElement[] = [
    path,
    diffView(valueLines(f.before), valueLines(f.after), { layout, maxPairs: maxLines }),
  ];
  if (f.before.type === "unknown")
    parts.splice(1, 0, h("p", { class: "value-note" }, "The previous value is unknown."));
  if (masked) parts.push(h("p", { class: "value-note" }, "Masked value changed"));
  return h("div", { class: "field" }, ...parts);
}

// Returns a one-line view for a short change. Returns null if the values need more than one line.
function briefView(f: Field, layout: DiffLayout): HTMLElement | null {
  const [before, after] = [valueLines(f.before), valueLines(f.after)];
  const fits =
    before.join("").length + after.join("").length <= maxBriefLength && before.length <= 1 && after.length <= 1;
  if (layout === "split" || !fits || f.before.type === "unknown") return null;
  const parts = [...before.map((l) => h("del", {}, l)), ...after.map((l) => h("ins", {}, l))];
  return h("span", { class: "replacement" }, ...parts);
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
  const showResult = (label: string): void => {
    button.textContent = label;
    setTimeout(() => (button.textContent = "Copy patch"), 2000);
  };
  button.addEventListener("click", () => {
    navigator.clipboard.writeText(jsonText(applicableOps(change.patch))).then(
      () => showResult("Copied"),
      () => showResult("Copy failed"),
    );
  });
  return button;
}
