import assert from "node:assert/strict";
import { test } from "node:test";
import { page, type Part } from "../../fake-page.ts";
import { LiveText } from "../../../static/src/object/yaml/live-text.ts";
import { YamlWriter } from "../../../static/src/yaml/writer.ts";

Object.assign(globalThis, {
  Text: page.createTextNode("").constructor,
  IntersectionObserver: class {
    observe(): void {
      /* Does nothing, because no block is visible in tests. */
    }
    unobserve(): void {
      /* Does nothing, because no block is visible in tests. */
    }
    disconnect(): void {
      /* Does nothing, because no block is visible in tests. */
    }
  },
});

void test("changed lines are marked, except the resource version", async () => {
  const writer = new YamlWriter();
  const text = new LiveText(() => undefined);
  const show = async (resourceVersion: string, value: string, tooltip: string | null): Promise<string[]> => {
    const object = { kind: "ConfigMap", metadata: { name: "a", resourceVersion }, data: { resourceVersion: value } };
    await text.show((await writer.write(object, () => true)) ?? [], tooltip, () => true);
    return (text.element as unknown as Part)
      .querySelectorAll(".line")
      .filter((e) => e.hasAttribute("data-changed"))
      .map((e) => e.textContent.trim().split(":")[0] ?? "");
  };
  assert.deepEqual(await show("1", "x", null), []);
  assert.deepEqual(await show("2", "x", "Changed"), [], "every write changes the resource version");
  assert.equal((await show("3", "y", "Changed")).length, 1, "a field of this name elsewhere is marked");
  text.close();
});
