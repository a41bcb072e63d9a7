import { countedSeverities, severityMatcher, type CountedSeverity } from "../model/severity.ts";
import { h, setText } from "./dom.ts";
import { formatInteger } from "../text/format.ts";
import { countText, type Note, type Status } from "../model/status.ts";
import { formatView, defaultView, parseView, type View } from "../model/view.ts";

/** Shows a text in the element, or hides the element if the text is null. */
export function showText(e: HTMLElement, text: string | null): void {
  e.hidden = text === null;
  setText(e, text ?? "");
}

export function drawStatus(e: HTMLElement, s: Status): void {
  e.dataset["state"] = s.level;
  let label = e.querySelector(".words");
  let number = e.querySelector(".number");
  if (label === null || number === null) {
    label = h("span", { class: "words" });
    // Hidden from screen readers, because they would announce each change of the number.
    number = h("span", { class: "number", "aria-hidden": "true" });
    e.replaceChildren(label, number);
  }
  setText(label, s.text);
  setText(number, countText(s));
}

// Returns the kubectl command that checks the permission to list, like canListCommand in templates/listtext.go.
function canListCommand(ref: string): string {
  const [group = "", , resource = ""] = ref.split("/");
  const [namespace] = parseView(location.pathname, location.search, ref).ns;
  return (
    `kubectl auth can-i list ${resource}${group === "core" ? "" : `.${group}`}` +
    (namespace === undefined ? "" : ` -n ${namespace}`)
  );
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
  if (n.act === "show-allowed") parts.push(link(`Show ${resource} in all namespaces where you can list them`, ref));
  if (n.act === "view-namespaces") parts.push(link("View namespaces", "core/v1/namespaces"));
  if (n.act === "retry") {
    const b = h("button", { type: "button" }, "Try again");
    b.addEventListener("click", retry);
    parts.push(h("p", {}, b));
  }
  if (n.isForbidden === true) {
    const user = document.querySelector(".who[title], .who [title]")?.getAttribute("title"); // "Logged in as ann"
    parts.push(h("p", {}, user ? `${user}. ` : "", "Check with: ", h("code", {}, canListCommand(ref))));
  }
  element.replaceChildren(...parts);
}

/** Draws links that filter the list by the severity of rows. The link of the active filter removes that filter. */
export function drawSeverityCounts(
  element: HTMLElement,
  view: View,
  count: (severity: CountedSeverity) => number,
): void {
  const allTerms = view.q.split(/\s+/).filter((t) => t !== "");
  const terms = allTerms.filter((t) => severityMatcher(t.toLowerCase()) === null);
  const words = countedSeverities
    .map((severity) => {
      const word = `is:${severity}`;
      const isFilter = allTerms.some((t) => t.toLowerCase() === word);
      const q = [...terms, ...(isFilter ? [] : [word])].join(" ");
      return { n: count(severity), severity, isFilter, href: formatView({ ...view, q }) };
    })
    .filter((w) => w.n > 0 || w.isFilter);
  element.hidden = words.length === 0;
  const drawnJson = JSON.stringify(words);
  if (element.dataset["known"] === drawnJson) return;
  element.dataset["known"] = drawnJson;
  element.replaceChildren(
    ...words.map((w) =>
      h(
        "a",
        {
          href: w.href,
          "data-severity": w.severity,
          "data-address": true,
          "aria-current": w.isFilter ? "true" : null,
          title: w.isFilter ? "Remove this filter" : `Show only ${w.severity} objects`,
        },
        `${formatInteger(w.n)} ${w.severity}`,
      ),
    ),
  );
}
