import assert from "node:assert/strict";
import { test } from "node:test";
import { Contexts, contextWords, readContexts } from "../static/src/contexts.ts";
import { Finder } from "../static/src/find.ts";
import { none } from "../static/src/search.ts";

const listed = {
  present: "admin",
  contexts: [
    { name: "admin", cluster: "demo", user: "admin" },
    { name: "arn:aws:eks:eu-west-1:1:cluster/x", cluster: "x", user: "y", namespace: "team" },
  ],
};

void test("what cannot be read of an answer is left out", () => {
  assert.deepEqual(readContexts(listed).all.map(contextWords), [
    "cluster demo, user admin",
    "cluster x, user y, namespace team",
  ]);
  for (const body of [null, 1, "x", [], { contexts: {} }, { contexts: [null, 1, { name: 1 }] }])
    assert.deepEqual(readContexts(body), { present: "", all: [] });
});

void test("a context that is not opened is told, and nothing is left for it", async () => {
  let switched = 0;
  const asked: string[] = [];
  let answer = (): Response => Response.json(listed);
  const contexts = new Contexts(() => switched++, async (input, init) => {
    asked.push(`${init?.method ?? "GET"} ${String(input)} ${String(init?.body ?? "")}`);
    return answer();
  });
  await contexts.read();
  assert.deepEqual([contexts.present, contexts.all.length, contexts.trouble], ["admin", 2, ""]);
  answer = () =>
    Response.json(
      { title: "Context not opened", status: 502, detail: "admin stays as it was: no such command." },
      { status: 502 },
    );
  assert.equal(await contexts.choose("b"), false);
  assert.deepEqual([switched, contexts.trouble, contexts.opening], [0, "admin stays as it was: no such command.", ""]);
  answer = () => new Response(null, { status: 204 });
  assert.equal(await contexts.choose("b"), true);
  assert.deepEqual([switched, contexts.trouble], [1, ""]);
  assert.deepEqual(asked, [
    "GET /api/v1/contexts ",
    'POST /api/v1/context {"name":"b"}',
    'POST /api/v1/context {"name":"b"}',
  ]);
});

void test("the palette finds contexts by what is typed, and all of them after :ctx", () => {
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
    kept: null,
  };
  const found = (typed: string): string[] =>
    new Finder().find(typed, known, none).items.map((i) => `${i.section}: ${i.label}`);
  assert.deepEqual(found(":ctx"), ["Contexts: admin", "Contexts: arn:aws:eks:eu-west-1:1:cluster/x"]);
  assert.deepEqual(found(":context cluster/x"), ["Contexts: arn:aws:eks:eu-west-1:1:cluster/x"]);
  assert.deepEqual(found("adm"), ["Contexts: admin"]);
  assert.equal(new Finder().find(":ctx nothing-like-it", known, none).words, "No contexts match.");
  const item = new Finder().find(":ctx adm", known, none).items[0];
  if (item !== undefined && "command" in item.act) item.act.command.run("");
  assert.deepEqual(chosen, ["admin"]);
  assert.match(new Finder().find(":ctx", { ...known, contexts: null }, none).words, /one cluster/);
});
