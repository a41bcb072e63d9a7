import assert from "node:assert/strict";
import { test } from "node:test";
import { Part } from "../fake-page.ts";
import { docsHref, showDocsLink } from "../../static/src/list/kind-docs.ts";
import { drawNote } from "../../static/src/ui/status-view.ts";

const base = "https://kubernetes.io/docs/";

void test("a built-in kind has a page of documentation, and a custom resource has none", () => {
  assert.equal(docsHref("core/v1/pods"), `${base}concepts/workloads/pods/`);
  assert.equal(docsHref("batch/v1/jobs"), `${base}concepts/workloads/controllers/job/`);
  assert.equal(docsHref("batch.volcano.sh/v1alpha1/jobs"), null);
});

void test("the note of an empty list gets one link", () => {
  const part = new Part("div");
  const element = part as unknown as HTMLElement;
  const links = (): (string | null)[] => part.querySelectorAll("a").map((a) => a.getAttribute("href"));
  const draw = (title: string): void => {
    const note = { title, detail: "", next: "New ones appear here automatically.", act: "docs" } as const;
    drawNote(element, note, "batch/v1/jobs", "Jobs", () => undefined);
  };
  draw("No Jobs");
  for (let second = 0; second < 2; second++) showDocsLink(element, "batch/v1/jobs", "Jobs");
  assert.deepEqual(links(), [`${base}concepts/workloads/controllers/job/`]);
  assert.equal(part.querySelector("a")?.getAttribute("rel"), "noopener noreferrer");
  assert.equal(part.querySelectorAll("p").length, 1, "the link is in the same line");
  draw("Loading Jobs…");
  showDocsLink(element, "batch/v1/jobs", "Jobs");
  assert.deepEqual(links(), [], "the list has another note when the code arrives");
});
