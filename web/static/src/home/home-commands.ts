// The keys of the home page. They are the same as in lists.

import type { Command, KeyScope } from "../palette/commands.ts";
import { byId, input } from "../ui/dom.ts";

/** What the commands need from the page. */
export interface HomeHost {
  readonly view: { readonly q: string };
  setFilter(q: string): void;
}

/** Returns the commands of the home page. The current problem is the one whose link has the focus. */
export function homeCommands(home: HomeHost): Command[] {
  const command = (
    keys: string,
    scope: KeyScope,
    label: string,
    run: (key: string) => void,
    options: Partial<Command> = {},
  ): Command => ({ group: "Problems", keys: keys.split(" "), scope, label, run, ...options });
  const move = (keys: string, label: string, to: (at: number, last: number) => number): Command =>
    command(keys, "rows", label, () => focusProblem(to), { repeats: true });
  return [
    command(
      "/",
      "page",
      "Filter",
      () => {
        input("q")?.focus();
        input("q")?.select();
      },
      { inPalette: true },
    ),
    command("Enter ArrowDown", "filter", "Move to problems", () => focusProblem(() => 0)),
    command("Escape", "filter", "Clear filter", () => home.setFilter(""), {
      isEnabled: () => input("q")?.value !== "",
    }),
    command("Escape", "page", "Show all problems", () => home.setFilter(""), { isEnabled: () => home.view.q !== "" }),
    move("j ArrowDown", "Down", (at) => at + 1),
    move("k ArrowUp", "Up", (at) => at - 1),
    move("g Home", "First problem", () => 0),
    move("G End", "Last problem", (_, last) => last),
    command("Enter", "rows", "Open object", () => {
      const focused = document.activeElement;
      if (focused instanceof HTMLElement && focused.closest("#rows") !== null) focused.click();
    }),
    command("ArrowRight", "rows", "Show objects", () => showMembers(true)),
    command("ArrowLeft", "rows", "Hide objects", () => showMembers(false)),
  ];
}

const problemOf = (e: Element | null): HTMLElement | null => e?.closest<HTMLElement>("li.finding") ?? null;

function focusProblem(to: (at: number, last: number) => number): void {
  const problems = [...document.querySelectorAll<HTMLElement>("#rows > li.finding")];
  const focused = problemOf(document.activeElement);
  const at = focused === null ? -1 : problems.indexOf(focused);
  const next = problems[Math.max(0, Math.min(problems.length - 1, to(at, problems.length - 1)))];
  // If a share link does not include the object, its name is no link. Then the name itself gets the focus.
  const target = next?.querySelector<HTMLElement>(".object-link");
  if (target == null) return byId("overview").focus({ preventScroll: true });
  if (target.localName !== "a") target.tabIndex = -1;
  target.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "nearest" });
}

function showMembers(open: boolean): void {
  const members = problemOf(document.activeElement)?.querySelector("details");
  if (members != null) members.open = open;
}
