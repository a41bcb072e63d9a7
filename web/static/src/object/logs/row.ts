import { h, textNodes } from "../../ui/dom.ts";
import { formatInteger } from "../../text/format.ts";
import { levelOf } from "./level.ts";
import type { Line } from "./lines.ts";
import type { Span } from "./search.ts";

export const maxDrawnLength = 4000;

/** Creates the element of a line. The parameter `current` is the index of the selected match in the line, or -1. */
export function createLineElement(line: Line, times: boolean, found: readonly Span[], current: number): HTMLElement {
  if (line.note === true) return h("div", { class: "log-note" }, line.text);
  const level = levelOf(line.text);
  const row = h("div", { class: "log-line", "data-level": level?.severity });
  if (times && line.at !== "") row.append(h("time", { datetime: line.at }, shortTime(line.at)), " ");
  const { source } = line;
  if (source !== undefined)
    row.append(
      h("span", { class: "log-source", "data-color": String(source.color), title: source.name }, source.label),
      " ",
    );
  const text = line.text.length > maxDrawnLength ? line.text.slice(0, maxDrawnLength) : line.text;
  const marks = found.map((span, nth) => ({
    ...span,
    make: (part: string) => h("mark", { "data-current": nth === current ? true : null }, part),
  }));
  const word =
    level === null || found.some((f) => f.start < level.end && f.end > level.start)
      ? []
      : [{ ...level, make: (part: string) => h("span", { class: "level" }, part) }];
  let at = 0;
  for (const span of [...marks, ...word].sort((a, b) => a.start - b.start)) {
    if (span.start >= text.length) break;
    row.append(...textNodes(text.slice(at, span.start)), span.make(text.slice(span.start, span.end)));
    at = span.end;
  }
  row.append(...textNodes(text.slice(at)));
  if (text !== line.text)
    row.append(
      h(
        "span",
        { class: "log-more" },
        ` ⋯ ${formatInteger(line.text.length - maxDrawnLength)} more characters (included in copies)`,
      ),
    );
  return row;
}

/** Formats a time in the browser's time zone, such as 14:03:22.945. */
function shortTime(at: string): string {
  const d = new Date(at);
  if (Number.isNaN(d.getTime())) return at;
  const two = (n: number, width = 2): string => String(n).padStart(width, "0");
  return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}.${two(d.getMilliseconds(), 3)}`;
}
