import assert from "node:assert/strict";
import { test } from "node:test";
import { syntaxOf } from "../../../static/src/object/yaml/syntax.ts";

const shown = (text: string): string[] => syntaxOf(text).map(({ name, from, to }) => `${name} ${text.slice(from, to)}`);

void test("keys and scalars of YAML are found", () => {
  const text = [
    "# a comment: not a key",
    "server:",
    "  port: 8080 # the port",
    "  host: example.com",
    '  "quoted key": "a: b"',
    "  url: http://example.com/x",
    "  tls: true",
    "hosts:",
    "- name: a",
    "  weight: 1.5",
    "- 7",
    "script: |",
    "  if x: echo 1",
    "  done: no key",
    "last: ~",
    "",
  ].join("\n");
  assert.deepEqual(shown(text), [
    "key server",
    "key port",
    "number 8080",
    "key host",
    "string example.com",
    'key "quoted key"',
    'string "a: b"',
    "key url",
    "string http://example.com/x",
    "key tls",
    "word true",
    "key hosts",
    "key name",
    "string a",
    "key weight",
    "number 1.5",
    "number 7",
    "key script",
    "key last",
    "word ~",
  ]);
});

void test("keys and values of JSON are found", () => {
  assert.deepEqual(shown('{"a": [1, -2.5e3, "x: \\"y\\""],\n "b" : {"c": null, "d": false}}'), [
    'key "a"',
    "number 1",
    "number -2.5e3",
    'string "x: \\"y\\""',
    'key "b"',
    'key "c"',
    "word null",
    'key "d"',
    "word false",
  ]);
});

for (const text of [
  "",
  "plain text",
  "a=1\nb=2\n",
  "server {\n  listen 80;\n}\n",
  "Dear reader: this is a letter.\nIt has several lines.\nNone of them is YAML.\n",
  "- one\n- two\n",
  "{broken json\n",
  "#!/bin/sh\necho hello\nexit 1\n",
])
  void test(`a text that is neither YAML nor JSON has no syntax: ${JSON.stringify(text)}`, () => {
    assert.deepEqual(shown(text), []);
  });

void test("a long text is read in a moment", () => {
  for (const text of ["a".repeat(50_000), '"'.repeat(50_000), `${" - ".repeat(16_000)}x`, "a: b\n".repeat(10_000)]) {
    const started = performance.now();
    syntaxOf(text);
    const took = performance.now() - started;
    assert.ok(took < 500, `${text.slice(0, 8)}: ${took.toFixed()} ms`);
  }
});
