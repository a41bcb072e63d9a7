// The content of the "Columns" popover. The user chooses the visible columns and the row density.

import "../shared-code.ts";
import type { TargetedKeyboardEvent } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { columnChoices, encodeColumns } from "../model/column-set.ts";
import type { ListPage } from "./list.ts";
import { density, setDensity } from "../ui/theme.ts";
import type { Content } from "../ui/popover.ts";
import { storeList } from "../ui/preferences.ts";
import { popoverContent, useRedraw } from "../ui/view.tsx";

const densityOptions = [
  ["compact", "Compact"],
  ["", "Normal"],
  ["roomy", "Comfortable"],
] as const;

export const columnChooser = (page: ListPage): Content => popoverContent(<ColumnChooser page={page} />);

function ColumnChooser({ page }: { page: ListPage }) {
  const redraw = useRedraw();
  const hasChanged = useRef(false);
  const list = useRef<HTMLUListElement>(null);
  const choices = columnChoices(page.columns, page.kind.namespaced, page.view.cols);
  const isEmpty = choices.length === 0;
  // The columns are unknown until the first rows arrive. Until then, redraw every 200 ms to check for columns.
  useLayoutEffect(() => {
    if (!isEmpty) return;
    const timer = setInterval(redraw, 200);
    return () => clearInterval(timer);
  }, [isEmpty]);
  const choose = (cols: readonly string[]): void => {
    storeList(`columns.${page.view.ref}`, cols);
    page.change({ cols }, hasChanged.current ? "replace" : "push");
    hasChanged.current = true;
    redraw();
  };
  const moveFocus = (e: TargetedKeyboardEvent<HTMLElement>): void => {
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    const boxes = [...(list.current?.querySelectorAll<HTMLInputElement>("input:enabled") ?? [])];
    const at = boxes.findIndex((box) => box === e.target);
    if (step === 0 || at < 0) return;
    e.preventDefault();
    boxes[at + step]?.focus();
  };
  const isRedundant = (name: string): boolean => name === "namespace" && page.view.ns.length === 1;
  const firstEnabled = choices.find((c) => !c.fixed && !isRedundant(c.name));
  return (
    <>
      <div class="pop-head">
        <button type="button" onClick={() => choose([])}>
          Default
        </button>
        <button type="button" onClick={() => choose(["wide"])}>
          All
        </button>
      </div>
      <div class="pop-body">
        <ul class="pop-list" ref={list} onKeyDown={moveFocus}>
          {choices.map((c) => (
            <li key={c.name}>
              <label class="pick">
                <input
                  type="checkbox"
                  value={c.name}
                  checked={c.shown && !isRedundant(c.name)}
                  disabled={c.fixed || isRedundant(c.name)}
                  autofocus={c === firstEnabled}
                  onChange={(e) => {
                    const shown = e.currentTarget.checked;
                    choose(encodeColumns(choices.map((o) => (o.name === c.name ? { ...o, shown } : o))));
                  }}
                />
                <span class="name">{c.label}</span>
                <span class="hint">{isRedundant(c.name) ? "one namespace" : c.hint}</span>
              </label>
            </li>
          ))}
        </ul>
      </div>
      {isEmpty && (
        <p class="pop-note" role="status">
          Columns appear when the rows are loaded.
        </p>
      )}
      <fieldset class="pop-foot">
        <legend>Density</legend>
        {densityOptions.map(([value, label]) => (
          <label key={value}>
            <input
              type="radio"
              name="density"
              value={value}
              checked={density() === value}
              onChange={() => page.table.changeRowHeight(() => setDensity(value))}
            />
            {label}
          </label>
        ))}
      </fieldset>
    </>
  );
}
