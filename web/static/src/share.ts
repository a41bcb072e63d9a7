// The share dialog: what to share, for how long, the new link, and the list of existing links.

import { under } from "./base.ts";
import { copyText } from "./clipboard.ts";
import { h, setText } from "./dom.ts";
import { untilWords } from "./guest.ts";
import type { Kind, Listed } from "./kinds.ts";
import type { Live } from "./live.ts";
import { problemOf } from "./problem.ts";
import { KindsChooser } from "./sharekinds.ts";
import { lasting, LinkList } from "./sharelist.ts";
import {
  bareWords,
  bodyOf,
  eventsOfNone,
  hasEvents,
  hasLogs,
  isLoopback,
  kioskUrl,
  longestNote,
  partsOf,
  partsWords,
  readMade,
  seesWords,
  times,
  type Choice,
} from "./sharewords.ts";
import type { ObjectName, View } from "./view.ts";

/** What the page shows now, if it can be shared. */
export interface Seen {
  readonly kind: Kind;
  /** The view of a list; null on an object's own page. */
  readonly view: View | null;
  /** The open object; null for none. */
  readonly object: ObjectName | null;
  /** The open tab; empty for the first. */
  readonly tab: string;
}

/** The parts of the page that the dialog uses. */
export interface Around {
  readonly live: Live;
  readonly now: () => number;
  seen(): Seen | null;
  kinds(): readonly Listed[];
}

type What = Choice["what"];

export class ShareDialog {
  private readonly body = h("div", { class: "share-body" });
  private readonly tabs = (["new", "links"] as const).map((id) =>
    h(
      "button",
      { type: "button", role: "tab", id: `share-tab-${id}`, "aria-controls": "share-panel" },
      id === "new" ? "New link" : "Links",
    ),
  );
  readonly dialog = h("dialog", { id: "sharing", class: "sharing", "aria-labelledby": "sharing-title" });
  private list: LinkList | null = null;
  private kinds: KindsChooser | null = null;
  private told = (): void => {}; // called when the choice may have changed

  constructor(private readonly around: Around) {
    const close = h("button", { type: "button", class: "icon", "aria-label": "Close", title: "Close (Esc)" }, "×");
    const strip = h("div", { role: "tablist", class: "share-tabs", "aria-label": "Share" }, ...this.tabs);
    this.body.id = "share-panel";
    this.body.setAttribute("role", "tabpanel");
    this.dialog.append(
      h(
        "div",
        { class: "share-head" },
        h("h2", { id: "sharing-title" }, "Share"),
        strip,
        h("span", { class: "spring" }),
        close,
      ),
      this.body,
    );
    close.addEventListener("click", () => this.dialog.close());
    this.dialog.addEventListener("click", (e) => {
      if (e.target === this.dialog) this.dialog.close();
    });
    this.dialog.addEventListener("close", () => this.closed());
    this.tabs.forEach((tab, i) => tab.addEventListener("click", () => this.show(i === 0 ? "new" : "links")));
    strip.addEventListener("keydown", (e) => {
      if (e.key !== "ArrowLeft" && e.key !== "ArrowRight") return;
      const other = this.tabs.find((t) => t !== document.activeElement);
      other?.focus();
      other?.click();
    });
    document.body.append(this.dialog);
  }

  open(): void {
    if (this.dialog.open) return;
    this.dialog.showModal();
    this.show("new");
  }

  private closed(): void {
    this.list?.close();
    this.list = null;
    this.kinds?.close();
    this.kinds = null;
    this.body.replaceChildren();
  }

  private show(which: "new" | "links"): void {
    this.closed();
    this.tabs.forEach((tab, i) => {
      const on = (i === 0) === (which === "new");
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
    });
    this.body.setAttribute("aria-labelledby", `share-tab-${which}`);
    if (which === "new") return this.ask();
    this.list = new LinkList(this.around.now);
    this.body.replaceChildren(this.list.element);
  }

  // Shows the form: what to share, and for how long.
  private ask(): void {
    const seen = this.around.seen();
    const inView = seen?.view?.ns ?? [];
    const ns = inView.length > 0 || seen?.object == null || seen.object.ns === "" ? inView : [seen.object.ns];
    const kinds = (this.kinds = new KindsChooser(this.around.live, this.around.kinds(), seen?.kind.ref ?? "", ns, () =>
      this.told(),
    ));
    const usual: What = seen === null ? "kinds" : seen.object !== null ? "object" : "view";
    const logs = h("input", { type: "checkbox", id: "share-logs", name: "logs" });
    const events = h("input", { type: "checkbox", id: "share-events", name: "events" });
    logs.checked = seen?.tab === "logs";
    events.checked = seen?.tab === "events";
    const extras = h(
      "div",
      { class: "share-extras" },
      h("label", {}, logs, "Include logs"),
      h("label", {}, events, h("span")),
    );
    const of = (what: What): Choice | null => {
      if (what === "kinds") return kinds.choice;
      if (seen === null) return null;
      const more = { kind: seen.kind, logs: logs.checked, events: events.checked };
      if (what === "object") return seen.object === null ? null : { what, name: seen.object, tab: seen.tab, ...more };
      return seen.view === null ? null : { what, view: seen.view, ...more };
    };
    const titles: Record<What, string> = {
      view: "This view",
      object: "This object",
      kinds: "Resources and namespaces",
    };
    const options = (["view", "object", "kinds"] as const).filter((what) => what === "kinds" || of(what) !== null);
    const radios = options.map((what) => {
      const input = h("input", { type: "radio", name: "what", value: what });
      input.checked = what === usual;
      const choice = what === "kinds" ? null : of(what);
      const words =
        choice === null
          ? "select from lists"
          : partsWords(partsOf({ ...choice, logs: false, events: false } as Choice));
      return {
        what,
        input,
        row: h(
          "label",
          { class: "share-what" },
          input,
          h("span", { class: "name" }, titles[what]),
          h("span", { class: "words" }, words),
        ),
      };
    });
    const chosen = (): What => radios.find((r) => r.input.checked)?.what ?? usual;
    const durations = times.map(({ seconds, words }, i) => {
      const input = h("input", { type: "radio", name: "seconds", value: String(seconds) });
      input.checked = i === 1;
      return h("label", {}, input, h("span", {}, words));
    });
    const note = h("input", {
      type: "text",
      id: "share-note",
      name: "note",
      maxlength: String(longestNote),
      placeholder: "Purpose (viewers see this)",
      autocomplete: "off",
    });
    const sees = h("p", { class: "share-sees", role: "status" });
    const failed = h("p", { class: "share-failed", role: "alert", hidden: true });
    const make = h("button", { type: "submit", class: "primary" }, "Create link");
    const bare = h("strong", {});
    const form = h(
      "form",
      { class: "share-form" },
      h("fieldset", {}, h("legend", {}, "What to share"), ...radios.map((r) => r.row), kinds.element),
      h(
        "fieldset",
        { class: "share-times" },
        h("legend", {}, "Expires after"),
        h("div", { class: "segments" }, ...durations),
      ),
      h("div", { class: "share-note" }, h("label", { for: "share-note" }, "Note"), note),
      h(
        "div",
        { class: "share-means" },
        sees,
        h(
          "p",
          {},
          "Anyone with the link can view this, without logging in, until it expires. It uses your current " +
            "permissions: if you lose access, viewers lose it too. Values of Secrets, ConfigMaps and environment " +
            "variables are always masked for viewers. ",
          bare,
        ),
      ),
      failed,
      h("div", { class: "share-foot" }, make),
    );
    this.told = () => {
      const what = chosen();
      const choice = of(what);
      kinds.element.hidden = what !== "kinds";
      extras.hidden = what === "kinds" || seen === null;
      radios.find((r) => r.what === what)?.row.after(extras);
      (extras.children[0] as HTMLElement).hidden = seen === null || !hasLogs(seen.kind);
      (extras.children[1] as HTMLElement).hidden = seen === null || !hasEvents(seen.kind);
      setText(
        extras.children[1]?.lastElementChild as Element,
        what === "object"
          ? "Include events about this object"
          : seen?.kind.namespaced === true
            ? "Include all events in the same namespaces"
            : `Include all events in namespace ${eventsOfNone}`,
      );
      const parts = choice === null ? [] : partsOf(choice);
      setText(sees, seesWords(parts, document.documentElement.dataset["open"] !== undefined));
      setText(bare, bareWords(parts) ?? "");
      make.disabled = parts.length === 0;
    };
    form.addEventListener("change", () => this.told());
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      const choice = of(chosen());
      if (choice === null || make.disabled) return;
      make.disabled = true;
      failed.hidden = true;
      const seconds = Number(new FormData(form).get("seconds"));
      void this.make(choice, seconds, note.value).catch((err: unknown) => {
        failed.hidden = false;
        setText(failed, err instanceof Error ? err.message : String(err));
        make.disabled = false;
      });
    });
    this.told();
    this.body.replaceChildren(form);
    radios.find((r) => r.input.checked)?.input.focus();
  }

  private async make(choice: Choice, seconds: number, note: string): Promise<void> {
    const base = document.documentElement.dataset["base"] ?? "";
    let answer: Response;
    try {
      answer = await fetch(under("/api/v1/shares"), {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json" },
        body: JSON.stringify(bodyOf(choice, base, seconds, note)),
        signal: AbortSignal.timeout(20_000),
      });
    } catch {
      throw new Error(
        "Glasshouse cannot be reached. The link was probably not created: check the list under Links.",
      );
    }
    if (!answer.ok) {
      const { title, detail } = await problemOf(answer);
      throw new Error(`${title}. ${detail}`);
    }
    const made = readMade(await answer.json().catch(() => null));
    if (made === null)
      throw new Error("The response is invalid. Reload the page, and check the list under Links.");
    if (this.dialog.open) this.tell(made);
  }

  // Shows the new link. It is shown only this once.
  private tell({
    url,
    persistent,
    link,
  }: {
    url: string;
    persistent: boolean;
    link: { expires: string; parts: Parameters<typeof partsWords>[0] };
  }): void {
    this.kinds?.close();
    this.kinds = null;
    const address = h("input", {
      type: "text",
      readonly: true,
      class: "share-url",
      "aria-label": "Share link",
      spellcheck: "false",
    });
    const copy = h("button", { type: "button", class: "primary" }, "Copy");
    const wall = h("input", { type: "checkbox", name: "kiosk" });
    const code = h("div", { class: "share-code" });
    const said = h("p", { class: "share-said", role: "status" }, "Link created");
    const current = (): string => (wall.checked ? kioskUrl(url) : url);
    const draw = (): void => {
      address.value = current();
      setText(copy, "Copy");
      import("./qr.ts").then(
        ({ drawCode }) => code.replaceChildren(drawCode(current(), "QR code of the link")),
        () => code.replaceChildren(h("p", {}, "The QR code could not be loaded. Reload the page to try again.")),
      );
    };
    wall.addEventListener("change", draw);
    address.addEventListener("focus", () => address.select());
    copy.addEventListener(
      "click",
      () =>
        void copyText(current()).then((done) => {
          setText(copy, done ? "Copied" : "Copy");
          setText(
            said,
            done ? "Link copied" : "Could not copy the link. It is selected: press Ctrl+C or ⌘C.",
          );
          if (!done) address.select();
        }),
    );
    const another = h("button", { type: "button" }, "Create another link");
    const done = h("button", { type: "button" }, "Done");
    another.addEventListener("click", () => this.show("new"));
    done.addEventListener("click", () => this.dialog.close());
    const { hostname } = new URL(url, location.href);
    const notes = [
      [`Viewers see ${partsWords(link.parts)} until ${untilWords(link.expires, this.around.now())}.`],
      ["Copy it now: only its hash is stored, so you won't see it again. Revoke it any time under Links."],
      ...(persistent ? [] : [lasting()]),
    ];
    const near = isLoopback(hostname)
      ? [
          h(
            "p",
            { class: "share-near" },
            `${hostname} is a loopback address: this link only works on your machine. To share it, serve ` +
              "Glasshouse on a reachable address, for example through an Ingress.",
          ),
        ]
      : [];
    this.body.replaceChildren(
      h(
        "div",
        { class: "share-made" },
        said,
        h("div", { class: "share-line" }, address, copy),
        ...near,
        h(
          "div",
          { class: "share-beside" },
          code,
          h(
            "div",
            { class: "share-notes" },
            ...notes.map((n) => h("p", {}, ...n)),
            h(
              "label",
              {},
              wall,
              h(
                "span",
                {},
                h("span", { class: "name" }, "Kiosk mode"),
                " large type, no controls",
              ),
            ),
          ),
        ),
        h("div", { class: "share-foot" }, another, done),
      ),
    );
    draw();
    copy.focus();
  }
}
