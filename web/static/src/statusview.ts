// Draws the status of a list. The texts are in status.ts.

import { digits, h, setText } from "./dom.ts";
import { countWords, type Note, type Status } from "./status.ts";
import { formatView, plain, type View } from "./view.ts";

/** Shows a text in an element, and hides the element if there is none. */
export function sayIn(e: HTMLElement, words: string | null): void {
  e.hidden = words === null;
  setText(e, words ?? "");
}

/** Draws the status of the page. */
export function drawStatus(e: HTMLElement, s: Status): void {
  e.dataset["state"] = s.tone;
  let label = e.querySelector(".words");
  let number = e.querySelector(".number");
  if (label === null || number === null) {
    label = h("span", { class: "words" });
    // Hide the number from screen readers, because they would announce each of its changes.
    number = h("span", { class: "number", "aria-hidden": "true" });
    e.replaceChildren(label, number);
  }
  setText(label, s.words);
  setText(number, countWords(s));
}

/** Draws the note of a table without rows, or removes it. */
export function drawNote(place: HTMLElement, n: Note | null, ref: string, resource: string, again: () => void): void {
  if (n === null) return place.replaceChildren();
  const text = JSON.stringify(n);
  if (place.dataset["note"] === text) return;
  place.dataset["note"] = text;
  const parts: Node[] = [h("h2", {}, n.title)];
  if (n.detail !== "") parts.push(h("p", {}, n.detail));
  if (n.next !== "") parts.push(h("p", {}, n.next));
  const all =
    n.act === "show-all"
      ? "Clear filters"
      : n.act === "show-allowed"
        ? `Show ${resource} in all namespaces that you can list`
        : "";
  if (all !== "") parts.push(h("p", {}, h("a", { href: formatView(plain(ref)), "data-ref": ref }, all)));
  if (n.act === "retry") {
    const b = h("button", { type: "button" }, "Try again");
    b.addEventListener("click", again);
    parts.push(h("p", {}, b));
  }
  place.replaceChildren(...parts);
}

/** Draws how many rows have a warning or an error, each as a link to these rows. */
export function drawTrouble(place: HTMLElement, view: View, count: (tone: "bad" | "warn") => number): void {
  const words = (["bad", "warn"] as const).map((tone) => {
    const n = count(tone);
    const word = tone === "bad" ? "failing" : "waiting";
    const name = `${tone === "bad" ? "error" : "warning"}${n === 1 ? "" : "s"}`;
    return n === 0 ? null : { tone, text: `${digits(n)} ${name}`, href: formatView({ ...view, q: `is:${word}` }) };
  }).filter((w) => w !== null);
  place.hidden = words.length === 0;
  const known = JSON.stringify(words);
  if (place.dataset["known"] === known) return;
  place.dataset["known"] = known;
  place.replaceChildren(
    ...words.map((w) => h("a", { href: w.href, "data-tone": w.tone, "data-address": true }, w.text)),
  );
}
