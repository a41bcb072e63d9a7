// Creates HTML elements for the time and the author of a change.

import { formatAges, clockTime } from "../text/age.ts";
import { h } from "./dom.ts";
import type { ChangeAuthor } from "../net/wire.ts";

/** Returns an element with the age of a timestamp. Its tooltip shows the exact time. */
export function timeView(at: string, now: number): HTMLElement {
  return h("time", { datetime: at, "data-wire": at, title: clockTime(at, now) }, formatAges(at, now));
}

/** Returns an element with the author of a change: the field manager, the operation and the subresource. */
export function authorView(author: ChangeAuthor): HTMLElement {
  const operationText = [author.operation, author.subresource].filter((w) => w !== "").join(" ");
  return h(
    "span",
    { class: "by" },
    author.manager === "" ? "unnamed" : author.manager,
    ...(operationText === "" ? [] : [" ", h("span", { class: "how" }, operationText)]),
  );
}
