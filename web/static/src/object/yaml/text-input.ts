import { formatInteger } from "../../text/format.ts";
import type { Bar } from "./bar.tsx";
import { range, type Search } from "./search.ts";
import { showRest, type Row } from "../../yaml/row.ts";
import type { LiveText } from "./live-text.ts";

const gutter = 22; // pixels; a click this close to the left edge of a line folds the line

export class TextInput {
  private active: Row | null = null;

  constructor(
    private readonly text: LiveText,
    private readonly search: Search,
    private readonly bar: Bar,
    private readonly onHighlight: () => void,
  ) {
    const { element } = text;
    element.addEventListener("click", (e) => this.click(e));
    // The browser's find-in-page is about to reveal a match in hidden text, so show this text.
    element.addEventListener("beforematch", (e) => {
      const row = text.row(e.target as Node);
      if (row === undefined) return;
      if (e.target !== row.element) showRest(row);
      this.reveal(row);
    });
  }

  updateBar(): void {
    this.bar.find.showCount(this.search.number, this.search.count);
    this.bar.set({ hasFolds: this.text.rows.some((row) => row.folded) });
    this.onHighlight();
  }

  /** Selects the next match (by = 1) or the previous one (by = -1), and scrolls to it. */
  step(by: 1 | -1): void {
    const hit = this.search.step(by, this.firstVisibleRow()?.index ?? 0);
    this.updateBar();
    if (hit === null) return;
    const { row, at } = hit;
    this.reveal(row);
    const matchRange = range(row, at, at + 1);
    if (matchRange?.startContainer.parentElement?.className === "piece") showRest(row);
    const box = this.text.element.getBoundingClientRect();
    row.element.scrollIntoView({ block: "nearest", inline: "nearest" });
    const matchBox = matchRange?.getBoundingClientRect();
    if (matchBox === undefined) return;
    if (matchBox.top < box.top + 40 || matchBox.bottom > box.bottom - 40)
      this.text.element.scrollTop += matchBox.top - box.top - box.height / 3;
    if (matchBox.left < box.left + gutter || matchBox.right > box.right - 40)
      this.text.element.scrollLeft += matchBox.left - box.left - box.width / 3;
  }

  /** Folds all lines, or unfolds all lines if any line is folded. */
  foldAll(): void {
    const { rows } = this.text;
    const fold = !rows.some((matchRange) => matchRange.folded);
    for (const row of rows) row.folded = fold && row.line.nestedCount > 0;
    this.applyFolds(fold ? "All lines folded" : "All lines unfolded");
    if (fold) this.text.element.scrollTop = 0;
  }

  key(e: KeyboardEvent): void {
    if (e.defaultPrevented || e.altKey || !(e.target instanceof Element)) return;
    const typing = e.target === this.bar.find.input.current;
    const command = e.ctrlKey || e.metaKey;
    const letter = e.key.toLowerCase();
    if (!typing && (command ? letter === "f" && !e.shiftKey : e.key === "/")) {
      this.bar.find.focus();
    } else if (e.target !== this.text.element) return;
    else if (command && letter === "a") getSelection()?.selectAllChildren(this.text.element);
    else if (command || e.shiftKey || !(e.key in moves)) return;
    else this.move(moves[e.key as keyof typeof moves]);
    e.preventDefault();
  }

  // Moves the active line as in a tree view. "in" unfolds a folded line, or else moves to the first nested line. "out"
  // folds an unfolded line, or else moves to the parent line.
  private move(to: "down" | "up" | "in" | "out"): void {
    const at = this.active !== null && this.isVisible(this.active) ? this.active : null;
    if (at === null) return this.activate(this.firstVisibleRow());
    const inner = at.line.nestedCount > 0;
    if (to === "in" && inner && at.folded) this.fold(at, false);
    else if (to === "out" && inner && !at.folded) this.fold(at, true);
    else if (to === "out") this.activate(this.text.parentsOf(at).at(-1) ?? at);
    else if (to !== "in" || inner) this.activate(this.adjacentRow(at, to === "up" ? -1 : 1));
  }

  private adjacentRow(row: Row, step: 1 | -1): Row {
    let i = row.index + step;
    while (this.text.rows[i]?.hidden === true) i += step;
    return this.text.rows[i] ?? row;
  }

  private activate(row: Row | undefined): void {
    this.active?.element.removeAttribute("data-active");
    this.active = row ?? null;
    row?.element.setAttribute("data-active", "");
    row?.element.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  private fold(row: Row, folded: boolean): void {
    row.folded = folded;
    const unit = row.line.nestedCount === 1 ? "line" : "lines";
    this.applyFolds(`${folded ? "Folded" : "Unfolded"} ${formatInteger(row.line.nestedCount)} ${unit}`);
  }

  private applyFolds(words: string): void {
    this.text.keepScrollPosition(() => this.text.refold());
    this.bar.set({ announcement: words });
    this.updateBar();
  }

  private reveal(row: Row): void {
    if (!row.hidden) return;
    for (const matchRange of this.text.parentsOf(row)) matchRange.folded = false;
    this.text.refold();
    this.updateBar();
  }

  private click(e: MouseEvent): void {
    if (!(e.target instanceof Element)) return;
    const row = this.text.row(e.target);
    if (row === undefined) return;
    if (e.target.classList.contains("more")) showRest(row);
    else if (row.line.nestedCount > 0 && e.clientX - row.element.getBoundingClientRect().left < gutter)
      this.fold(row, !row.folded);
    else if (String(getSelection()) === "") this.activate(row);
  }

  private firstVisibleRow(): Row | undefined {
    return [...this.text.nearBlocks]
      .flatMap((b) => b.rows)
      .filter((matchRange) => this.isVisible(matchRange))
      .sort((a, b) => a.index - b.index)[0];
  }

  private isVisible(row: Row): boolean {
    if (row.index < 0 || row.hidden) return false;
    const box = this.text.element.getBoundingClientRect();
    const { top, bottom } = row.element.getBoundingClientRect();
    return top >= box.top - 1 && bottom <= box.bottom + 1;
  }
}

const moves = { ArrowDown: "down", ArrowUp: "up", ArrowRight: "in", ArrowLeft: "out" } as const;
