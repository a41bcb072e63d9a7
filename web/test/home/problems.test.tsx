// Invariant: I31.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { rendering } from "../fake-page.ts";
import { Problems } from "../../static/src/home/problems.tsx";
import { readOverview, type Overview } from "../../static/src/net/overview.ts";
import type { JsonObject } from "../../static/src/net/wire.ts";
import { mount, ViewState } from "../../static/src/ui/view.tsx";

const file = JSON.parse(readFileSync("../internal/web/testdata/overview.json", "utf8")) as {
  now: string;
  overview: JsonObject;
};

void test("the server and the page render the same problems", () => {
  const overview = readOverview(file.overview) as Overview;
  const { part, element } = rendering();
  mount(element, <Problems findings={overview.problems} />, new ViewState(() => Date.parse(file.now)));
  const html = part.children.map((e) => e.html).join("");
  assert.equal(
    `${html.replaceAll("<li class=", "\n<li class=")}\n`,
    readFileSync("templates/testdata/findings.html", "utf8"),
  );
});
