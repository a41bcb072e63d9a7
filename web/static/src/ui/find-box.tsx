import { createRef, type TargetedKeyboardEvent } from "preact";
import { formatInteger } from "../text/format.ts";

export interface FindActions {
  setQuery(text: string): void;
  step(by: 1 | -1): void;
  focusText(): void; // moves the keyboard focus from the search box to the searched text
}

export class FindState {
  query = "";
  /** A text such as "3 of 20": the selected match and the number of matches. Empty if the query is empty. */
  matchText = "";
  hasMatches = false;
  readonly input = createRef<HTMLInputElement>();

  /** FindState calls `draw` after each change of the query or of `matchText`. */
  constructor(
    private readonly actions: FindActions,
    private readonly draw: () => void,
  ) {}

  get isFocused(): boolean {
    return document.activeElement === this.input.current;
  }

  focus(): void {
    this.input.current?.focus();
    this.input.current?.select();
  }

  /** Updates matchText. `number` is the position of the selected match, or 0. `count` is the number of matches. */
  showCount(number: number, count: number): void {
    const text =
      count === 0
        ? "No matches"
        : number === 0
          ? `${formatInteger(count)} ${count === 1 ? "match" : "matches"}`
          : `${formatInteger(number)} of ${formatInteger(count)}`;
    const matchText = this.query === "" ? "" : text;
    if (matchText === this.matchText) return;
    this.matchText = matchText;
    this.hasMatches = count > 0;
    this.draw();
  }

  setQuery(query: string): void {
    this.query = query;
    this.actions.setQuery(query);
    this.draw();
  }

  /** Shows a query, but does not search. The caller starts the search. */
  restore(query: string): void {
    this.query = query;
    this.draw();
  }

  step(by: 1 | -1): void {
    this.actions.step(by);
  }

  clear(): void {
    this.setQuery("");
    this.actions.focusText();
  }
}

interface FindBoxProps {
  find: FindState;
  label: string;
  title: string;
  /** Whether screen readers announce `matchText` after each change. */
  announcesMatches?: boolean;
}

export function FindBox({ find, label, title, announcesMatches = false }: FindBoxProps) {
  const { query, matchText, hasMatches } = find;
  const handleKey = (e: TargetedKeyboardEvent<HTMLInputElement>): void => {
    if (e.key === "Enter") find.step(e.shiftKey ? -1 : 1);
    else if (e.key === "Escape") find.clear();
    else return;
    e.preventDefault();
  };
  const stepButton = (by: 1 | -1, buttonLabel: string, buttonTitle: string, sign: string) => (
    <button
      type="button"
      class="icon"
      aria-label={buttonLabel}
      title={buttonTitle}
      hidden={query === ""}
      disabled={!hasMatches}
      onClick={() => find.step(by)}
    >
      {sign}
    </button>
  );
  return (
    <span class="finder">
      <input
        type="search"
        placeholder="Find"
        aria-label={label}
        title={title}
        autocomplete="off"
        spellcheck={false}
        ref={find.input}
        value={query}
        onInput={(e) => find.setQuery(e.currentTarget.value)}
        onKeyDown={handleKey}
      />
      <span class="found" role={announcesMatches ? "status" : undefined}>
        {matchText}
      </span>
      {stepButton(-1, "Previous match", "Previous (Shift Enter)", "↑")}
      {stepButton(1, "Next match", "Next (Enter)", "↓")}
    </span>
  );
}
