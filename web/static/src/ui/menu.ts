/** Adds arrow keys to a menu, which is a details element. The Esc key and a click outside close the menu. */
export function addMenuKeys(menu: HTMLElement): void {
  const details = menu as HTMLDetailsElement;
  const summary = menu.querySelector("summary") as HTMLElement;
  const links = (): HTMLElement[] => [...menu.querySelectorAll<HTMLElement>("li a")];
  const close = (): void => {
    details.open = false;
  };
  document.addEventListener("click", (e) => {
    if (
      details.open &&
      e.target instanceof Node &&
      (!menu.contains(e.target) || links().some((a) => a.contains(e.target as Node)))
    )
      close();
  });
  menu.addEventListener("keydown", (e) => {
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (e.key === "Escape" && details.open) {
      close();
      summary.focus();
    } else if (step !== 0 && details.open) {
      const items = links();
      items[(items.indexOf(document.activeElement as HTMLElement) + step + items.length) % items.length]?.focus();
    } else return;
    e.preventDefault();
    e.stopPropagation();
  });
  const focusFirstLink = (): void => {
    if (details.open && menu.contains(document.activeElement)) links()[0]?.focus();
  };
  menu.addEventListener("toggle", focusFirstLink);
  focusFirstLink(); // if the menu was opened before this script ran, no toggle event follows
}
