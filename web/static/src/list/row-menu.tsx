// The menu with the actions of one object.

import "../shared-code.ts";
import { h } from "../ui/dom.ts";
import { singleKeysEnabled } from "../ui/single-key.ts";
import { loadTabStyle } from "../ui/tab-style.ts";
import { mount, unmount } from "../ui/view.tsx";

/** An item of the menu, which is a link or runs a function. */
export interface MenuItem {
  readonly label: string;
  readonly key?: string | undefined;
  readonly run?: () => void;
  readonly href?: string;
}

/**
 * Opens a menu at the position `at`. Inserts the menu after the element `rows`. When the menu closes, the keyboard
 * focus moves to the element `focus`.
 */
export async function openRowMenu(
  title: string,
  items: readonly MenuItem[],
  at: DOMRect,
  rows: HTMLElement,
  focus: HTMLElement,
): Promise<void> {
  await loadTabStyle();
  document.querySelector(".row-menu")?.remove();
  const menu = h("div", { class: "row-menu", role: "menu", popover: "auto", "aria-label": `Actions of ${title}` });
  const close = (): void => menu.hidePopover();
  mount(
    menu,
    <>
      <p aria-hidden="true">{title}</p>
      {items.map((item) => (
        <Item key={item.label} item={item} close={close} />
      ))}
    </>,
  );
  const elements = [...menu.querySelectorAll<HTMLElement>("[role=menuitem]")];
  rows.after(menu);
  menu.addEventListener("keydown", (e) => {
    const step = e.key === "ArrowDown" || e.key === "j" ? 1 : e.key === "ArrowUp" || e.key === "k" ? -1 : 0;
    const byKey = elements.find((i) => i.dataset["key"] === e.key);
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (step !== 0)
      elements[
        (elements.indexOf(document.activeElement as HTMLElement) + step + elements.length) % elements.length
      ]?.focus();
    else if (byKey !== undefined) byKey.click();
    else return;
    e.preventDefault();
    e.stopPropagation();
  });
  menu.addEventListener("toggle", (e) => {
    if (e.newState === "open") return;
    if (menu.contains(document.activeElement) || document.activeElement === document.body)
      focus.focus({ preventScroll: true });
    unmount(menu);
    menu.remove();
  });
  menu.showPopover();
  const size = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(8, Math.min(at.left, innerWidth - size.width - 8))}px`;
  menu.style.top = `${Math.max(8, Math.min(at.bottom + 2, innerHeight - size.height - 8))}px`;
  elements[0]?.focus();
}

function Item({ item: { label, key = "", run, href }, close }: { item: MenuItem; close: () => void }) {
  if (href !== undefined)
    return (
      <a role="menuitem" tabIndex={-1} target="_blank" href={href} onClick={close} rel="noopener">
        {label}
      </a>
    );
  const activate = (): void => {
    close();
    run?.();
  };
  return (
    <button type="button" role="menuitem" tabIndex={-1} data-key={key === "" ? undefined : key} onClick={activate}>
      {label}
      {key !== "" && singleKeysEnabled() && <kbd>{key === " " ? "Space" : key}</kbd>}
    </button>
  );
}
