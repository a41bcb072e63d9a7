// The actions of one row: the menu that a right click or the button "…" opens, the keys to copy and to compare, and the
// link of an Event to its object.

import "../shared-code.ts";
import { sharedParts } from "../model/guest.ts";
import { keyOf } from "../model/row-source.ts";
import { compareHref, isEvents, objectHref, type ObjectName } from "../model/view.ts";
import { involvedObjects, type InvolvedObject } from "../object/events/involved-object.ts";
import { tabsFor } from "../object/tabs.ts";
import { byId, h } from "../ui/dom.ts";
import { singleKeysEnabled } from "../ui/single-key.ts";
import { loadTabStyle } from "../ui/tab-style.ts";
import { showToast } from "../ui/toast.ts";
import type { ListPage } from "./list.ts";
import { copyItems, copyName, textOf } from "./copy-items.ts";
import type { MenuItem } from "./row-menu.tsx";

export type RowCommand = "copy" | "mark" | "compare" | "menu";

/** Runs a command on the active row, or on the object in the panel. */
export async function runRowCommand(list: ListPage, command: RowCommand): Promise<void> {
  if (command === "compare") return compareMarked(list);
  const row = list.table.activeEntry ?? list.listedObject;
  if (row === null || row === undefined) return showToast("Select a row first, with the arrow keys.");
  if (command === "copy") await copyName(row);
  else if (command === "mark") mark(list, row);
  else await openMenu(list, row);
}

function mark(list: ListPage, row: ObjectName): void {
  const { marked } = list.table;
  const key = keyOf(row.ns, row.name);
  if (marked.delete(key)) showToast(`${textOf(row)} is no longer marked`);
  else {
    // Only two objects can be compared, so a third mark replaces the oldest mark.
    if (marked.size === 2) marked.delete(marked.keys().next().value ?? "");
    marked.set(key, { ns: row.ns, name: row.name });
    showToast(
      marked.size === 1
        ? `${textOf(row)} marked. Mark another row to compare both.`
        : `${textOf(row)} marked. To compare both rows, ${
            singleKeysEnabled() ? "press =" : "search for “Compare marked rows”"
          }.`,
    );
  }
  list.table.schedule();
}

function compareMarked(list: ListPage): void {
  const [a, b] = list.table.marked.values();
  if (sharedParts() !== null) return showToast("A share link does not include the comparison of objects.");
  if (a === undefined || b === undefined)
    return showToast("Mark two rows first, with “Mark to compare” in the menu of each row.");
  location.assign(comparisonOf(list.view.ref, a, b));
}

/** Returns the URL of the page that compares two objects. The second one can be of another resource. */
export function comparisonOf(ref: string, a: ObjectName, b: ObjectName, refOfB = ref): string {
  const other = new URLSearchParams({ b: `${refOfB}/${b.ns === "" ? "_" : b.ns}/${b.name}` });
  return `${compareHref(ref, a)}&${other.toString().replaceAll("%2F", "/")}`;
}

/**
 * Starts the menu of rows: the button "…" of the row under the pointer, and right clicks. In the row of an Event under
 * the pointer, the object becomes a link.
 */
export async function startRowMenu(list: ListPage): Promise<void> {
  await loadTabStyle();
  const rows = byId("rows");
  let hovered: ObjectName | null = null;
  const button = h("button", {
    type: "button",
    class: "row-menu-button",
    tabindex: "-1",
    "aria-label": "Actions of the row",
    title: "Actions (.)",
    hidden: true,
  });
  button.textContent = "⋯";
  button.addEventListener("click", () => {
    if (hovered !== null) void openMenu(list, hovered, button.getBoundingClientRect());
  });
  rows.after(button);
  rows.addEventListener(
    "pointerover",
    (e) => {
      const tr = rowAt(e.target);
      hovered = tr === null ? null : nameOf(tr);
      if (tr !== null) linkInvolved(list, tr);
      button.hidden = tr === null || e.pointerType !== "mouse";
      if (tr === null) return;
      const [at, area] = [tr.getBoundingClientRect(), rows.getBoundingClientRect()];
      button.style.top = `${at.top + (at.height - 20) / 2}px`;
      button.style.left = `${area.left + rows.clientWidth - 28}px`;
    },
    { passive: true },
  );
  const hide = (e?: PointerEvent): void => {
    if (e?.relatedTarget !== button) button.hidden = true;
  };
  rows.addEventListener("pointerleave", hide, { passive: true });
  button.addEventListener("pointerleave", (e) => {
    if (!(e.relatedTarget instanceof Node && rows.contains(e.relatedTarget))) hide();
  });
  rows.addEventListener("scroll", () => hide(), { passive: true });
  rows.addEventListener("click", (e) => {
    const tr = rowAt(e.target);
    const isLink = e.target instanceof Element && e.target.closest("a.involved") !== null;
    if (tr === null || !isLink || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
    const [involved] = involvedIn(list, tr);
    if (involved === undefined) return;
    e.preventDefault(); // Otherwise, the click would open the Event.
    list.openObject(involved.object, "");
  });
  rows.addEventListener("contextmenu", (e) => {
    const tr = rowAt(e.target);
    const row = tr === null ? list.table.activeEntry : nameOf(tr);
    // On a right click with Shift or on selected text, let the browser show its own menu.
    if (row === undefined || e.shiftKey || String(getSelection()) !== "") return;
    e.preventDefault();
    const at = e.clientX === 0 && e.clientY === 0 ? undefined : new DOMRect(e.clientX, e.clientY, 0, 0);
    const open = (): void => void openMenu(list, row, at);
    // Some systems send the event contextmenu while the mouse button is still pressed. Releasing the button would then
    // close the menu, so open the menu after the release.
    if (e.buttons === 0) open();
    else document.addEventListener("pointerup", () => setTimeout(open), { once: true });
  });
}

const rowAt = (target: EventTarget | null): HTMLElement | null =>
  target instanceof Element ? target.closest<HTMLElement>("#tbody tr[data-name]") : null;

// Returns the cell of the column "Object" in the row of an Event. It is undefined in other lists.
function objectCell(list: ListPage, tr: Element): Element | undefined {
  if (!isEvents(list.view.ref)) return undefined;
  return tr.children[[...document.querySelectorAll("#table thead th")].findIndex((th) => th.textContent === "Object")];
}

function involvedIn(list: ListPage, tr: HTMLElement): InvolvedObject[] {
  const cell = objectCell(list, tr);
  return cell === undefined ? [] : involvedObjects(cell.textContent ?? "", nameOf(tr).ns, list.picker.listedKinds());
}

/** Puts a link to the involved object into the row of an Event, if its API group is clear. */
export function linkInvolved(list: ListPage, tr: HTMLElement): void {
  const [involved, other] = involvedIn(list, tr);
  const cell = objectCell(list, tr);
  if (involved === undefined || other !== undefined || cell === undefined) return;
  const href = objectHref(involved.object.ref, involved.object);
  if (cell.querySelector("a")?.getAttribute("href") === href) return;
  cell.replaceChildren(h("a", { class: "involved", href, tabindex: "-1" }, cell.textContent ?? ""));
}

const rowOf = ({ ns, name }: ObjectName): HTMLElement | undefined =>
  [...document.querySelectorAll<HTMLElement>("#tbody tr[data-name]")].find(
    (tr) => tr.dataset["ns"] === ns && tr.dataset["name"] === name,
  );

const nameOf = (tr: HTMLElement): ObjectName => ({ ns: tr.dataset["ns"] ?? "", name: tr.dataset["name"] ?? "" });

async function openMenu(list: ListPage, row: ObjectName, at = activeRect()): Promise<void> {
  const { openRowMenu } = await import("./row-menu.tsx"); // on demand, because the menu loads Preact
  await openRowMenu(textOf(row), itemsOf(list, row), at, byId("rows"), byId("table"));
}

// Returns the area of the active row on the screen. A menu opened by the keyboard appears there.
function activeRect(): DOMRect {
  const cell = document.querySelector("#tbody tr[data-active] th") ?? byId("table");
  const { left, top, height } = cell.getBoundingClientRect();
  return new DOMRect(left, top, 0, Math.min(height, 30));
}

/** Returns the items in the menu of a row. For an Event, the first one opens the object that the Event regards. */
export function itemsOf(list: ListPage, row: ObjectName): MenuItem[] {
  const { ref } = list.view;
  const tr = rowOf(row);
  const tabs = tabsFor(list.kind);
  const { marked } = list.table;
  const [other] = [...marked.values()].filter((m) => keyOf(m.ns, m.name) !== keyOf(row.ns, row.name));
  return [
    ...(tr === undefined ? [] : involvedIn(list, tr)).map(({ label, object }) => ({
      label: `Open ${label}`,
      run: () => list.openObject(object, ""),
    })),
    ...tabs.map((t) => ({
      label: t.label,
      key: t.key,
      run: () => list.openObject(row, t === tabs[0] ? "" : t.id),
    })),
    { label: "Open in new tab", href: objectHref(ref, row) },
    ...copyItems(ref, row),
    ...(sharedParts() !== null
      ? []
      : [
          {
            label: marked.has(keyOf(row.ns, row.name)) ? "Remove mark" : "Mark to compare",
            key: " ",
            run: () => mark(list, row),
          },
          ...(other === undefined
            ? []
            : [
                {
                  label: `Compare with ${textOf(other)}`,
                  key: "=",
                  run: () => location.assign(comparisonOf(ref, other, row)),
                },
              ]),
        ]),
  ];
}
