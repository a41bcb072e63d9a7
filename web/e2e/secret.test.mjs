// No page, response or WebSocket message contains a value of a Secret.
//
// Invariant: I15.
import assert from "node:assert/strict";
import { test } from "node:test";
import { randomBytes } from "node:crypto";
import { browse, newPage, openLive, row } from "./browser.mjs";
import { create, namespace, patch } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { until } from "./wait.mjs";

const canary = () => `canary-${randomBytes(9).toString("hex")}`;
const base64 = (text) => Buffer.from(text).toString("base64");
// Returns a text and its base64 forms, which depend on the offset (modulo 3) of the text in the encoded data.
const forms = (text) => [
  text,
  text.slice(7),
  ...[0, 1, 2].map((n) => base64("x".repeat(n) + text).slice(n === 0 ? 0 : 4, -4)),
];

// The server splits a long message into parts, so one secret value could be in two parts. This function returns the
// joined text of each split message.
function joinedParts(messages) {
  const texts = new Map();
  for (const m of messages.flatMap((text) => JSON.parse(text)))
    if (m.type === "part") texts.set(m.id, (texts.get(m.id) ?? "") + m.text);
  return [...texts.values()];
}

await test("secrets", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  const where = `/api/v1/namespaces/${ns}/secrets`;

  await t.test("no value appears anywhere, and a change is marked", async (t) => {
    const canaries = {
      data: canary(),
      stringData: canary(),
      applied: canary(),
      changed: canary(),
      meanwhile: canary(),
    };
    const applied = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "kept", namespace: ns },
      stringData: { password: canaries.applied },
    };
    await create(where, {
      metadata: {
        name: "kept",
        annotations: { "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify(applied) },
      },
      data: { password: base64(canaries.data) },
      stringData: { token: canaries.stringData },
    });
    const page = await newPage(t, browser);
    await openLive(page, `${dashboard.url}r/core/v1/secrets?ns=${ns}&cols=wide`);
    await until("the row of the Secret", () => row(page, "kept"));
    await create(where, { metadata: { name: "meanwhile" }, stringData: { password: canaries.meanwhile } });
    await until("the new row", () => row(page, "meanwhile"));
    await page.locator("#tbody tr", { hasText: "kept" }).locator("td").last().click();
    await page.getByRole("tab", { name: "YAML" }).click();
    const line = page.locator("#panel .line", { hasText: "password:" });
    const before = await until("the line of the password", async () => (await line.innerText()).trimEnd());
    assert.match(before, /^ {2}password: .+/, "the YAML shows the key, but not the value");
    await page.locator('#panel .status[data-state="live"]').waitFor({ state: "attached" });

    await patch(`${where}/kept`, { data: { password: base64(canaries.changed) } }, { manager: "e2e-rotator" });
    await page.locator("#panel .line[data-changed]", { hasText: "password:" }).waitFor();
    assert.notEqual(await line.innerText(), before);
    assert.match(await page.locator("#panel .change").innerText(), /changed by e2e-rotator/);
    assert.equal(
      await page.locator("#panel .line[data-changed]", { hasText: "token:" }).count(),
      0,
      "unchanged values are not marked",
    );
    const texts = [await page.content()];

    await page.locator("#panel .page-link").click();
    await page.locator('#status[data-state="live"]').waitFor();
    texts.push(await page.content());
    // The filter must not match masked values, because the matching rows would help users to guess them.
    await openLive(page, `${dashboard.url}r/core/v1/secrets?ns=${ns}&q=${canaries.changed.slice(0, 9)}`);
    await page.locator("#note h2").waitFor();
    const messages = [...page.messages, ...joinedParts(page.messages)];
    for (const text of ['"subscribe"', "kept", "meanwhile", "(masked"])
      assert.ok(
        messages.some((m) => m.includes(text)),
        `some WebSocket message contains ${text}`,
      );
    for (const [route, accept] of [
      [`object/core/v1/secrets/${ns}/kept`, "application/json"],
      [`object/core/v1/secrets/${ns}/kept`, "application/yaml"],
      [`snapshot/core/v1/secrets?ns=${ns}`, "application/json"],
      [`snapshot/core/v1/secrets?ns=${ns}&view=objects`, "application/json"],
      [`snapshot/core/v1/secrets?ns=${ns}`, "text/csv"],
      [`snapshot/core/v1/secrets?ns=${ns}&view=objects`, "application/yaml"],
      [`snapshot/core/v1/secrets?ns=${ns}&view=objects`, "application/x-ndjson"],
    ]) {
      const answer = await fetch(`${dashboard.url}api/v1/${route}`, {
        headers: { accept },
        signal: AbortSignal.timeout(15_000),
      });
      const text = await answer.text();
      assert.equal(answer.status, 200, text);
      assert.match(text, /kept/);
      texts.push(text);
    }
    await page.loaded();
    texts.push(...page.wire, ...joinedParts(page.messages), dashboard.log.join("\n"));
    for (const [name, value] of Object.entries(canaries)) {
      for (const form of forms(value)) {
        const found = texts.find((text) => text.includes(form));
        assert.equal(
          found,
          undefined,
          `the ${name} canary (${form}) is in: ` +
            `${found?.slice(Math.max(0, found.indexOf(form) - 200), found.indexOf(form) + 200)}`,
        );
      }
    }
  });
});
