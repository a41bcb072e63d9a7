// Invariant: I37.

import assert from "node:assert/strict";
import { test } from "node:test";
import { page, rendering } from "../../fake-page.ts";
import {
  AuthorReader,
  lastAuthors,
  readAuthors,
  withChange,
  type PartAuthor,
} from "../../../static/src/object/overview/authors.ts";
import { LastChanges, partsText } from "../../../static/src/object/overview/last-changes.tsx";
import { mount, ViewState } from "../../../static/src/ui/view.tsx";
import type { TabHost } from "../../../static/src/object/tab.ts";

const entry = (manager: string, time: string, parts: string[], subresource = ""): object => ({
  manager,
  operation: "Update",
  time: `2026-11-21T10:00:${time}Z`,
  parts,
  ...(subresource === "" ? {} : { subresource }),
});
const response = {
  authors: [
    entry("kube-controller-manager", "09", ["metadata", "status"], "status"),
    entry("kubectl-set", "05", ["spec"]),
    entry("helm", "01", ["metadata", "spec"]),
  ],
};
const nextTask = (): Promise<void> => new Promise((done) => setTimeout(done, 5));

void test("each part has its newest author", () => {
  assert.deepEqual(
    lastAuthors(readAuthors(response)).map((a) => [a.manager, a.parts]),
    [
      ["kube-controller-manager", ["status"]],
      ["kubectl-set", ["spec"]],
      ["helm", ["metadata"]],
    ],
    "each part is assigned only to its newest author",
  );
  assert.deepEqual(readAuthors({ authors: [7, {}, { time: "x" }, { time: "2026-11-21T10:00:01Z", parts: 7 }] }), [
    { manager: "", operation: "", subresource: "", time: "2026-11-21T10:00:01Z", parts: [] },
  ]);
  assert.deepEqual(readAuthors("x"), []);
  assert.equal(partsText(["a", "b", "c"]), "a, b, c");
  assert.equal(partsText(["a", "b", "c", "d"]), "a, b and 2 more");
});

void test("an author without a time can be the newest", () => {
  const scale = { manager: "kubectl", operation: "Update", subresource: "scale", parts: ["spec"] };
  const authors = readAuthors({ authors: [scale, ...response.authors] });
  const shown = (all: readonly PartAuthor[]): unknown => lastAuthors(all).map((a) => [a.manager, a.parts]);
  const others = [
    ["kube-controller-manager", ["status"]],
    ["helm", ["metadata"]],
  ];
  assert.deepEqual(shown(authors), others, "the part spec has no author, because its newest author has no time");
  const by = { manager: "oncall", operation: "Update", subresource: "", time: "" };
  const before = { metadata: { resourceVersion: "1" }, spec: { replicas: 1 } };
  const object = { metadata: { resourceVersion: "2" }, spec: { replicas: 2 } };
  const last = { op: "update", at: "2026-11-21T10:01:00Z", by: [by], before } as const;
  assert.deepEqual(shown(withChange(authors, last, object) ?? []), [["oncall", ["spec"]], ...others]);
});

void test("a new change replaces the author of the changed parts", () => {
  const by = { manager: "oncall", operation: "Update", subresource: "", time: "" };
  const before = { metadata: { resourceVersion: "1" }, spec: { replicas: 1 }, status: {} };
  const object = { ...before, metadata: { resourceVersion: "2" }, spec: { replicas: 2 } };
  const last = { op: "update", at: "2026-11-21T10:01:00Z", by: [by], before } as const;
  const authors = readAuthors(response);
  assert.deepEqual(
    lastAuthors(withChange(authors, last, object) ?? []).map((a) => [a.manager, a.parts]),
    [
      ["oncall", ["spec"]],
      ["kube-controller-manager", ["status"]],
      ["helm", ["metadata"]],
    ],
  );
  assert.deepEqual(withChange([], last, { ...before, metadata: { labels: {} } })?.[0]?.parts, ["metadata"]);
  for (const unknown of [{ by: [] }, { by: [by, by] }, { before: null }, { op: "add" as const }])
    assert.equal(withChange(authors, { ...last, ...unknown }, object), null);
});

void test("the authors are read when the tab opens, and again after a change of an unknown author", async () => {
  let now = 100_000;
  performance.now = () => now;
  const requests: string[] = [];
  let answer = (): Response => Response.json(response);
  globalThis.fetch = (address) => {
    requests.push(String(address));
    return Promise.resolve(answer());
  };
  const host = {
    kind: { ref: "apps/v1/deployments", namespaced: true },
    name: { ns: "a", name: "web" },
  } as unknown as TabHost;
  const { part, element } = rendering();
  const state = new ViewState(() => Date.parse("2026-11-21T10:02:00Z"));
  const reader = new AuthorReader(host, () => mount(element, <LastChanges authors={reader.authors} />, state));
  const version = (resourceVersion: string): object => ({ metadata: { uid: "1", resourceVersion } });
  const show = async (rv: string): Promise<void> => {
    reader.show(version(rv) as never, null, false);
    await nextTask();
  };
  const shown = (): string => part.textContent.replace(/\s+/g, " ").trim();
  await show("1");
  assert.deepEqual(requests, ["/api/v1/authors/apps/v1/deployments/a/web"]);
  assert.equal(
    shown(),
    "Last changed by status kube-controller-manager Update status 111s ago spec kubectl-set Update 115s ago " +
      "metadata helm Update 119s ago",
  );
  await show("1");
  await show("2");
  assert.equal(requests.length, 1, "the authors are read at most every 10 s");
  now += 10_000;
  answer = () => Response.json({ authors: [] });
  reader.tick();
  await nextTask();
  assert.equal(requests.length, 2);
  assert.equal(shown(), "");
  reader.tick();
  assert.equal(requests.length, 2, "the authors are not read again without a change");
  now += 10_000;
  answer = () => new Response(null, { status: 503 });
  await show("3");
  assert.equal(requests.length, 3);
  now += 10_000;
  answer = () => Response.json(response);
  reader.tick();
  // This change arrives during the read, whose response can be older.
  const by = [{ manager: "oncall", operation: "Update", subresource: "", time: "" }];
  const last = { by, op: "update", at: "2026-11-21T10:01:00Z", before: version("3") };
  reader.show({ ...version("4"), spec: {} } as never, last as never, false);
  await nextTask();
  assert.equal(requests.length, 4, "a failed read is repeated");
  now += 10_000;
  reader.tick();
  await nextTask();
  assert.equal(requests.length, 5, "a read during a change is repeated");
  reader.show({ ...version("6"), spec: {} } as never, { ...last, before: version("5") } as never, false);
  now += 10_000;
  reader.tick();
  await nextTask();
  assert.equal(requests.length, 6, "the authors are read again if a version was skipped");
  page.documentElement.dataset["shared"] = "[]";
  now += 10_000;
  await show("7");
  assert.equal(requests.length, 6, "a guest does not read the authors");
});
