// When something happened, and who did it, as elements.

import { ages, clockTime } from "./age.ts";
import { h } from "./dom.ts";
import type { By } from "./wire.ts";

/** A time that passes; the pointer is told the moment. */
export function timeOf(at: string, now: number): HTMLElement {
  return h("time", { datetime: at, "data-wire": at, title: clockTime(at, now) }, ages(at, now));
}

/** The words for an author: who, and beside it how. */
export function byView(by: By): HTMLElement {
  const how = [by.operation, by.subresource].filter((w) => w !== "").join(" ");
  return h("span", { class: "by" }, by.manager === "" ? "unnamed" : by.manager, ...(how === "" ? [] : [" ", h("span", { class: "how" }, how)]));
}
