// The namespace chooser, a popover in which the user selects one or more namespaces.

import "../shared-code.ts";
import type { TargetedKeyboardEvent } from "preact";
import { useRef, useState } from "preact/hooks";
import { formatInteger } from "../text/format.ts";
import { sharedNamespaces } from "../model/guest.ts";
import type { ListPage } from "./list.ts";
import type { Live } from "../net/live.ts";
import type { Content } from "../ui/popover.ts";
import { rememberRecent, storedList } from "../ui/preferences.ts";
import { memo, popoverContent, useRedraw } from "../ui/view.tsx";
import { namespaces } from "../model/view.ts";
import { useNamespaces } from "./use-namespaces.ts";

const maxRows = 200; // maximum number of namespaces that are drawn

/**
 * Returns the namespaces that match the typed text: selected ones first, then recently used ones, then the others.
 */
export function matchingNamespaces(
  knownNamespaces: Iterable<string>,
  chosen: readonly string[],
  recent: readonly string[],
  typed: string,
): string[] {
  const all = new Set([...chosen, ...knownNamespaces]);
  const rank = (ns: string): number => (chosen.includes(ns) ? 0 : recent.includes(ns) ? 1 + recent.indexOf(ns) : 100);
  // Commas separate alternatives. A namespace matches if it contains all words of one alternative.
  const alternatives = typed
    .toLowerCase()
    .split(",")
    .map((t) => t.split(/\s+/).filter((w) => w !== ""))
    .filter((statusText) => statusText.length > 0);
  return [...all]
    .filter(
      (ns) => alternatives.length === 0 || alternatives.some((statusText) => statusText.every((w) => ns.includes(w))),
    )
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

export const isNamespaceName = (text: string): boolean => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text);

interface NamespaceChooserProps {
  live: Live;
  page: ListPage;
  done: () => void;
}

export const namespaceChooser = (live: Live, page: ListPage, done: () => void): Content =>
  popoverContent(<NamespaceChooser live={live} page={page} done={done} />);

function NamespaceChooser({ live, page, done }: NamespaceChooserProps) {
  const redraw = useRedraw();
  const [typedText, setTyped] = useState("");
  const [initiallyChosen] = useState(page.view.ns);
  // Recently used namespaces. Their order stays the same while the chooser is open, so that no line moves.
  const [recent] = useState(() => storedList("namespaces"));
  const [shared] = useState(() => sharedNamespaces(page.view.ref));
  const hasChanged = useRef(false);
  const filter = useRef<HTMLInputElement>(null);
  const body = useRef<HTMLDivElement>(null);
  // Guests see only the namespaces of their link.
  const { names, isRefused } = useNamespaces(shared === null ? live : null);
  // The names of all namespaces that the viewer can select. null if they are unknown.
  const availableNames = shared === null ? names : shared.length === 0 ? null : shared;
  const { ns } = page.view;
  const typed = typedText.trim();
  // If the viewer is not permitted to list namespaces, offer the namespaces of the loaded rows.
  const found = matchingNamespaces([...(availableNames ?? page.names()), ...ns], initiallyChosen, recent, typed);
  const shown = found.slice(0, maxRows);

  // Changes the selected namespaces. All changes while the chooser is open are stored in one entry of the browser's
  // history.
  const choose = (selected: readonly string[]): void => {
    for (const name of selected) if (!page.view.ns.includes(name)) rememberRecent("namespaces", name);
    page.change({ ns: [...new Set(selected)].sort() }, hasChanged.current ? "replace" : "push");
    hasChanged.current = true;
    redraw();
  };
  const chooseAndClose = (selected: readonly string[]): void => {
    choose(selected);
    done();
  };
  // Handles the Enter key in the text box: selects the typed names, or otherwise the first match.
  const submitText = (): void => {
    const typedNames = namespaces(typedText);
    const [first] = shown;
    const known = availableNames === null ? null : new Set(availableNames);
    // If the existing namespaces are unknown, any name that is a valid namespace name can be selected.
    const canSelect = (name: string): boolean =>
      known === null
        ? isNamespaceName(name) && (first === undefined || typedNames.length > 1 || first === name)
        : known.has(name);
    if (typedNames.length === 0) done();
    else if (typedNames.every(canSelect)) chooseAndClose(typedNames);
    else if (first !== undefined) chooseAndClose([first]);
  };
  const handleKey = (e: TargetedKeyboardEvent<HTMLElement>): void => {
    const boxes = [...(body.current?.querySelectorAll("input") ?? [])]; // the first one selects all namespaces
    const at = boxes.findIndex((box) => box === e.target);
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) (boxes[at + step] ?? (step < 0 ? filter.current : null))?.focus();
    else if (e.key !== "Enter") return;
    else if (at > 0) chooseAndClose([boxes[at]?.value ?? ""]);
    else if (at === 0) chooseAndClose([]);
    else if (e.target === filter.current) submitText();
    else return;
    e.preventDefault();
  };
  return (
    <>
      <div class="pop-head" onKeyDown={handleKey}>
        <input
          type="text"
          placeholder="Filter or type a name"
          aria-label="Filter namespaces"
          autocomplete="off"
          spellcheck={false}
          autofocus
          ref={filter}
          value={typedText}
          onInput={(e) => setTyped(e.currentTarget.value)}
        />
      </div>
      <div class="pop-body" ref={body} onKeyDown={handleKey}>
        <label class="pick">
          <input type="checkbox" data-all="" checked={ns.length === 0} onChange={() => choose([])} />
          <span class="name">All namespaces</span>
        </label>
        <ul
          class="pop-list"
          onChange={({ target }) => {
            if (!(target instanceof HTMLInputElement)) return;
            const others = ns.filter((name) => name !== target.value);
            choose(target.checked ? [...others, target.value] : others);
          }}
          onClick={({ target }) => {
            const only = target instanceof Element ? target.closest("button")?.dataset["only"] : undefined;
            if (only !== undefined) chooseAndClose([only]);
          }}
        >
          {shown.map((name) => (
            <Line key={name} name={name} isChosen={ns.includes(name)} />
          ))}
        </ul>
      </div>
      <p class="pop-note" role="status">
        {noteText({
          found: found.length,
          typed,
          isComplete: availableNames !== null,
          isRefused,
          isGuest: shared !== null,
        })}
      </p>
    </>
  );
}

const Line = memo(({ name, isChosen }: { name: string; isChosen: boolean }) => (
  <li>
    <label class="pick">
      <input type="checkbox" value={name} checked={isChosen} />
      <span class="name" title={name}>
        {name}
      </span>
    </label>
    <button type="button" class="only" tabIndex={-1} data-only={name} aria-label={`Only ${name}`}>
      only
    </button>
  </li>
));

interface NoteState {
  found: number; // number of matching namespaces
  typed: string;
  isComplete: boolean; // whether all namespaces are known
  isRefused: boolean;
  isGuest: boolean;
}

function noteText({ found, typed, isComplete, isRefused, isGuest }: NoteState): string {
  const prefix = isGuest
    ? isComplete
      ? ""
      : "Showing only the namespaces of the loaded rows. "
    : isRefused
      ? "Namespaces cannot be listed. Showing only those of the loaded rows. "
      : isComplete
        ? ""
        : "Loading namespaces… ";
  if (found === 0 && typed !== "") {
    const names = namespaces(typed);
    if (!isComplete && names.every(isNamespaceName)) return `${prefix}Press Enter to show ${names.join(", ")}.`;
    return `${prefix}No namespaces match “${typed}”.`;
  }
  if (found > maxRows) return `${prefix}${formatInteger(found - maxRows)} more: type to filter.`;
  return prefix !== ""
    ? `${prefix}Type any namespace name.`
    : "Space: add or remove · Enter: select only this namespace";
}
