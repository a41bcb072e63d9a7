import assert from "node:assert/strict";
import { test } from "node:test";
import { page, Part } from "../fake-page.ts";
import { drawNote, drawSeverityCounts } from "../../static/src/ui/status-view.ts";
import { defaultView } from "../../static/src/model/view.ts";
import type { CountedSeverity } from "../../static/src/model/severity.ts";

type Counts = Partial<Record<CountedSeverity, number>>;
function draw(counts: Counts, q = "", part = new Part("span")) {
  const view = { ...defaultView("core/v1/pods"), ns: ["shop"], q };
  drawSeverityCounts(part as unknown as HTMLElement, view, (s) => counts[s] ?? 0);
  return part;
}
const linksOf = (part: Part): (string | null)[][] =>
  part.children.map((a) => [a.textContent, a.getAttribute("href"), a.getAttribute("aria-current")]);
const href = (q: string): string => `/r/core/v1/pods?ns=shop${q === "" ? "" : `&q=${q}`}`;

void test("each count is a link that filters by its severity, the worst first", () => {
  const part = draw({ progressing: 1300, failed: 2, degraded: 1 });
  assert.deepEqual(linksOf(part), [
    ["2 failed", href("is%3Afailed"), null],
    ["1 degraded", href("is%3Adegraded"), null],
    ["1,300 progressing", href("is%3Aprogressing"), null],
  ]);
  assert.deepEqual(
    part.children.map((a) => [a.getAttribute("data-severity"), a.getAttribute("title")]),
    [
      ["failed", "Show only failed objects"],
      ["degraded", "Show only degraded objects"],
      ["progressing", "Show only progressing objects"],
    ],
  );
  assert.equal(part.hidden, false);
});

void test("without failed, degraded or progressing objects, the severity counts are hidden", () => {
  const part = draw({});
  assert.deepEqual([part.hidden, linksOf(part)], [true, []]);
});

void test("the link of the current filter removes it, and the other links replace it", () => {
  const part = draw({ failed: 2, degraded: 1 }, "web is:failed");
  assert.deepEqual(linksOf(part), [
    ["2 failed", href("web"), "true"],
    ["1 degraded", href("web+is%3Adegraded"), null],
  ]);
  assert.equal(part.firstElementChild?.title, "Remove this filter");
  assert.deepEqual(linksOf(draw({ failed: 2 }, "IS:FAILED")), [["2 failed", href(""), "true"]]);
  assert.deepEqual(linksOf(draw({ failed: 2 }, "is:failing  web")), [["2 failed", href("web+is%3Afailed"), null]]);
});

void test("a filter without matching objects can be removed", () =>
  assert.deepEqual(linksOf(draw({}, "is:degraded")), [["0 degraded", href(""), "true"]]));

void test("links stay in place while their texts are the same", () => {
  const part = draw({ failed: 2 });
  const link = part.firstElementChild;
  draw({ failed: 2 }, "", part);
  assert.ok(part.firstElementChild === link);
  draw({ failed: 3 }, "", part);
  assert.equal(part.firstElementChild?.textContent, "3 failed");
});

void test("the note of a forbidden list names the user, if the server knows one", () => {
  Object.assign(globalThis, { location: { pathname: "/r/core/v1/nodes", search: "" } });
  const draw = (): string | undefined => {
    const part = new Part("div");
    const note = { title: "Forbidden", detail: "", next: "", act: null, isForbidden: true } as const;
    drawNote(part as unknown as HTMLElement, note, "core/v1/nodes", "Nodes", () => undefined);
    return part.querySelector("p")?.textContent.replace(/\s+/g, " ").trim();
  };
  assert.equal(draw(), "Check with: kubectl auth can-i list nodes");
  const user = new Part("button");
  user.title = "Logged in as ann";
  const form = new Part("form");
  form.setAttribute("class", "who");
  form.append(user);
  page.body.append(form);
  assert.equal(draw(), "Logged in as ann. Check with: kubectl auth can-i list nodes");
  page.body.replaceChildren();
});
