// Elements for the time and the author of a change.

import { ages, clockTime } from "./age.ts";
import { h } from "./dom.ts";
import type { By } from "./wire.ts";

/** Returns an element with the age of a timestamp. Its tooltip shows the exact time. */
export function timeOf(at: string, now: number): HTMLElement {
  return h("time", { datetime: at, "data-wire": at, title: clockTime(at, now) }, ages(at, now));
}

/** Returns an element with the field manager of a change, followed by the operation and the subresource. */
export function byView(by: By): HTMLElement {
  const how = [by.operation, by.subresource].filter((w) => w !== "").join(" ");
  return h(
    "span",
    { class: "by" },
    by.manager === "" ? "unnamed" : by.manager,
    ...(how === "" ? [] : [" ", h("span", { class: "how" }, how)]),
  );
}
