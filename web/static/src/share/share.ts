// The share dialog. The user selects what to share and for how long, gets the new link, and manages existing links.

import { withBase } from "../net/base-path.ts";
import { copyText } from "../ui/clipboard.ts";
import { h, setText } from "../ui/dom.ts";
import { expiryText } from "../model/guest.ts";
import type { Kind, ListedKind } from "../net/kinds.ts";
import type { Live } from "../net/live.ts";
import { problemOf } from "../net/problem.ts";
import { ShareKindsChooser } from "./share-kinds.ts";
import { restartNote, ShareLinkList } from "./share-list.ts";
import {
  unmaskedText,
  requestBody,
  clusterEventsNamespace,
  hasEvents,
  hasLogs,
  isLoopback,
  kioskUrl,
  maxNoteLength,
  partsOf,
  partsText,
  readCreated,
  visibilityText,
  linkLifetimes,
  type ShareChoice,
} from "./share-text.ts";
import type { ObjectName, View } from "../model/view.ts";

/** What the page shows now, which the dialog offers to share. */
export interface PageContent {
  readonly kind: Kind;
  /** The view of a list page. null on an object's own page. */
  readonly view: View | null;
  /** The open object, or null. */
  readonly object: ObjectName | null;
  /** The open tab. Empty for the first tab. */
  readonly tab: string;
}

/** The data and functions of the page that the dialog uses. */
export interface ShareHost {
  readonly live: Live;
  readonly now: () => number;
  pageContent(): PageContent | null;
  kinds(): readonly ListedKind[];
}

type ShareTarget = ShareChoice["what"];

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
  private list: ShareLinkList | null = null;
  private kinds: ShareKindsChooser | null = null;
  private choiceChanged = (): void => {}; // called when the selection has possibly changed

  constructor(private readonly host: ShareHost) {
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

  private show(selected: "new" | "links"): void {
    this.closed();
    this.tabs.forEach((tab, i) => {
      const on = (i === 0) === (selected === "new");
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
    });
    this.body.setAttribute("aria-labelledby", `share-tab-${selected}`);
    if (selected === "new") return this.showForm();
    this.list = new ShareLinkList(this.host.now);
    this.body.replaceChildren(this.list.element);
  }

  private showForm(): void {
    const content = this.host.pageContent();
    const viewNamespaces = content?.view?.ns ?? [];
    const ns =
      viewNamespaces.length > 0 || content?.object == null || content.object.ns === ""
        ? viewNamespaces
        : [content.object.ns];
    const kinds = (this.kinds = new ShareKindsChooser(
      this.host.live,
      this.host.kinds(),
      content?.kind.ref ?? "",
      ns,
      () => this.choiceChanged(),
    ));
    const defaultTarget: ShareTarget = content === null ? "kinds" : content.object !== null ? "object" : "view";
    const logs = h("input", { type: "checkbox", id: "share-logs", name: "logs" });
    const events = h("input", { type: "checkbox", id: "share-events", name: "events" });
    logs.checked = content?.tab === "logs";
    events.checked = content?.tab === "events";
    const extrasElement = h(
      "div",
      { class: "share-extras" },
      h("label", {}, logs, "Include logs"),
      h("label", {}, events, h("span")),
    );
    const choiceFor = (target: ShareTarget): ShareChoice | null => {
      if (target === "kinds") return kinds.choice;
      if (content === null) return null;
      const common = { kind: content.kind, logs: logs.checked, events: events.checked };
      if (target === "object")
        return content.object === null ? null : { what: target, name: content.object, tab: content.tab, ...common };
      return content.view === null ? null : { what: target, view: content.view, ...common };
    };
    const labels: Record<ShareTarget, string> = {
      view: "This view",
      object: "This object",
      kinds: "Resources and namespaces",
    };
    const options = (["view", "object", "kinds"] as const).filter(
      (target) => target === "kinds" || choiceFor(target) !== null,
    );
    const radios = options.map((target) => {
      const input = h("input", { type: "radio", name: "what", value: target });
      input.checked = target === defaultTarget;
      const choice = target === "kinds" ? null : choiceFor(target);
      const words =
        choice === null
          ? "you select what to share from lists"
          : partsText(partsOf({ ...choice, logs: false, events: false } as ShareChoice));
      return {
        what: target,
        input,
        row: h(
          "label",
          { class: "share-what" },
          input,
          h("span", { class: "name" }, labels[target]),
          h("span", { class: "words" }, words),
        ),
      };
    });
    const chosenTarget = (): ShareTarget => radios.find((r) => r.input.checked)?.what ?? defaultTarget;
    const durations = linkLifetimes.map(({ seconds, words }, i) => {
      const input = h("input", { type: "radio", name: "seconds", value: String(seconds) });
      input.checked = i === 1;
      return h("label", {}, input, h("span", {}, words));
    });
    const note = h("input", {
      type: "text",
      id: "share-note",
      name: "note",
      maxlength: String(maxNoteLength),
      placeholder: "Purpose (viewers see this)",
      autocomplete: "off",
    });
    const visibleText = h("p", { class: "share-visible", role: "status" });
    const errorElement = h("p", { class: "share-failed", role: "alert", hidden: true });
    const createLink = h("button", { type: "submit", class: "primary" }, "Create link");
    const unmaskedWarning = h("strong", {});
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
        { class: "share-explanation" },
        visibleText,
        h(
          "p",
          {},
          "Anyone with the link can view this, without logging in, until it expires. It uses your current " +
            "permissions: if you lose access, viewers lose it too. Values of Secrets, ConfigMaps and environment " +
            "variables are always masked for viewers. ",
          unmaskedWarning,
        ),
      ),
      errorElement,
      h("div", { class: "share-foot" }, createLink),
    );
    this.choiceChanged = () => {
      const target = chosenTarget();
      const choice = choiceFor(target);
      kinds.element.hidden = target !== "kinds";
      extrasElement.hidden = target === "kinds" || content === null;
      radios.find((r) => r.what === target)?.row.after(extrasElement);
      (extrasElement.children[0] as HTMLElement).hidden = content === null || !hasLogs(content.kind);
      (extrasElement.children[1] as HTMLElement).hidden = content === null || !hasEvents(content.kind);
      setText(
        extrasElement.children[1]?.lastElementChild as Element,
        target === "object"
          ? "Include events about this object"
          : content?.kind.namespaced === true
            ? "Include all events in the same namespaces"
            : `Include all events in namespace ${clusterEventsNamespace}`,
      );
      const parts = choice === null ? [] : partsOf(choice);
      setText(visibleText, visibilityText(parts, document.documentElement.dataset["open"] !== undefined));
      setText(unmaskedWarning, unmaskedText(parts) ?? "");
      createLink.disabled = parts.length === 0;
    };
    form.addEventListener("change", () => this.choiceChanged());
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      const choice = choiceFor(chosenTarget());
      if (choice === null || createLink.disabled) return;
      createLink.disabled = true;
      errorElement.hidden = true;
      const seconds = Number(new FormData(form).get("seconds"));
      void this.createLink(choice, seconds, note.value).catch((err: unknown) => {
        errorElement.hidden = false;
        setText(errorElement, err instanceof Error ? err.message : String(err));
        createLink.disabled = false;
      });
    });
    this.choiceChanged();
    this.body.replaceChildren(form);
    radios.find((r) => r.input.checked)?.input.focus();
  }

  private async createLink(choice: ShareChoice, seconds: number, note: string): Promise<void> {
    const base = document.documentElement.dataset["base"] ?? "";
    let response: Response;
    try {
      response = await fetch(withBase("/api/v1/shares"), {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json" },
        body: JSON.stringify(requestBody(choice, base, seconds, note)),
        signal: AbortSignal.timeout(20_000),
      });
    } catch {
      throw new Error(
        "Glasshouse cannot be reached. The link was probably not created: check the list under Links.",
      );
    }
    if (!response.ok) {
      const { title, detail } = await problemOf(response);
      throw new Error(`${title}. ${detail}`);
    }
    const created = readCreated(await response.json().catch(() => null));
    if (created === null)
      throw new Error("The response is invalid. Reload the page, and check the list under Links.");
    if (this.dialog.open) this.showLink(created);
  }

  // Shows the new link. The URL cannot be shown again later.
  private showLink({
    url,
    persistent,
    link,
  }: {
    url: string;
    persistent: boolean;
    link: { expires: string; parts: Parameters<typeof partsText>[0] };
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
    const statusLine = h("p", { class: "share-status", role: "status" }, "Link created");
    const current = (): string => (wall.checked ? kioskUrl(url) : url);
    const draw = (): void => {
      address.value = current();
      setText(copy, "Copy");
      import("./qr.ts").then(
        ({ drawQrCode: drawCode }) => code.replaceChildren(drawCode(current(), "QR code of the link")),
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
            statusLine,
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
      [`Viewers see ${partsText(link.parts)} until ${expiryText(link.expires, this.host.now())}.`],
      ["Copy it now: only its hash is stored, so you won't see it again. Revoke it any time under Links."],
      ...(persistent ? [] : [restartNote()]),
    ];
    const loopbackNote = isLoopback(hostname)
      ? [
          h(
            "p",
            { class: "share-loopback" },
            `${hostname} is a loopback address: this link only works on your machine. To share it, serve ` +
              "Glasshouse on a reachable address, for example through an Ingress.",
          ),
        ]
      : [];
    this.body.replaceChildren(
      h(
        "div",
        { class: "share-made" },
        statusLine,
        h("div", { class: "share-line" }, address, copy),
        ...loopbackNote,
        h(
          "div",
          { class: "share-columns" },
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
