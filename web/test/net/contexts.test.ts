// Invariant: I24.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Contexts, contextText, readContexts } from "../../static/src/net/contexts.ts";
import { PaletteSearch } from "../../static/src/palette/palette-search.ts";
import { emptyResponse } from "../../static/src/net/search.ts";

const listed = {
  present: "admin",
  contexts: [
    { name: "admin", cluster: "demo", user: "admin" },
    { name: "arn:aws:eks:eu-west-1:1:cluster/x", cluster: "x", user: "y", namespace: "team" },
  ],
};

void test("invalid parts of a response are left out", () => {
  assert.deepEqual(readContexts(listed).all.map(contextText), [
    "cluster demo, user admin",
    "cluster x, user y, namespace team",
  ]);
  for (const body of [null, 1, "x", [], { contexts: {} }, { contexts: [null, 1, { name: 1 }] }])
    assert.deepEqual(readContexts(body), { present: "", all: [] });
});

void test("a failed switch reports the error and keeps the active context", async () => {
  let switched = 0;
  const requested: string[] = [];
  let answer = (): Response => Response.json(listed);
  const contexts = new Contexts(
    () => switched++,
    async (input, init) => {
      requested.push(`${init?.method ?? "GET"} ${String(input)} ${String(init?.body ?? "")}`);
      return answer();
    },
  );
  await contexts.read();
  assert.deepEqual([contexts.present, contexts.all.length, contexts.error], ["admin", 2, ""]);
  answer = () =>
    Response.json(
      { title: "Context not opened", status: 502, detail: "admin stays as it was: no such command." },
      { status: 502 },
    );
  assert.equal(await contexts.choose("b"), false);
  assert.deepEqual(
    [switched, contexts.error, contexts.switchingTo],
    [0, "admin stays as it was: no such command.", ""],
  );
  answer = () => new Response(null, { status: 204 });
  assert.equal(await contexts.choose("b"), true);
  assert.deepEqual([switched, contexts.error], [1, ""]);
  assert.deepEqual(requested, [
    "GET /api/v1/contexts ",
    'POST /api/v1/context {"name":"b"}',
    'POST /api/v1/context {"name":"b"}',
  ]);
});

void test("the palette finds contexts by text, and lists all after :ctx", () => {
  const chosen: string[] = [];
  const contexts = readContexts(listed).all.map((c) => ({ ...c, choose: () => void chosen.push(c.name) }));
  const known = {
    kinds: [],
    pins: [],
    recent: [],
    namespaces: [],
    commands: [],
    contexts,
    view: null,
    rows: null,
    windowTotal: null,
  };
  const found = (typed: string): string[] =>
    new PaletteSearch().find(typed, known, emptyResponse).items.map((i) => `${i.section}: ${i.label}`);
  assert.deepEqual(found(":ctx"), ["Contexts: admin", "Contexts: arn:aws:eks:eu-west-1:1:cluster/x"]);
  assert.deepEqual(found(":context cluster/x"), ["Contexts: arn:aws:eks:eu-west-1:1:cluster/x"]);
  assert.deepEqual(found("adm"), ["Contexts: admin"]);
  assert.equal(new PaletteSearch().find(":ctx nothing-like-it", known, emptyResponse).words, "No contexts match.");
  const item = new PaletteSearch().find(":ctx adm", known, emptyResponse).items[0];
  if (item !== undefined && "command" in item.act) item.act.command.run("");
  assert.deepEqual(chosen, ["admin"]);
});
