// The list of existing share links in the share dialog. It is read from the server every 3 s. The user can revoke
// each link.

import { clockTime } from "../text/age.ts";
import { withBase } from "../net/base-path.ts";
import { h, syncChildren, setText } from "../ui/dom.ts";
import { problemOf } from "../net/problem.ts";
import { linkText, partsText, readLinks, type Link } from "./share-text.ts";

const pollInterval = 3000; // ms between two requests

/** Returns a note that share links expire when Glasshouse restarts. */
export const restartNote = (): (Node | string)[] => [
  "Links expire when Glasshouse restarts, because it runs without ",
  h("code", {}, "--data-dir"),
  ".",
];

export class ShareLinkList {
  private readonly list = h("ul", { class: "share-links" });
  private readonly words = h("p", { class: "share-words", role: "status" }, "Loading links…");
  private readonly footer = h("p", { class: "share-restart-note" });
  readonly element = h("div", { class: "share-all" }, this.words, this.list, this.footer);
  private links: readonly Link[] = [];
  private lastSuccess: string | null = null; // time of the last successful response
  private readonly confirming = new Set<string>(); // ids of links that wait for a confirmation
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly ticker: ReturnType<typeof setInterval>;
  private open = true;
  private requestNumber = 0;

  constructor(private readonly now: () => number) {
    this.ticker = setInterval(() => this.draw(), 1000);
    void this.poll();
  }

  close(): void {
    this.open = false;
    clearTimeout(this.timer);
    clearInterval(this.ticker);
  }

  private async poll(): Promise<void> {
    clearTimeout(this.timer);
    const ownRequest = ++this.requestNumber;
    let error = "Glasshouse cannot be reached";
    let listing: ReturnType<typeof readLinks> = null;
    try {
      const response = await fetch(withBase("/api/v1/shares"), {
        cache: "no-store",
        headers: { accept: "application/json" },
        signal: AbortSignal.timeout(10_000),
      });
      if (response.ok) listing = readLinks(await response.json());
      else {
        const { title, detail } = await problemOf(response);
        error = `${title}. ${detail}`;
      }
    } catch {
      // The code below shows the error.
    }
    if (!this.open || ownRequest !== this.requestNumber) return;
    if (listing !== null) {
      this.links = listing.links;
      this.lastSuccess = new Date(this.now()).toISOString();
      this.footer.replaceChildren(...(listing.persistent ? [] : restartNote()));
      setText(
        this.words,
        listing.links.length === 0 ? "No active links. New links appear here until they expire." : "",
      );
    } else {
      setText(
        this.words,
        `${error}.` +
          (this.lastSuccess === null ? "" : ` Showing links as of ${clockTime(this.lastSuccess, this.now())}.`) +
          " Retrying automatically.",
      );
    }
    this.draw();
    this.timer = setTimeout(() => void this.poll(), pollInterval);
  }

  private draw(): void {
    const lines = this.links.map((l) => ({ key: l.id, link: l }));
    syncChildren(this.list, lines, () => this.item(), (e, { link }) => {
      const [textElement, , controls] = e.children as unknown as [Element, Element, HTMLElement];
      setText(textElement.children[0] as Element, partsText(link.parts));
      setText(textElement.children[1] as Element, link.note);
      setText(textElement.children[2] as Element, linkText(link, this.now()));
      const { confirming } = this;
      if ((controls.dataset["confirming"] !== undefined) !== confirming.has(link.id))
        this.drawRevokeControls(controls, link.id);
    });
  }

  private item(): HTMLElement {
    const controls = h("div", { class: "share-revoke" });
    const line = h(
      "li",
      {},
      h(
        "div",
        { class: "share-link" },
        h("p", { class: "share-contents" }),
        h("p", { class: "share-link-note" }),
        h("p", { class: "share-details" }),
      ),
      h("p", { class: "share-failed", role: "alert" }),
      controls,
    );
    queueMicrotask(() => this.drawRevokeControls(controls, line.dataset["key"] ?? ""));
    return line;
  }

  // Draws the revoke button. After a click on it, the buttons for the confirmation are drawn instead.
  private drawRevokeControls(controls: HTMLElement, id: string): void {
    const isConfirming = this.confirming.has(id);
    const hadFocus = controls.contains(document.activeElement);
    if (isConfirming) controls.dataset["confirming"] = "";
    else delete controls.dataset["confirming"];
    const button = (text: string, kind: string | null, run: () => void): HTMLButtonElement => {
      const b = h("button", { type: "button", class: kind }, text);
      b.addEventListener("click", run);
      return b;
    };
    const setConfirming = (on: boolean): void => {
      if (on) this.confirming.add(id);
      else this.confirming.delete(id);
      this.drawRevokeControls(controls, id);
    };
    controls.replaceChildren(
      ...(isConfirming
        ? [
            h("span", {}, "Viewers lose access immediately."),
            button("Revoke", "danger", () => void this.revoke(id, controls)),
            button("Cancel", null, () => setConfirming(false)),
          ]
        : [button("Revoke", null, () => setConfirming(true))]),
    );
    if (hadFocus) controls.querySelector("button")?.focus();
  }

  private async revoke(id: string, controls: HTMLElement): Promise<void> {
    const errorElement = controls.previousElementSibling as HTMLElement;
    const buttons = [...controls.querySelectorAll("button")];
    for (const b of buttons) b.disabled = true;
    try {
      const response = await fetch(withBase(`/api/v1/shares/${encodeURIComponent(id)}`), {
        method: "DELETE",
        headers: { accept: "application/json" },
        signal: AbortSignal.timeout(10_000),
      });
      if (!response.ok && response.status !== 404) {
        const { title, detail } = await problemOf(response);
        throw new Error(`${title}. ${detail}`);
      }
      this.confirming.delete(id);
      const index = this.links.findIndex((l) => l.id === id);
      this.links = this.links.filter((l) => l.id !== id);
      this.draw();
      setText(this.words, "Link revoked. No viewers have it open.");
      // Move the keyboard focus to the next link, or to the tab if there is no link left.
      (
        this.list.children[Math.min(index, this.list.childElementCount - 1)]?.querySelector("button") ??
        document.getElementById("share-tab-links")
      )?.focus();
    } catch (err) {
      for (const b of buttons) b.disabled = false;
      setText(
        errorElement,
        err instanceof DOMException || err instanceof TypeError
          ? "Glasshouse cannot be reached. The link may still be active."
          : (err as Error).message,
      );
    }
  }
}
