import assert from "node:assert/strict";
import { test } from "node:test";
import { rendering } from "../../fake-page.ts";
import { factsOf } from "../../../static/src/object/facts/facts.ts";
import { SectionView } from "../../../static/src/object/overview/fact-view.tsx";
import { mount } from "../../../static/src/ui/view.tsx";

void test("a long value of a ConfigMap is drawn only while it is open", () => {
  const { part, element } = rendering();
  const object = { apiVersion: "v1", kind: "ConfigMap", data: { "app.yaml": "a: 1\nb: <b>2</b>\n", MODE: "prod" } };
  const [section] = factsOf(object);
  assert.ok(section);
  mount(element, <SectionView section={section} />);
  const details = part.querySelector(".long-value");
  assert.equal(details?.querySelector("summary")?.textContent, "17 B, 2 lines");
  assert.equal(part.querySelectorAll("pre").length, 0);
  details?.fire("toggle", { currentTarget: { open: true } });
  mount(element, <SectionView section={section} />);
  return new Promise((done) => setTimeout(done, 5)).then(() => {
    assert.equal(part.querySelector("pre")?.textContent, "a: 1\nb: <b>2</b>\n");
    assert.match(part.textContent, /prod/);
  });
});
