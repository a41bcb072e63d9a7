// Invariant: I26.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { withBase } from "../../static/src/net/base-path.ts";
import { formatView, objectHref, parseView, defaultView } from "../../static/src/model/view.ts";

const page = (base?: string): void =>
  void Object.assign(globalThis, { document: { documentElement: { dataset: base === undefined ? {} : { base } } } });

void test("routes start with the base path of the page", () => {
  assert.equal(withBase("/status"), "/status", "without a page, there is no base path");
  page();
  assert.equal(withBase("/status"), "/status");
  page("/a/glasshouse");
  assert.equal(withBase("/status"), "/a/glasshouse/status");
  const href = formatView({ ...defaultView("core/v1/pods"), q: "web" });
  assert.equal(href, "/a/glasshouse/r/core/v1/pods?q=web");
  assert.equal(objectHref("core/v1/pods", { ns: "a", name: "b" }), "/a/glasshouse/o/core/v1/pods/a/b");
  const { pathname, search } = new URL(href, "http://x");
  assert.deepEqual(parseView(pathname, search, ""), { ...defaultView("core/v1/pods"), q: "web" });
  page("/r/a"); // a base path that has the form of a route
  assert.equal(parseView("/r/a/r/core/v1/pods", "", "").ref, "core/v1/pods");
  assert.equal(parseView("/r/a/", "", "core/v1/nodes").ref, "core/v1/nodes");
  page();
});

void test("no source file contains a route without the base path", () => {
  const sources = "static/src";
  const found: string[] = [];
  for (const name of readdirSync(sources, { recursive: true }).filter((n) => /\.tsx?$/.test(n))) {
    const code = readFileSync(`${sources}/${name}`, "utf8").replace(/^\s*(\/\/|\/?\*).*/gm, "");
    for (const m of code.matchAll(/(.{0,9}\n\s*|.{0,9})["'`]\/(?:api|r|o|static|compare|status)\b.{0,8}/g)) {
      // The route in watch-status.ts is an exception: status-page.tsx passes it to withBase later.
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the string is source text that contains a placeholder
      if (!/withBase\(\s*$/.test(m[1] ?? "") && !(name === "status/watch-status.ts" && m[0].endsWith("/r/${ref}`")))
        found.push(`${name}: ${m[0]}`);
    }
  }
  assert.deepEqual(found, []);
});
