// Opens the command palette. Its code is loaded on demand, and keys pressed meanwhile are kept.

import type { PaletteHost, Palette } from "./palette.tsx";
import { loadTabStyle } from "../ui/tab-style.ts";
import { showToast } from "../ui/toast.ts";

export class PaletteLauncher {
  private palette: Promise<Palette> | null = null;
  private typed: string | null = null; // text that the user typed while the palette loads; null if it is not loading
  private isEntered = false; // whether the user pressed Enter while the palette loads, to run the first result

  constructor(
    button: HTMLElement,
    private readonly host: PaletteHost,
  ) {
    button.addEventListener("click", () => this.open(""));
    for (const eventType of ["pointerenter", "focus"])
      button.addEventListener(eventType, () => void this.load().catch(() => undefined));
    document.addEventListener(
      "keydown",
      (e) => {
        // A pressed Ctrl or Cmd key is probably the start of Ctrl+K, which opens the palette. Load its code now.
        if (e.key === "Control" || e.key === "Meta") void this.load().catch(() => undefined);
        if (this.typed === null || e.ctrlKey || e.metaKey || e.altKey) return;
        if (e.key === "Enter") this.isEntered = true;
        else if (e.key.length === 1) this.typed += e.key;
        else if (e.key !== "Backspace") return;
        else this.typed = this.typed.slice(0, -1);
        e.preventDefault();
        e.stopImmediatePropagation();
      },
      true,
    );
  }

  open(text: string): void {
    this.typed = text;
    this.isEntered = false;
    this.load().then(
      (palette) => {
        palette.open(this.typed ?? text, this.isEntered);
        this.typed = null;
      },
      () => {
        this.typed = null;
        showToast("The search could not be loaded. Reload the page to try again.");
      },
    );
  }

  private load(): Promise<Palette> {
    this.palette ??= Promise.all([import("./palette.tsx"), loadTabStyle()]).then(
      ([{ Palette }]) => new Palette(this.host),
    );
    this.palette.catch(() => (this.palette = null));
    return this.palette;
  }
}
