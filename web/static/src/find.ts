// Computes the palette's results for a text: resources, namespaces, objects and commands, each with its target.

import { instead, isContext, parseColon } from "./colon.ts";
import type { Command } from "./commands.ts";
import { contextWords, type Context } from "./contexts.ts";
import { digits } from "./dom.ts";
import { Fuzzy } from "./fuzzy.ts";
import { plural, type Listed } from "./kinds.ts";
import { keyOf } from "./ordered.ts";
import type { Rows } from "./rows.ts";
import type { Answer, Found } from "./search.ts";
import { formatView, objectHref, plain, type ObjectName, type View } from "./view.ts";

export interface Item {
  readonly section: string;
  readonly label: string;
  /** The matching ranges of the label: from, to, from, to. */
  readonly ranges: readonly number[];
  readonly detail: string;
  readonly keys: readonly string[];
  /** The URL of the result, to open it in another browser tab; null for an action on this page. */
  readonly href: string | null;
  /** The text that the Tab key puts into the search box; empty if the Tab key does nothing. */
  readonly fill: string;
  readonly act:
    { readonly view: View } | { readonly object: ObjectName; readonly ref: string } | { readonly command: Command };
}

/** The data that the palette searches. */
export interface Known {
  readonly kinds: readonly Listed[];
  readonly pins: readonly string[];
  readonly recent: readonly string[];
  readonly namespaces: readonly string[];
  readonly commands: readonly Command[];
  /** The kubeconfig contexts that the user can switch to; null if the server offers only one cluster. */
  readonly contexts: readonly (Context & { readonly choose: () => void })[] | null;
  /** The view of the page; null if the page is not a list. */
  readonly view: View | null;
  /** The rows of the list page; null if the page does not have all of them. */
  readonly rows: Rows | null;
  /** The number of rows in a list of which the page has only a part; otherwise null. */
  readonly kept: number | null;
}

export interface Offer {
  readonly items: readonly Item[];
  /** A message below the items, or in place of them. */
  readonly words: string;
}

export class Finder {
  private readonly fuzzy = new Fuzzy();
  private names: { rows: Rows; version: number; keys: string[] } | null = null;

  find(typed: string, known: Known, answer: Answer): Offer {
    const text = typed.trim();
    if (text.startsWith(":")) return this.colon(typed.slice(typed.indexOf(":") + 1), known);
    // Leave out the resource that the page shows, so that the first recent one is the previous one, and Enter opens it.
    const before = { ...known, recent: known.recent.filter((ref) => ref !== known.view?.ref) };
    if (text === "")
      return {
        items: [
          ...kindItems(rankKinds(before, "", this.fuzzy), before, true).slice(0, 10),
          ...commandItems(known.commands),
        ],
        words: "",
      };
    const terms = text.toLowerCase().split(/[\s-]+/);
    const ranked = rankKinds(known, text, this.fuzzy).slice(0, 6);
    const meant = ranked.filter((k) =>
      terms.every((term) => `${spelled(k)} ${k.resource}.${k.group}`.toLowerCase().includes(term)),
    );
    const here = this.objects(text, known, answer, 8);
    const elsewhere = answer.results.filter((r) => !onPage(r, known)).slice(0, 12);
    const items = [
      ...kindItems(meant, known, false, text),
      ...this.namespaces(text, known),
      ...this.contexts(text, known).slice(0, 4),
      ...here.items,
      ...elsewhere.map((r): Item => objectItem(r.ref, r, "Other resources", [], r.kind)),
      // Resources that match only fuzzily are last. For example, "store" matches CustomResources with one letter
      // between, but the user more likely means an object such as "storefront".
      ...kindItems(
        ranked.filter((k) => !meant.includes(k)),
        known,
      ).map((item) => ({ ...item, section: "Did you mean" })),
      ...this.commands(text, known),
      ...filterItem(text, known),
    ];
    return {
      items,
      words:
        here.total > here.items.length
          ? `Showing ${here.items.length} of ${digits(here.total)} matches in this list.`
          : "",
    };
  }

  private colon(text: string, known: Known): Offer {
    const { word, through, ns, labels, filter } = parseColon(text);
    if (isContext(word) && known.contexts !== null) {
      const items = this.contexts(text.trimStart().slice(word.length).trim(), known);
      return { items, words: items.length === 0 ? "No contexts match." : "" };
    }
    const sorry = instead(word);
    if (sorry !== undefined)
      return { items: word.startsWith("pulse") ? this.commands("watch status", known) : [], words: sorry };
    if (["h", "help", "?"].includes(word))
      return { items: known.commands.filter((c) => c.words === "Help").map(commandItem), words: "" };
    const kinds = rankKinds(known, word, this.fuzzy);
    if (!through || kinds[0] === undefined) {
      return {
        items: kindItems(kinds, known, false, word).slice(0, 12),
        words: kinds.length === 0 ? `No resources match “${word}”.` : "Add a namespace: :deploy shop",
      };
    }
    const kind = kinds[0];
    const narrow = { labels, q: filter };
    const at = (ns: string[], label: string, fill: string): Item => ({
      ...viewItem({ ...plain(kind.ref), ...narrow, ns }, "Go to", label),
      fill,
    });
    const title = plural(kind);
    const what = `${title}${labels === "" ? "" : ` with ${labels}`}${
      filter === "" ? "" : ` that match “${filter}”`
    }`;
    if (!kind.namespaced) return { items: [at([], what, "")], words: ns === "" ? "" : `${title} are cluster-scoped.` };
    if (ns === "all" || ns === "-A") return { items: [at([], `${what} in all namespaces`, "")], words: "" };
    const names = known.namespaces;
    const found =
      ns === ""
        ? names.map((name) => ({ name }))
        : this.fuzzy.search(names, ns, 20).best.map((b) => ({ name: names[b.index] ?? "" }));
    const sorted = found.sort(
      (a, b) =>
        Number(b.name === ns) - Number(a.name === ns) || Number(b.name.startsWith(ns)) - Number(a.name.startsWith(ns)),
    );
    const items = sorted.slice(0, 12).map(({ name }) => at([name], `${what} in ${name}`, `:${word} ${name} `));
    if (ns === "") items.unshift(at([], `${what} in all namespaces`, ""));
    else if (!names.includes(ns)) items.push(at([ns], `${what} in ${ns} (unknown namespace)`, ""));
    return { items, words: "" };
  }

  private contexts(text: string, known: Known): Item[] {
    const all = known.contexts ?? [];
    const found =
      text === ""
        ? all.map((_, index) => ({ index, ranges: [] as readonly number[] }))
        : this.fuzzy.search(
            all.map((c) => c.name),
            text,
            all.length,
          ).best;
    return found.flatMap(({ index, ranges }) => {
      const c = all[index];
      return c === undefined
        ? []
        : [
            {
              ...commandItem({ words: c.name, group: "", keys: [], where: "page", run: c.choose }),
              section: "Contexts",
              ranges,
              detail: contextWords(c),
              fill: `:ctx ${c.name}`,
            },
          ];
    });
  }

  private namespaces(text: string, known: Known): Item[] {
    return this.fuzzy.search(known.namespaces, text, 4).best.map(({ index, ranges }) => {
      const name = known.namespaces[index] ?? "";
      const kind = known.kinds.find((k) => k.ref === known.view?.ref);
      const view =
        kind?.namespaced === true && known.view !== null
          ? { ...known.view, ns: [name], open: null, tab: "" }
          : { ...plain("core/v1/pods"), ns: [name] };
      const shown = kind?.namespaced === true ? plural(kind) : "Pods";
      return { ...viewItem(view, "Namespaces", name), ranges, detail: `${shown} in this namespace` };
    });
  }

  private objects(text: string, known: Known, answer: Answer, most: number): { items: Item[]; total: number } {
    const { rows, view } = known;
    if (view === null) return { items: [], total: 0 };
    if (rows === null) {
      const items = answer.results
        .filter((r) => onPage(r, known))
        .slice(0, most)
        .map((r) => objectItem(r.ref, r, "In this list", [], r.kind));
      return { items, total: items.length };
    }
    if (this.names === null || this.names.rows !== rows || this.names.version !== rows.version) {
      this.names = { rows, version: rows.version, keys: Array.from(rows.all(), (e) => (e.ns === "" ? e.name : e.key)) };
    }
    const { keys } = this.names;
    const kind = known.kinds.find((k) => k.ref === view.ref)?.kind ?? "";
    const { best, total } = this.fuzzy.search(keys, text, most);
    return {
      items: best.map(({ index, ranges }) =>
        objectItem(view.ref, nameOf(keys[index] ?? ""), "In this list", ranges, kind),
      ),
      total,
    };
  }

  private commands(text: string, known: Known): Item[] {
    const can = known.commands.filter((c) => c.can?.() !== false);
    return this.fuzzy
      .search(
        can.map((c) => c.words),
        text,
        6,
      )
      .best.map(({ index, ranges }) => ({ ...commandItem(can[index] as Command), ranges }));
  }
}

// Whether the list on the page includes an object that the server's search found. If the page does not have all rows,
// and the view has a label selector, this is unknown, because the search does not return labels.
function onPage(r: Found, { view, rows, kept }: Known): boolean {
  if (view?.ref !== r.ref) return false;
  if (rows !== null) return rows.get(keyOf(r.ns, r.name)) !== undefined;
  return kept !== null && view.labels === "" && (view.ns.length === 0 || view.ns.includes(r.ns));
}

/** Ranks the resources that a text matches: exact names first, then prefixes, then other matches. */
export function rankKinds(known: Pick<Known, "kinds" | "pins" | "recent">, text: string, fuzzy: Fuzzy): Listed[] {
  const { kinds, pins, recent } = known;
  const liked = (k: Listed): number =>
    (pins.includes(k.ref) ? pins.indexOf(k.ref) : recent.includes(k.ref) ? 100 + recent.indexOf(k.ref) : 1000);
  if (text === "") return kinds.filter((k) => liked(k) < 1000).sort((a, b) => liked(a) - liked(b));
  const word = text.toLowerCase();
  const names = (k: Listed): string[] => [k.resource, k.kind.toLowerCase(), ...k.short];
  const tier = (k: Listed): number => {
    if (names(k).includes(word) || `${k.resource}.${k.group}` === word) return 0;
    if (names(k).some((n) => n.startsWith(word))) return 1;
    return k.categories.includes(word) || k.group === word ? 2 : 3;
  };
  const hay = kinds.map(spelled);
  const found = fuzzy
    .search(hay, text, kinds.length)
    .best.map(({ index }, place) => ({ kind: kinds[index] as Listed, place }));
  const rest = kinds
    .filter((k) => tier(k) < 3 && !found.some((f) => f.kind === k))
    .map((kind) => ({ kind, place: found.length }));
  return [...found, ...rest]
    .sort((a, b) => tier(a.kind) - tier(b.kind) || liked(a.kind) - liked(b.kind) || a.place - b.place)
    .map((f) => f.kind);
}

// Returns all names of a resource by which the search finds it, in one string.
const spelled = (k: Listed): string => [plural(k), k.kind, ...k.short, k.group, ...k.categories].join(" ");

function kindItems(kinds: readonly Listed[], known: Known, sorted = false, typed = ""): Item[] {
  const ns = known.view?.ns ?? [];
  return kinds.map((k) => {
    const section = !sorted
      ? "Resources"
      : known.pins.includes(k.ref)
        ? "Pinned"
        : known.recent.includes(k.ref)
          ? "Recent"
          : "Resources";
    const count = k.count === null ? "" : digits(k.count);
    const detail = [k.short.join(" "), k.group === "core" ? "" : k.group, k.state === "forbidden" ? "forbidden" : count]
      .filter((w) => w !== "")
      .join(" · ");
    return {
      ...viewItem({ ...plain(k.ref), ns: k.namespaced ? ns : [] }, section, plural(k)),
      ranges: within(plural(k), typed),
      detail,
      fill: `:${k.short[0] ?? k.resource} `,
    };
  });
}

// Returns the range of the match in the label, to highlight it. A resource may match by another name than its label.
function within(label: string, typed: string): number[] {
  const at = typed === "" ? -1 : label.toLowerCase().indexOf(typed.toLowerCase());
  return at < 0 ? [] : [at, at + typed.length];
}

const viewItem = (view: View, section: string, label: string): Item => ({
  section,
  label,
  ranges: [],
  detail: "",
  keys: [],
  href: formatView(view),
  fill: "",
  act: { view },
});

const objectItem = (ref: string, name: ObjectName, section: string, ranges: readonly number[], kind: string): Item => ({
  section,
  label: name.ns === "" ? name.name : `${name.ns}/${name.name}`,
  ranges,
  detail: kind,
  keys: [],
  href: objectHref(ref, name),
  fill: "",
  act: { object: { ns: name.ns, name: name.name }, ref },
});

const commandItem = (command: Command): Item => ({
  section: "Commands",
  label: command.words,
  ranges: [],
  detail: "",
  keys: command.keys.slice(0, 1),
  href: null,
  fill: "",
  act: { command },
});

const commandItems = (commands: readonly Command[]): Item[] =>
  commands.filter((c) => c.can?.() !== false).map(commandItem);

function filterItem(text: string, { view, kinds }: Known): Item[] {
  const kind = kinds.find((k) => k.ref === view?.ref);
  return view === null || kind === undefined
    ? []
    : [viewItem({ ...view, q: text }, "Commands", `Filter ${plural(kind)} by “${text}”`)];
}

const nameOf = (key: string): ObjectName => {
  const slash = key.indexOf("/");
  return { ns: slash < 0 ? "" : key.slice(0, slash), name: key.slice(slash + 1) };
};

/** Returns a sentence about which data the search covered. */
export function lookedThrough(known: Known, answer: Answer): string {
  const here = [
    `${digits(known.kinds.length)} resource ${known.kinds.length === 1 ? "type" : "types"}`,
    ...(known.namespaces.length === 0
      ? []
      : [`${digits(known.namespaces.length)} ${known.namespaces.length === 1 ? "namespace" : "namespaces"}`]),
  ];
  const kind = known.kinds.find((k) => k.ref === known.view?.ref);
  const kept = answer.searched.some((s) => s.ref === kind?.ref && s.count !== null) ? known.kept : null;
  const rows = known.rows?.total ?? kept;
  if (rows !== null && kind !== undefined)
    here.push(
      `${digits(rows)} ${rows === 1 ? kind.kind : plural(kind)} in this list${
        known.rows?.complete === false ? " (still loading)" : ""
      }`,
    );
  const searched = answer.searched.map((s) => {
    const whole = s.state === "live" || s.state === "";
    return `${s.count === null ? "" : `${digits(s.count)} `}${s.ref.split("/")[2] ?? ""}${
      whole ? "" : ` (${s.state})`
    }`;
  });
  const server =
    searched.length === 0
      ? ""
      : ` On the server: ${[
          ...searched.slice(0, 6),
          ...(searched.length > 6
            ? [`${searched.length - 6} more resource ${searched.length === 7 ? "type" : "types"}`]
            : []),
        ].join(", ")}.`;
  return `Searched the names of ${sentence(here)}.${server}${answer.trouble === "" ? "" : ` ${answer.trouble}`}`;
}

const sentence = (parts: readonly string[]): string =>
  (parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1] ?? ""}`);
