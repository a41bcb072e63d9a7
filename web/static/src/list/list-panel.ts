// The panel of the list page, with the object that the URL names.

import {
  defaultLog,
  findIn,
  formatView,
  pageHref,
  sameObject,
  type ObjectName,
  type OpenedObject,
  type View,
} from "../model/view.ts";
import type { Kind } from "../net/kinds.ts";
import type { Live } from "../net/live.ts";
import type { Panel } from "../object/panel.ts";
import type { TabHost } from "../object/tab.ts";
import { byId, h } from "../ui/dom.ts";
import type { Picker } from "./picker.ts";

/** The parts of the list page that the panel uses. */
interface PanelPage {
  readonly view: View;
  readonly openedKind: Kind;
  change(part: Partial<View>, how?: "push" | "replace"): void;
  close(): void;
}

export class ListPanel {
  private panel: Panel | null = null;
  private openings = 0; // how often `open` was called, to ignore a script that arrives after the panel changed

  constructor(
    private readonly page: PanelPage,
    private readonly live: Live,
    private readonly picker: Picker,
    private readonly now: () => number,
  ) {
    // Load the script of the panel before the user opens an object.
    for (const on of ["pointerover", "keydown"])
      document.addEventListener(on, () => void loadPanel().catch(() => {}), { once: true });
  }

  /** Opens the object that the view names, if any. If isOffline is true, shows only a note about the object. */
  open(isOffline: boolean): void {
    this.openings++;
    const root = byId("panel");
    const hadFocus = root.contains(document.activeElement);
    this.panel?.close();
    this.panel = null;
    root.replaceChildren();
    const { open } = this.page.view;
    byId("side").hidden = open === null;
    if (open !== null && isOffline) root.append(objectPageNote(this.page.view, open));
    else if (open !== null) void this.create(root, open, hadFocus);
  }

  private async create(root: HTMLElement, object: OpenedObject, hadFocus: boolean): Promise<void> {
    const { openings } = this;
    try {
      const { Panel } = await loadPanel();
      if (this.openings !== openings) return;
      this.panel = new Panel(root, this.createTabHost(object), this.page.view.tab, {
        tab: (id) => this.page.change({ tab: id }),
        close: () => this.page.close(),
      });
      if (hadFocus) this.panel.focus();
    } catch {
      if (this.openings === openings)
        root.replaceChildren(h("p", { class: "note" }, "Reload the page to see the object."));
    }
  }

  /** Shows another tab of the object in the panel. */
  show(tab: string): void {
    this.panel?.show(tab);
  }

  refresh(): void {
    this.panel?.refresh();
  }

  private createTabHost(object: OpenedObject): TabHost {
    const { live, now, page, picker } = this;
    const opened = (): OpenedObject => openedObject(page.view, object);
    return {
      live,
      now,
      kind: page.openedKind,
      name: { ns: object.ns, name: object.name },
      kindOf: (apiVersion, kind) => picker.kindOf(apiVersion, kind),
      kindOfRef: (ref) => picker.get(ref),
      log: () => page.view.open?.log ?? defaultLog,
      selectLog: (log, how) => page.change({ open: { ...opened(), log } }, how),
      find: (tab) => findIn(page.view.open?.find, tab),
      setFind: (tab, text) => page.change({ open: { ...opened(), find: { tab, text } } }, "replace"),
    };
  }
}

const loadPanel = (): Promise<typeof import("../object/panel.ts")> => import("../object/panel.ts");

/** Returns the object to open in the panel, with the user's log selection if the object is already open. */
export function openedObject({ open }: View, { ns, name, ref }: OpenedObject): OpenedObject {
  const object = { ns, name, ...(ref === undefined ? {} : { ref }) };
  return open !== null && sameObject(open, object) ? open : object;
}

// Returns a note that replaces the panel while the list is not live. The note links to the object's own page.
function objectPageNote(view: View, open: ObjectName): HTMLElement {
  const close = h("a", { href: formatView({ ...view, open: null, tab: "" }) }, "Close");
  return h(
    "div",
    { class: "note" },
    h("h2", {}, open.name),
    h("p", {}, "The panel is available only while the page is live."),
    h("p", {}, h("a", { href: pageHref(view) }, "Open the object's page"), " to see it without live updates."),
    h("p", {}, close),
  );
}
