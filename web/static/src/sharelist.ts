// The list of existing share links, fetched from the server every few seconds. Each link can be revoked.

import { clockTime } from "./age.ts";
import { under } from "./base.ts";
import { h, keep, setText } from "./dom.ts";
import { problemOf } from "./problem.ts";
import { linkWords, partsWords, readLinks, type Link } from "./sharewords.ts";

const every = 3000; // ms

/** Explains that links end when the program restarts. */
export const lasting = (): (Node | string)[] => [
  "Links expire when Glasshouse restarts, because it runs without ",
  h("code", {}, "--data-dir"),
  ".",
];

export class LinkList {
  private readonly list = h("ul", { class: "share-links" });
  private readonly words = h("p", { class: "share-words", role: "status" }, "Loading links…");
  private readonly foot = h("p", { class: "share-lasting" });
  readonly element = h("div", { class: "share-all" }, this.words, this.list, this.foot);
  private links: readonly Link[] = [];
  private known: string | null = null; // the time of the last successful response
  private readonly ending = new Set<string>(); // links that wait for a confirmation before they are revoked
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly ticker: ReturnType<typeof setInterval>;
  private open = true;
  private asked = 0;

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
    const mine = ++this.asked;
    let trouble = "Glasshouse cannot be reached";
    let read: ReturnType<typeof readLinks> = null;
    try {
      const answer = await fetch(under("/api/v1/shares"), {
        cache: "no-store",
        headers: { accept: "application/json" },
        signal: AbortSignal.timeout(10_000),
      });
      if (answer.ok) read = readLinks(await answer.json());
      else {
        const { title, detail } = await problemOf(answer);
        trouble = `${title}. ${detail}`;
      }
    } catch {
      // Reported below.
    }
    if (!this.open || mine !== this.asked) return;
    if (read !== null) {
      this.links = read.links;
      this.known = new Date(this.now()).toISOString();
      this.foot.replaceChildren(...(read.persistent ? [] : lasting()));
      setText(
        this.words,
        read.links.length === 0 ? "No active links. New links appear here until they expire." : "",
      );
    } else {
      setText(
        this.words,
        `${trouble}.${this.known === null ? "" : ` Showing links as of ${clockTime(this.known, this.now())}.`} ` +
          "Retrying automatically.",
      );
    }
    this.draw();
    this.timer = setTimeout(() => void this.poll(), every);
  }

  private draw(): void {
    const lines = this.links.map((l) => ({ key: l.id, link: l }));
    keep(this.list, lines, () => this.line(), (e, { link }) => {
      const [words, , end] = e.children as unknown as [Element, Element, HTMLElement];
      setText(words.children[0] as Element, partsWords(link.parts));
      setText(words.children[1] as Element, link.note);
      setText(words.children[2] as Element, linkWords(link, this.now()));
      const { ending } = this;
      if ((end.dataset["sure"] !== undefined) !== ending.has(link.id)) this.drawEnd(end, link.id);
    });
  }

  private line(): HTMLElement {
    const end = h("div", { class: "share-end" });
    const line = h(
      "li",
      {},
      h(
        "div",
        { class: "share-link" },
        h("p", { class: "share-of" }),
        h("p", { class: "share-for" }),
        h("p", { class: "share-how" }),
      ),
      h("p", { class: "share-failed", role: "alert" }),
      end,
    );
    queueMicrotask(() => this.drawEnd(end, line.dataset["key"] ?? ""));
    return line;
  }

  // Draws the button, or the confirmation after it was pressed.
  private drawEnd(end: HTMLElement, id: string): void {
    const sure = this.ending.has(id);
    const had = end.contains(document.activeElement);
    if (sure) end.dataset["sure"] = "";
    else delete end.dataset["sure"];
    const button = (text: string, kind: string | null, run: () => void): HTMLButtonElement => {
      const b = h("button", { type: "button", class: kind }, text);
      b.addEventListener("click", run);
      return b;
    };
    const turn = (on: boolean): void => {
      if (on) this.ending.add(id);
      else this.ending.delete(id);
      this.drawEnd(end, id);
    };
    end.replaceChildren(
      ...(sure
        ? [
            h("span", {}, "Viewers lose access immediately."),
            button("Revoke", "danger", () => void this.revoke(id, end)),
            button("Cancel", null, () => turn(false)),
          ]
        : [button("Revoke", null, () => turn(true))]),
    );
    if (had) end.querySelector("button")?.focus();
  }

  private async revoke(id: string, end: HTMLElement): Promise<void> {
    const place = end.previousElementSibling as HTMLElement;
    const buttons = [...end.querySelectorAll("button")];
    for (const b of buttons) b.disabled = true;
    try {
      const answer = await fetch(under(`/api/v1/shares/${encodeURIComponent(id)}`), {
        method: "DELETE",
        headers: { accept: "application/json" },
        signal: AbortSignal.timeout(10_000),
      });
      if (!answer.ok && answer.status !== 404) {
        const { title, detail } = await problemOf(answer);
        throw new Error(`${title}. ${detail}`);
      }
      this.ending.delete(id);
      const at = this.links.findIndex((l) => l.id === id);
      this.links = this.links.filter((l) => l.id !== id);
      this.draw();
      setText(this.words, "Link revoked. No viewers have it open.");
      // Move the focus to the next link, or to the tab.
      (
        this.list.children[Math.min(at, this.list.childElementCount - 1)]?.querySelector("button") ??
        document.getElementById("share-tab-links")
      )?.focus();
    } catch (err) {
      for (const b of buttons) b.disabled = false;
      setText(
        place,
        err instanceof DOMException || err instanceof TypeError
          ? "Glasshouse cannot be reached. The link may still be active."
          : (err as Error).message,
      );
    }
  }
}
