import { h, setText } from "./dom.ts";
import { formatInteger } from "../text/format.ts";
import { countText, type Note, type Status } from "../model/status.ts";
import { formatView, defaultView, type View } from "../model/view.ts";

/** Hides the element if the text is null. */
export function showText(e: HTMLElement, text: string | null): void {
  e.hidden = text === null;
  setText(e, text ?? "");
}

export function drawStatus(e: HTMLElement, s: Status): void {
  e.dataset["state"] = s.tone;
  let label = e.querySelector(".words");
  let number = e.querySelector(".number");
  if (label === null || number === null) {
    label = h("span", { class: "words" });
    // Screen readers would announce each change of the number.
    number = h("span", { class: "number", "aria-hidden": "true" });
    e.replaceChildren(label, number);
  }
  setText(label, s.text);
  setText(number, countText(s));
}

/** Draws the note that replaces the rows of an empty table. null removes the note. */
export function drawNote(element: HTMLElement, n: Note | null, ref: string, resource: string, retry: () => void): void {
  if (n === null) return element.replaceChildren();
  const text = JSON.stringify(n);
  if (element.dataset["note"] === text) return;
  element.dataset["note"] = text;
  const parts: Node[] = [h("h2", {}, n.title)];
  if (n.detail !== "") parts.push(h("p", {}, n.detail));
  if (n.next !== "") parts.push(h("p", {}, n.next));
  const link = (label: string, to: string): Node =>
    h("p", {}, h("a", { href: formatView(defaultView(to)), "data-ref": to }, label));
  if (n.act === "show-all") parts.push(link("Clear filters", ref));
  if (n.act === "show-allowed") parts.push(link(`Show ${resource} in all namespaces that you can list`, ref));
  if (n.act === "view-namespaces") parts.push(link("View namespaces", "core/v1/namespaces"));
  if (n.act === "retry") {
    const b = h("button", { type: "button" }, "Try again");
    b.addEventListener("click", retry);
    parts.push(h("p", {}, b));
  }
  element.replaceChildren(...parts);
}

/** Draws links that filter the list by rows with errors or with warnings. */
export function drawSeverityCounts(element: HTMLElement, view: View, count: (tone: "bad" | "warn") => number): void {
  const words = (["bad", "warn"] as const)
    .map((tone) => {
      const n = count(tone);
      const word = tone === "bad" ? "failing" : "waiting";
      const name = `${tone === "bad" ? "error" : "warning"}${n === 1 ? "" : "s"}`;
      return n === 0
        ? null
        : { tone, text: `${formatInteger(n)} ${name}`, href: formatView({ ...view, q: `is:${word}` }) };
    })
    .filter((w) => w !== null);
  element.hidden = words.length === 0;
  const drawnJson = JSON.stringify(words);
  if (element.dataset["known"] === drawnJson) return;
  element.dataset["known"] = drawnJson;
  element.replaceChildren(
    ...words.map((w) => h("a", { href: w.href, "data-tone": w.tone, "data-address": true }, w.text)),
  );
}
