// The part of the share dialog in which the user selects resources and namespaces, in two lists of checkboxes.

import type { ComponentChildren, TargetedKeyboardEvent } from "preact";
import { useRef, useState } from "preact/hooks";
import { memo } from "../ui/view.tsx";
import { plural, type ListedKind } from "../net/kinds.ts";
import type { Live } from "../net/live.ts";
import type { ShareChoice } from "./share-text.ts";
import { isNamespaceName } from "../list/namespace-chooser.tsx";
import { useNamespaces } from "../list/use-namespaces.ts";

const maxRows = 200; // maximum number of lines that are drawn in a list

interface CheckboxLine {
  readonly key: string;
  readonly text: string;
  readonly detail: string;
}

/** Returns the selected lines, followed by all other lines that contain every typed word. */
export function matchingLines(
  lines: readonly CheckboxLine[],
  chosen: ReadonlySet<string>,
  typed: string,
): CheckboxLine[] {
  const terms = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((w) => w !== "");
  const matches = ({ key, text, detail }: CheckboxLine): boolean =>
    terms.every((w) => `${key} ${text} ${detail}`.toLowerCase().includes(w));
  // Sort lines that start with a typed word before lines that only contain it ("Services" before "APIServices").
  const starts = ({ text }: CheckboxLine): number => Number(!terms.some((w) => text.toLowerCase().startsWith(w)));
  const others = lines.filter((l) => !chosen.has(l.key) && matches(l)).sort((a, b) => starts(a) - starts(b));
  return [...lines.filter((l) => chosen.has(l.key)), ...others];
}

/** The resources and namespaces that the user has selected. */
export interface KindSelection {
  /** The refs of the resources, in the order in which the user selected them. The link opens the first one. */
  readonly kinds: readonly string[];
  readonly ns: readonly string[];
  readonly allNamespaces: boolean;
}

/** Returns what to share. Returns null while the selection is incomplete. */
export function choiceOf(selection: KindSelection, listedKinds: readonly ListedKind[]): ShareChoice | null {
  const kinds = selection.kinds.map((ref) => listedKinds.find((k) => k.ref === ref)).filter((k) => k !== undefined);
  const ns = [...selection.ns].sort();
  const hasNamespaces = selection.allNamespaces || ns.length > 0 || kinds.every((k) => !k.namespaced);
  return kinds.length === 0 || !hasNamespaces ? null : { what: "kinds", kinds, ns };
}

interface ShareKindsProps {
  live: Live;
  listedKinds: readonly ListedKind[];
  selection: KindSelection;
  onChange: (selection: KindSelection) => void;
  hidden: boolean;
}

export function ShareKinds({ live, listedKinds, selection, onChange, hidden }: ShareKindsProps) {
  const [initialNs] = useState(selection.ns);
  const [typed, setTyped] = useState("");
  // If the list of namespaces is not available, offer the name that the user has typed.
  const offered = isNamespaceName(typed) ? [typed] : [];
  const names = useNamespaces(live).names ?? [...initialNs, ...selection.ns, ...offered];
  const kindLines = listedKinds.map((k) => ({
    key: k.ref,
    text: plural(k),
    detail: k.group === "core" ? "" : k.group,
  }));
  const namespaceLines = [...new Set(names)].sort().map((name) => ({ key: name, text: name, detail: "" }));
  const selectAll = (on: boolean): void => onChange({ ...selection, allNamespaces: on, ns: on ? [] : selection.ns });
  return (
    <div class="share-kinds" hidden={hidden}>
      <CheckboxList
        title="Resources"
        lines={kindLines}
        chosen={selection.kinds}
        onChange={(kinds) => onChange({ ...selection, kinds })}
      />
      <CheckboxList
        title="Namespaces"
        lines={namespaceLines}
        chosen={selection.ns}
        onChange={(ns) => onChange({ ...selection, ns, allNamespaces: selection.allNamespaces && ns.length === 0 })}
        onType={(text) => setTyped(text.trim())}
      >
        <label class="pick">
          <input
            type="checkbox"
            name="all"
            checked={selection.allNamespaces}
            onChange={(e) => selectAll(e.currentTarget.checked)}
          />
          <span class="name">All namespaces</span>
        </label>
      </CheckboxList>
    </div>
  );
}

interface CheckboxListProps {
  title: string;
  lines: readonly CheckboxLine[];
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
  onType?: (typed: string) => void;
  children?: ComponentChildren;
}

// A list of checkboxes, with a filter above it.
function CheckboxList({ title, lines, chosen, onChange, onType, children }: CheckboxListProps) {
  const [typed, setTyped] = useState("");
  // The lines that are selected at first stay at the top, so that no line moves when the user selects it.
  const [first] = useState(() => new Set(chosen));
  const [focused, setFocused] = useState("");
  const list = useRef<HTMLUListElement>(null);
  const filter = useRef<HTMLInputElement>(null);
  const found = matchingLines(lines, first, typed);
  const shown = found.slice(0, maxRows);
  // The Tab key reaches only one of the checkboxes. The arrow keys move between them.
  const tabStop = shown.find((l) => l.key === focused) ?? shown[0];
  const toggle = (key: string, on: boolean): void => {
    const others = chosen.filter((k) => k !== key);
    onChange(on ? [...others, key] : others);
  };
  const moveFocus = (e: TargetedKeyboardEvent<HTMLElement>): void => {
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (step === 0) return;
    e.preventDefault();
    const boxes = [...(list.current?.querySelectorAll("input") ?? [])];
    const to = boxes[boxes.findIndex((box) => box === e.target) + step];
    if (to !== undefined || step < 0) (to ?? filter.current)?.focus();
  };
  const selectFirst = (e: TargetedKeyboardEvent<HTMLElement>): void => {
    if (e.key !== "Enter") return moveFocus(e);
    e.preventDefault(); // do not submit the form
    const match = shown.find((l) => !chosen.includes(l.key));
    if (typed.trim() !== "" && match !== undefined) toggle(match.key, true);
  };
  return (
    <div class="share-list" role="group" aria-label={title}>
      <input
        type="search"
        placeholder={`Filter ${title.toLowerCase()}`}
        aria-label={`Filter ${title.toLowerCase()}`}
        autocomplete="off"
        spellcheck={false}
        ref={filter}
        value={typed}
        onInput={(e) => {
          setTyped(e.currentTarget.value);
          onType?.(e.currentTarget.value);
        }}
        onKeyDown={selectFirst}
      />
      <div class="pop-body">
        {children}
        <ul
          class="pop-list"
          ref={list}
          onKeyDown={moveFocus}
          onFocusIn={(e) => e.target instanceof HTMLInputElement && setFocused(e.target.value)}
          onChange={(e) => e.target instanceof HTMLInputElement && toggle(e.target.value, e.target.checked)}
        >
          {shown.map(({ key, text, detail }) => (
            <Line
              key={key}
              value={key}
              text={text}
              detail={detail}
              isChosen={chosen.includes(key)}
              isTabStop={key === tabStop?.key}
            />
          ))}
        </ul>
      </div>
      <p class="pop-note" role="status">
        {found.length > maxRows && `${found.length - maxRows} more: type to filter.`}
        {found.length === 0 && (typed.trim() === "" ? `No ${title.toLowerCase()} are available.` : "No matches")}
      </p>
    </div>
  );
}

interface LineProps {
  value: string;
  text: string;
  detail: string;
  isChosen: boolean;
  isTabStop: boolean;
}

const Line = memo(({ value, text, detail, isChosen, isTabStop }: LineProps) => (
  <li>
    <label class="pick">
      <input type="checkbox" value={value} checked={isChosen} tabIndex={isTabStop ? 0 : -1} />
      <span class="name" title={text}>
        {text}
      </span>
      <span class="hint">{detail}</span>
    </label>
  </li>
));
