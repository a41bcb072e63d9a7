// The keyboard commands of the home page. They treat each problem like a row of a list.

import { previousLogCommand, rowCommands, tabCommands } from "../keymap.ts";
import { sharedParts } from "../model/guest.ts";
import type { ObjectRef } from "../net/overview.ts";
import { tabs, tabsFor } from "../object/tabs.ts";
import type { Command } from "../palette/commands.ts";
import { byId } from "../ui/dom.ts";
import { showToast } from "../ui/toast.ts";
import { hrefOf } from "./links.ts";
import { openComparison, type Marks } from "./marks.ts";

/** What the commands of the home page need from the page. */
interface HomeHost {
  readonly view: { readonly q: string };
  readonly marks: Marks;
  setFilter(q: string): void;
  /** Saves the shown problems as a file. */
  exportProblems(): void;
  selectNamespace(): void;
}

/**
 * Returns the commands of the home page. A problem lists several objects. Commands for problems use the problem that
 * contains the focus. Commands for objects use the object that has the focus.
 */
export function homeCommands(home: HomeHost): Command[] {
  const showMembers = (key: string, label: string, open: boolean): Command => ({
    group: "Problems",
    keys: [key],
    scope: "rows",
    label,
    run: () => setMembersOpen(open),
  });
  return [
    ...rowCommands({
      group: "Problems",
      setFilter: (q) => home.setFilter(q),
      focus: () => focusProblem("first"),
      move: focusProblem,
      open: () => {
        const focused = document.activeElement;
        if (focused instanceof HTMLElement && focused.closest("#rows") !== null) focused.click();
      },
      act: (action) => withObject((o) => void runAction(action, o, home.marks)),
    }),
    {
      group: "Problems",
      keys: ["Escape"],
      scope: "page",
      label: "Show all problems",
      run: () => home.setFilter(""),
      isEnabled: () => home.view.q !== "",
    },
    showMembers("ArrowRight", "Show objects of the problem", true),
    showMembers("ArrowLeft", "Hide objects of the problem", false),
    {
      group: "Problems",
      keys: ["]", "["],
      scope: "page",
      label: "Next / previous object of the problem",
      repeats: true,
      run: (key) => focusMember(key === "]" ? 1 : -1),
    },
    ...(sharedParts() === null ? comparisonCommands(home.marks) : []),
    {
      group: "View",
      keys: ["n"],
      scope: "page",
      label: "Select namespace",
      inPalette: true,
      run: () => home.selectNamespace(),
    },
    {
      group: "View",
      keys: ["x"],
      scope: "page",
      label: "Export problems",
      inPalette: true,
      run: () => home.exportProblems(),
    },
    ...tabCommands(tabs, (key) => withObject((o) => openTab(o, key))),
    previousLogCommand(() =>
      withObject(() => {
        const log = problemOf(document.activeElement)?.querySelector("a.log")?.getAttribute("href");
        if (log == null) showToast("No previous log is available for this problem.");
        else location.assign(log);
      }),
    ),
  ];
}

const comparisonCommands = (marks: Marks): Command[] => [
  {
    group: "Problems",
    keys: [" "],
    scope: "rows",
    label: "Mark object to compare",
    inPalette: true,
    // The space bar also opens and closes the list of a problem's objects, if this list has the focus.
    isEnabled: () => document.activeElement?.localName !== "summary",
    run: () => withObject((o) => marks.toggle(o)),
  },
  {
    group: "Problems",
    keys: ["="],
    scope: "page",
    label: "Compare marked objects",
    inPalette: true,
    run: () => marks.compare(),
  },
];

const problemOf = (e: Element | null): HTMLElement | null => e?.closest<HTMLElement>("li.finding") ?? null;

/** Reads the object in the attribute data-key: resource/namespace/name, or resource/name for cluster-scoped objects. */
function objectAt(e: Element | null): ObjectRef | null {
  const segments = e?.closest<HTMLElement>("#rows [data-key]")?.dataset["key"]?.split("/") ?? [];
  const [group, version, resource, ...rest] = segments;
  const name = rest.pop();
  return name === undefined
    ? null
    : { resource: `${group}/${version}/${resource}`, kind: resource ?? "", ns: rest.join("/"), name };
}

function withObject(run: (o: ObjectRef) => void): void {
  const o = objectAt(document.activeElement);
  if (o === null) showToast("Select a problem first, with the arrow keys.");
  else run(o);
}

const tabsOf = ({ resource: ref, kind, ns }: ObjectRef) =>
  tabsFor({ ref, kind, resource: kind, namespaced: ns !== "" }).filter((t) => t.key !== undefined);

/**
 * Returns the URL of a tab of an object, or null if the viewer cannot open the object. The URL of the first tab does
 * not name the tab.
 */
const tabHref = (o: ObjectRef, id: string): string | null => hrefOf(o, id === tabs[0]?.id ? "" : id);

function openTab(o: ObjectRef, key: string): void {
  const label = tabs.find((t) => t.key === key)?.label ?? "";
  const tab = tabsOf(o).find((t) => t.key === key);
  const href = tab === undefined ? null : tabHref(o, tab.id);
  if (href !== null) location.assign(href);
  else if (tab !== undefined && sharedParts() !== null)
    showToast(`The share link does not include the ${label} tab of this object.`);
  else if (tab !== undefined) showToast("This object cannot be opened, because its resource type is unknown.");
  else showToast(`This object has no ${label} tab.`);
}

async function runAction(action: "menu" | "copy", o: ObjectRef, marks: Marks): Promise<void> {
  const focused = document.activeElement as HTMLElement;
  const { copyItems, copyName, textOf } = await import("../list/copy-items.ts");
  if (action === "copy") return copyName(o);
  const { openRowMenu } = await import("../list/row-menu.tsx");
  const page = hrefOf(o);
  const other = marks.other(o);
  const items = [
    ...tabsOf(o).flatMap(({ id, label, key }) => {
      const href = tabHref(o, id);
      return href === null ? [] : [{ label, key, run: () => location.assign(href) }];
    }),
    ...(page === null ? [] : [{ label: "Open in new tab", href: page }]),
    ...copyItems(o.resource, o),
    ...(sharedParts() === null
      ? [{ label: marks.has(o) ? "Remove mark" : "Mark to compare", key: " ", run: () => marks.toggle(o) }]
      : []),
    ...(other === undefined
      ? []
      : [{ label: `Compare with ${textOf(other)}`, key: "=", run: () => void openComparison(other, o) }]),
  ];
  await openRowMenu(textOf(o), items, focused.getBoundingClientRect(), byId("overview"), focused);
}

function focusProblem(by: number | "first" | "last" | "page-down" | "page-up"): void {
  const problems = [...byId("overview").querySelectorAll<HTMLElement>("li.finding")];
  const focused = problemOf(document.activeElement);
  const at = focused === null ? -1 : problems.indexOf(focused);
  const last = problems.length - 1;
  const to = by === "first" ? 0 : by === "last" ? last : typeof by === "number" ? at + by : pageFrom(problems, at, by);
  const next = problems[Math.max(0, Math.min(last, to))];
  // Focus the name of the object. It is a link, except if a share link does not include the object.
  const target = next?.querySelector<HTMLElement>(".object-link");
  if (target == null) return byId("overview").focus({ preventScroll: true });
  if (target.localName !== "a") target.tabIndex = -1;
  target.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "nearest" });
}

// Focuses the next or previous object of the problem that contains the focus. The problem itself is before the first
// object of its list, and the list opens.
function focusMember(by: 1 | -1): void {
  const problem = problemOf(document.activeElement);
  if (problem === null) return showToast("Select a problem first, with the arrow keys.");
  setMembersOpen(true);
  const objects = [
    ...problem.querySelectorAll<HTMLElement>(".what .object-link"),
    ...problem.querySelectorAll<HTMLElement>(".members [data-key] .object-link"),
  ];
  const at = objects.findIndex((e) => e === document.activeElement);
  const next = objects[Math.max(0, Math.min(objects.length - 1, at + by))];
  if (next !== undefined) focusLink(next);
}

function focusLink(link: HTMLElement): void {
  if (link.localName !== "a") link.tabIndex = -1;
  link.focus({ preventScroll: true });
  link.scrollIntoView({ block: "nearest" });
}

// Returns the index of the problem that is one page before or after the problem at the index `at`. A page is a distance
// in pixels, because problems have different heights. It contains at least one problem.
function pageFrom(problems: readonly HTMLElement[], at: number, by: "page-down" | "page-up"): number {
  const from = problems[at];
  if (from === undefined) return 0;
  const page = 0.8 * byId("overview").clientHeight;
  const distance = (e: HTMLElement): number => e.getBoundingClientRect().top - from.getBoundingClientRect().top;
  if (by === "page-up")
    return Math.min(
      at - 1,
      problems.findIndex((e) => distance(e) >= -page),
    );
  const beyond = problems.findIndex((e) => distance(e) > page);
  return Math.max(at + 1, beyond < 0 ? problems.length - 1 : beyond - 1);
}

function setMembersOpen(open: boolean): void {
  const members = problemOf(document.activeElement)?.querySelector("details");
  if (members != null) members.open = open;
}
