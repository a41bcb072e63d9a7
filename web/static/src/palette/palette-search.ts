// Computes the results that the palette shows for a typed text: resources, namespaces, contexts, objects and
// commands.

import { unsupportedHint, isContextCommand, parseColon } from "./colon-command.ts";
import type { Command } from "./commands.ts";
import { contextText, type Context } from "../net/contexts.ts";
import { formatInteger } from "../text/format.ts";
import { Fuzzy } from "../text/fuzzy.ts";
import { plural, type ListedKind } from "../net/kinds.ts";
import { keyOf } from "../model/row-source.ts";
import type { Rows } from "../model/rows.ts";
import type { SearchResponse, SearchResult } from "../net/search.ts";
import { formatHome } from "../model/home-view.ts";
import { formatView, objectHref, defaultView, type ObjectName, type View } from "../model/view.ts";

export interface PaletteItem {
  readonly section: string;
  readonly label: string;
  /** The ranges of the label that match the text, as pairs of start and end indexes. */
  readonly ranges: readonly number[];
  readonly detail: string;
  readonly keys: readonly string[];
  /** The URL of the result, which can be opened in another browser tab. null for an action on this page. */
  readonly href: string | null;
  /**
   * The text that the Tab key puts into the search box, to complete the typed text. If empty, the Tab key uses the
   * label.
   */
  readonly fill: string;
  readonly act:
    | { readonly view: View }
    | { readonly object: ObjectName; readonly ref: string }
    | { readonly command: Command };
}

/** Everything that the palette searches on the current page. */
export interface SearchContext {
  readonly kinds: readonly ListedKind[];
  /** The resources in API versions that are not preferred. Only commands with a colon find them. */
  readonly versions?: readonly ListedKind[];
  readonly pins: readonly string[];
  readonly recent: readonly string[];
  readonly namespaces: readonly string[];
  readonly commands: readonly Command[];
  /** The kubeconfig contexts to which the user can switch. null if the server offers only one. */
  readonly contexts: readonly (Context & { readonly choose: () => void })[] | null;
  /** The view of the list page. null on other pages. */
  readonly view: View | null;
  /** All rows of the list page. null on other pages, or if the page has only some rows. */
  readonly rows: Rows | null;
  /** The total number of rows if the page has only some of them. Otherwise null. */
  readonly windowTotal: number | null;
}

interface PaletteResults {
  readonly items: readonly PaletteItem[];
  /** A message above the results, or in place of them. */
  readonly words: string;
}

export class PaletteSearch {
  private readonly fuzzy = new Fuzzy();
  private cachedNames: { rows: Rows; version: number; keys: string[] } | null = null;

  find(typed: string, context: SearchContext, response: SearchResponse): PaletteResults {
    const text = typed.trim();
    if (text.startsWith(":")) return this.colon(typed.slice(typed.indexOf(":") + 1), context);
    // Omit the resource of this page. Then, unless resources are pinned, the first result is the resource that the user
    // opened before this one, and Enter opens it.
    const withoutCurrent = { ...context, recent: context.recent.filter((ref) => ref !== context.view?.ref) };
    if (text === "")
      return {
        items: [
          ...kindItems(rankKinds(withoutCurrent, "", this.fuzzy), withoutCurrent, true).slice(0, 10),
          ...commandItems(context.commands),
        ],
        words: "",
      };
    const terms = text.toLowerCase().split(/[\s-]+/);
    const ranked = rankKinds(context, text, this.fuzzy).slice(0, 6);
    const exactMatches = ranked.filter((k) =>
      terms.every((term) => `${searchNames(k)} ${k.resource}.${k.group}`.toLowerCase().includes(term)),
    );
    const onThisPage = this.objects(text, context, response, 8);
    const elsewhere = response.results.filter((r) => !isOnPage(r, context)).slice(0, 12);
    const items = [
      ...kindItems(exactMatches, context, false, text),
      ...this.namespaces(text, context),
      ...this.contexts(text, context).slice(0, 4),
      ...onThisPage.items,
      ...elsewhere.map((r): PaletteItem => objectItem(r.ref, r, "Other resources", [], r.kind)),
      // Put resources last if their names match only approximately. For example, "store" matches CuSTOmREsources, but
      // the user probably means an object.
      ...kindItems(
        ranked.filter((k) => !exactMatches.includes(k)),
        context,
      ).map((item) => ({ ...item, section: "Did you mean" })),
      ...this.commands(text, context),
      ...filterItem(text, context),
    ];
    return {
      items,
      words:
        onThisPage.total > onThisPage.items.length
          ? `Showing ${onThisPage.items.length} of ${formatInteger(onThisPage.total)} matches in this list.`
          : "",
    };
  }

  private colon(text: string, context: SearchContext): PaletteResults {
    const { word, hasArguments, ns, labels, filter } = parseColon(text);
    if (isContextCommand(word) && context.contexts !== null) {
      const items = this.contexts(text.trimStart().slice(word.length).trim(), context);
      return { items, words: items.length === 0 ? "No contexts match." : "" };
    }
    const hint = unsupportedHint(word);
    if (hint !== undefined)
      return { items: word.startsWith("pulse") ? this.commands("watch status", context) : [], words: hint };
    if (["h", "help", "?"].includes(word))
      return { items: context.commands.filter((c) => c.label === "Keyboard shortcuts").map(commandItem), words: "" };
    if (word === "home")
      return { items: context.commands.filter((c) => c.label === "Home").map(commandItem), words: "" };
    // As in k9s, ":ns shop" selects a namespace for the current list.
    if (["ns", "namespace", "namespaces"].includes(word) && ns !== "" && context.view !== null) {
      const items = this.namespaces(ns, context);
      return { items, words: items.length === 0 ? `No namespaces match “${ns}”.` : "" };
    }
    const hasHome = context.commands.some((c) => c.label === "Home");
    // Without a name, ":ns " shows the home pages of all namespaces, unless the page is a list.
    const namesNamespace = ns !== "" || (hasArguments && context.view === null);
    if (hasHome && ["ns", "namespace", "namespaces"].includes(word) && namesNamespace)
      return { items: this.namespacePages(ns, word, context), words: "" };
    const kinds = rankKinds(context, word, this.fuzzy, context.versions);
    if (!hasArguments || kinds[0] === undefined) {
      return {
        items: kindItems(kinds, context, false, word).slice(0, 12),
        words:
          word === ""
            ? "Type the name of a resource, for example :deploy"
            : kinds[0] === undefined
              ? `No resource types match “${word}”.`
              : kinds[0].namespaced
                ? "To select a namespace, type it after the resource, for example :deploy shop"
                : "",
      };
    }
    const kind = kinds[0];
    const filters = { labels, q: filter };
    const listItem = (ns: string[], label: string, fill: string): PaletteItem => ({
      ...viewItem({ ...defaultView(kind.ref), ...filters, ns }, "Go to", label),
      fill,
    });
    const title = plural(kind);
    const description = `${title}${labels === "" ? "" : ` with ${labels}`}${
      filter === "" ? "" : ` that match “${filter}”`
    }`;
    if (!kind.namespaced)
      return {
        items: [listItem([], description, "")],
        words: ns === "" ? "" : `${title} are cluster-scoped, so the namespace is ignored.`,
      };
    if (ns === "all" || ns === "-A")
      return { items: [listItem([], `${description} in all namespaces`, "")], words: "" };
    const names = context.namespaces;
    const found =
      ns === ""
        ? names.map((name) => ({ name }))
        : this.fuzzy.search(names, ns, 20).best.map((b) => ({ name: names[b.index] ?? "" }));
    const sorted = found.sort(
      (a, b) =>
        Number(b.name === ns) - Number(a.name === ns) || Number(b.name.startsWith(ns)) - Number(a.name.startsWith(ns)),
    );
    const items = sorted
      .slice(0, 12)
      .map(({ name }) => listItem([name], `${description} in ${name}`, `:${word} ${name} `));
    if (ns === "") items.unshift(listItem([], `${description} in all namespaces`, ""));
    else if (!names.includes(ns)) items.push(listItem([ns], `${description} in ${ns} (unknown namespace)`, ""));
    return { items, words: "" };
  }

  // Returns the home pages of the namespaces that match a name.
  private namespacePages(ns: string, word: string, { namespaces }: SearchContext): PaletteItem[] {
    const all = homeItem([], "Problems in all namespaces", "");
    const pageOf = (name: string): PaletteItem => homeItem([name], `Problems in ${name}`, `:${word} ${name}`);
    if (ns === "") return [all, ...namespaces.slice(0, 12).map(pageOf)];
    if (ns === "all" || ns === "-A") return [all];
    const found = this.fuzzy.search(namespaces, ns, 12).best.map(({ index }) => namespaces[index] ?? "");
    const names = [...found].sort(
      (a, b) => Number(b === ns) - Number(a === ns) || Number(b.startsWith(ns)) - Number(a.startsWith(ns)),
    );
    const items = names.map(pageOf);
    return names.includes(ns) ? items : [...items, homeItem([ns], `Problems in ${ns} (unknown namespace)`, "")];
  }

  private contexts(text: string, context: SearchContext): PaletteItem[] {
    const all = context.contexts ?? [];
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
              ...commandItem({ label: c.name, group: "", keys: [], scope: "page", run: c.choose }),
              section: "Contexts",
              ranges,
              detail: contextText(c),
              fill: `:ctx ${c.name}`,
            },
          ];
    });
  }

  private namespaces(text: string, context: SearchContext): PaletteItem[] {
    return this.fuzzy.search(context.namespaces, text, 4).best.map(({ index, ranges }) => {
      const name = context.namespaces[index] ?? "";
      const kind = context.kinds.find((k) => k.ref === context.view?.ref);
      const view =
        kind?.namespaced === true && context.view !== null
          ? { ...context.view, ns: [name], open: null, tab: "" }
          : { ...defaultView("core/v1/pods"), ns: [name] };
      const shown = kind?.namespaced === true ? plural(kind) : "Pods";
      return { ...viewItem(view, "Namespaces", name), ranges, detail: `${shown} in this namespace` };
    });
  }

  private objects(
    text: string,
    context: SearchContext,
    response: SearchResponse,
    maxItems: number,
  ): { items: PaletteItem[]; total: number } {
    const { rows, view } = context;
    if (view === null) return { items: [], total: 0 };
    if (rows === null) {
      const items = response.results
        .filter((r) => isOnPage(r, context))
        .slice(0, maxItems)
        .map((r) => objectItem(r.ref, r, "In this list", [], r.kind));
      return { items, total: items.length };
    }
    if (this.cachedNames === null || this.cachedNames.rows !== rows || this.cachedNames.version !== rows.version) {
      this.cachedNames = {
        rows,
        version: rows.version,
        keys: Array.from(rows.all(), (e) => (e.ns === "" ? e.name : e.key)),
      };
    }
    const { keys } = this.cachedNames;
    const kind = context.kinds.find((k) => k.ref === view.ref)?.kind ?? "";
    const { best, total } = this.fuzzy.search(keys, text, maxItems);
    return {
      items: best.map(({ index, ranges }) =>
        objectItem(view.ref, nameOf(keys[index] ?? ""), "In this list", ranges, kind),
      ),
      total,
    };
  }

  private commands(text: string, context: SearchContext): PaletteItem[] {
    const enabled = context.commands.filter((c) => c.isEnabled?.() !== false);
    return this.fuzzy
      .search(
        enabled.map((c) => c.label),
        text,
        6,
      )
      .best.map(({ index, ranges }) => ({ ...commandItem(enabled[index] as Command), ranges }));
  }
}

// Reports whether the page's list includes an object that the server's search found.
function isOnPage(r: SearchResult, { view, rows, windowTotal }: SearchContext): boolean {
  if (view?.ref !== r.ref) return false;
  if (rows !== null) return rows.get(keyOf(r.ns, r.name)) !== undefined;
  // Search results contain no labels, so with a label selector, the page cannot check whether its list includes the
  // object.
  return windowTotal !== null && view.labels === "" && (view.ns.length === 0 || view.ns.includes(r.ns));
}

/**
 * Ranks the resources that match a text: exact names first, then prefixes of names, then other matches. If names are
 * equal, resources of Kubernetes are first, so that ":po" always means pods. The parameter `versions` contains further
 * resources. Such a resource ranks below an equally good match that is not in `versions`.
 */
export function rankKinds(
  context: Pick<SearchContext, "kinds" | "pins" | "recent">,
  text: string,
  fuzzy: Fuzzy,
  versions: readonly ListedKind[] = [],
): ListedKind[] {
  const { pins, recent } = context;
  const kinds = [...context.kinds, ...versions];
  const preference = (k: ListedKind): number =>
    pins.includes(k.ref) ? pins.indexOf(k.ref) : recent.includes(k.ref) ? 100 + recent.indexOf(k.ref) : 1000;
  if (text === "") return kinds.filter((k) => preference(k) < 1000).sort((a, b) => preference(a) - preference(b));
  const word = text.toLowerCase();
  const namesOf = (k: ListedKind): string[] => [k.resource, k.kind.toLowerCase(), ...k.short];
  const tier = (k: ListedKind): number => {
    const version = k.ref.split("/")[1] ?? "";
    // Match names with a version, as kubectl does: hpa.v1 or horizontalpodautoscalers.v1.autoscaling
    if ([...namesOf(k).map((n) => `${n}.${version}`), `${k.resource}.${version}.${k.group}`].includes(word)) return -1;
    if (namesOf(k).includes(word) || `${k.resource}.${k.group}` === word) return 0;
    if (namesOf(k).some((n) => n.startsWith(word))) return 1;
    return k.categories.includes(word) || k.group === word ? 2 : 3;
  };
  const found = fuzzy
    .search(kinds.map(searchNames), text, kinds.length)
    .best.map(({ index }, position) => ({ kind: kinds[index] as ListedKind, place: position }));
  const rest = kinds
    .filter((k) => tier(k) < 3 && !found.some((f) => f.kind === k))
    .map((kind) => ({ kind, place: found.length }));
  return [...found, ...rest]
    .sort(
      (a, b) =>
        tier(a.kind) - tier(b.kind) ||
        Number(versions.includes(a.kind)) - Number(versions.includes(b.kind)) ||
        (tier(a.kind) === 0 ? originOf(a.kind) - originOf(b.kind) : 0) ||
        preference(a.kind) - preference(b.kind) ||
        a.place - b.place,
    )
    .map((f) => f.kind);
}

// The core group is first, then the groups of Kubernetes, such as "apps" and "storage.k8s.io", then custom ones.
const originOf = ({ group }: ListedKind): number =>
  group === "core" ? 0 : group.includes(".") && !group.endsWith(".k8s.io") ? 2 : 1;

// Returns all names by which the search finds a resource, as one string.
const searchNames = (k: ListedKind): string => [plural(k), k.kind, ...k.short, k.group, ...k.categories].join(" ");

function kindItems(kinds: readonly ListedKind[], context: SearchContext, sorted = false, typed = ""): PaletteItem[] {
  const ns = context.view?.ns ?? [];
  return kinds.map((k) => {
    const section = !sorted
      ? "Resources"
      : context.pins.includes(k.ref)
        ? "Pinned"
        : context.recent.includes(k.ref)
          ? "Recent"
          : "Resources";
    const count = k.count === null ? "" : formatInteger(k.count);
    const isOther = context.versions?.includes(k) === true;
    const group = isOther ? k.ref.split("/", 2).join("/") : k.group === "core" ? "" : k.group;
    const detail = [k.short.join(" "), group, k.state === "forbidden" ? "forbidden" : count]
      .filter((w) => w !== "")
      .join(" · ");
    return {
      ...viewItem({ ...defaultView(k.ref), ns: k.namespaced ? ns : [] }, section, plural(k)),
      ranges: matchRange(plural(k), typed),
      detail,
      fill: `:${isOther ? `${k.resource}.${k.ref.split("/")[1] ?? ""}.${k.group}` : (k.short[0] ?? k.resource)} `,
    };
  });
}

// Returns the range of the label that matches the typed text. Empty if the text matches only another name of the
// resource.
function matchRange(label: string, typed: string): number[] {
  const at = typed === "" ? -1 : label.toLowerCase().indexOf(typed.toLowerCase());
  return at < 0 ? [] : [at, at + typed.length];
}

const viewItem = (view: View, section: string, label: string): PaletteItem => ({
  section,
  label,
  ranges: [],
  detail: "",
  keys: [],
  href: formatView(view),
  fill: "",
  act: { view },
});

function homeItem(ns: readonly string[], label: string, fill: string): PaletteItem {
  const href = formatHome({ ns, q: "" }, true);
  const command = { label, group: "", keys: [], scope: "page", run: () => location.assign(href) } as const;
  return { ...commandItem(command), section: "Go to", href, fill };
}

const objectItem = (
  ref: string,
  name: ObjectName,
  section: string,
  ranges: readonly number[],
  kind: string,
): PaletteItem => ({
  section,
  label: name.ns === "" ? name.name : `${name.ns}/${name.name}`,
  ranges,
  detail: kind,
  keys: [],
  href: objectHref(ref, name),
  fill: "",
  act: { object: { ns: name.ns, name: name.name }, ref },
});

const commandItem = (command: Command): PaletteItem => ({
  section: "Commands",
  label: command.label,
  ranges: [],
  detail: "",
  keys: command.keys.slice(0, 1),
  href: null,
  fill: "",
  act: { command },
});

const commandItems = (commands: readonly Command[]): PaletteItem[] =>
  commands.filter((c) => c.isEnabled?.() !== false).map(commandItem);

function filterItem(text: string, { view, kinds }: SearchContext): PaletteItem[] {
  const kind = kinds.find((k) => k.ref === view?.ref);
  return view === null || kind === undefined
    ? []
    : [viewItem({ ...view, q: text }, "Commands", `Filter ${plural(kind)} by “${text}”`)];
}

const nameOf = (key: string): ObjectName => {
  const slash = key.indexOf("/");
  return { ns: slash < 0 ? "" : key.slice(0, slash), name: key.slice(slash + 1) };
};
