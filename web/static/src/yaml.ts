// Objects as YAML text, and the element that shows it line by line.

import { defineScalarTag, dump, DUMP_SCHEMA, type Schema } from "js-yaml";
import { aligned } from "./diff.ts";
import { h } from "./dom.ts";
import type { Tree } from "./wire.ts";

// Whole numbers beyond 2^53, which decode.ts keeps as bigint, are numbers too.
function schema(): Schema {
  const int = DUMP_SCHEMA.tags.find((t) => t.tagName === "tag:yaml.org,2002:int");
  if (int?.nodeKind !== "scalar") return DUMP_SCHEMA;
  return DUMP_SCHEMA.withTags(defineScalarTag(int.tagName, { ...int, identify: (v) => typeof v === "bigint" || int.identify(v), represent: (v) => String(v) }));
}

const withBigInts = schema();

/** The lines that kubectl prints: keys sorted, lists not indented. */
export function yamlLines(object: Tree): string[] {
  return dump(object, { schema: withBigInts, lineWidth: -1, noRefs: true, sortKeys: true, seqNoIndent: true, quoteStyle: "double" }).trimEnd().split("\n");
}

const mostColoured = 4000; // lines; beyond, plain text is kinder to the browser
const key = /^(\s*(?:- )*)("[^"]*"|'[^']*'|[^\s"'#|>-][^:]*|-[^\s:][^:]*):(?=\s|$)/;

/** Where the keys end in each line, 0 in lines without one; text in block scalars has none. */
export function keyEnds(lines: readonly string[]): number[] {
  let block = -1; // the indent of the key whose block scalar we are in
  return lines.map((line) => {
    const indent = line.length - line.trimStart().length;
    if (block >= 0 && (line.trim() === "" || indent > block)) return 0;
    block = -1;
    const found = key.exec(line);
    if (/(?:^|[:-]\s+)[|>][+-]?\d?[+-]?$/.test(line)) block = found === null ? indent : (found[1]?.length ?? 0);
    return found === null ? 0 : found[0].length;
  });
}

/** A live text: lines that stay the same keep their element, so a selection outlives a change. */
export class YamlView {
  readonly element = h("pre", { class: "yaml", tabindex: "0", "aria-label": "YAML" });
  private lines: readonly string[] = [];

  /** Shows an object; marks the lines that changed against the one shown before. */
  show(object: Tree, mark: boolean): void {
    const next = yamlLines(object);
    const from = aligned(this.lines, next);
    const ends = next.length <= mostColoured ? keyEnds(next) : [];
    const old = [...this.element.children];
    const kept = new Set<Element>();
    let after: Element | null = null;
    next.forEach((text, i) => {
      let line = old[from[i] ?? -1];
      if (line === undefined) {
        const end = ends[i] ?? 0;
        line = end === 0 ? h("span", { class: "line" }, text) : h("span", { class: "line" }, h("span", { class: "key" }, text.slice(0, end)), text.slice(end));
        if (mark) line.setAttribute("data-changed", "");
      } else if (mark) {
        line.removeAttribute("data-changed");
      }
      kept.add(line);
      const place: Element | null = after === null ? this.element.firstElementChild : after.nextElementSibling;
      if (place !== line) {
        if (after === null) this.element.prepend(line);
        else after.after(line);
      }
      after = line;
    });
    for (const line of old) if (!kept.has(line)) line.remove();
    this.lines = next;
  }
}
