// The button "Charts" of a list page. It opens and closes a strip of charts below the rows.

import type { RatesScope, RatesStrip } from "../chart/rates-strip.tsx";
import type { Live } from "../net/live.ts";
import { isKiosk } from "../net/base-path.ts";
import { byId, setText } from "../ui/dom.ts";
import { preferences } from "../ui/preferences.ts";
import { loadTabStyle } from "../ui/tab-style.ts";

const storageKey = "glasshouse-charts";

export class Charts {
  private readonly button = byId("charts-button");
  private readonly root = byId("charts");
  private scope: RatesScope | null = null;
  private strip: RatesStrip | null = null;

  constructor(
    private readonly live: Live,
    private readonly now: () => number,
  ) {
    this.button.addEventListener("click", () => this.toggle());
    // In kiosk mode (a wall display), the page shows only the rows, so the charts stay closed.
    if (preferences.get(storageKey) !== null && !isKiosk()) this.toggle();
  }

  showList(scope: RatesScope): void {
    this.scope = scope;
    this.strip?.show(scope);
  }

  toggle(): void {
    const isOpen = this.root.hidden !== false;
    this.root.hidden = !isOpen;
    preferences.setFlag(storageKey, isOpen);
    this.button.setAttribute("aria-expanded", String(isOpen));
    this.strip?.close();
    this.strip = null;
    if (!isOpen) return;
    void Promise.all([import("../chart/rates-strip.tsx"), loadTabStyle()]).then(
      ([{ RatesStrip }]) => {
        if (!this.root.hidden && this.strip === null && this.scope !== null)
          this.strip = new RatesStrip(this.root, this.live, this.now, this.scope);
      },
      () => setText(this.root, "The charts could not be loaded. Reload the page to try again."),
    );
  }
}
