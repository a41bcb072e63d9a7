// Long messages arrive in chunks that do not delay other messages.
//
// Invariant: I38, I44.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { browse, newPage, openLive, row } from "./browser.mjs";
import { configMap, create, namespace, patch, remove } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { atEnd } from "./cleanup.mjs";
import { gate } from "./api-server-gate.mjs";
import { until } from "./wait.mjs";

const noise = (size) => randomBytes(size).toString("base64").slice(0, size);

await test("a slow link", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const open = async (t, where) => {
    const link = await gate(t, dashboard.url);
    const page = await newPage(t, browser);
    const sockets = [];
    page.on("websocket", (s) => sockets.push(s));
    await openLive(page, `${link.url}${where}`);
    link.rate = 60_000;
    return { link, page, sockets };
  };

  await t.test("a list of long rows shows count and total while loading", async (t) => {
    const group = `e2e-${randomBytes(4).toString("hex")}.example.com`;
    const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const schema = { openAPIV3Schema: { type: "object", properties: { text: { type: "string" } } } };
    await create(crds, {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: "Cluster",
        names: { plural: "things", singular: "thing", kind: "Thing" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema,
            additionalPrinterColumns: [{ name: "Text", type: "string", jsonPath: ".text" }],
          },
        ],
      },
    });
    atEnd(t, () => remove(`${crds}/things.${group}`));
    const count = 200;
    const thing = (i) => ({
      apiVersion: `${group}/v1`,
      kind: "Thing",
      metadata: { name: `thing-${i}` },
      text: noise(4000),
    });
    await until("the API server to accept the new kind", () => create(`/apis/${group}/v1/things`, thing(0)));
    for (let i = 1; i < count; i += 20)
      await Promise.all(
        Array.from({ length: Math.min(20, count - i) }, (_, n) => create(`/apis/${group}/v1/things`, thing(i + n))),
      );
    await until(
      "the dashboard to count all objects",
      async () =>
        (await (await fetch(`${dashboard.url}api/v1/snapshot/${group}/v1/things?limit=1`)).json()).total === count,
    );

    const { page, sockets } = await open(t, "r/core/v1/nodes");
    const link = page.locator(`#picker a[data-ref="${group}/v1/things"]`).first();
    await until("the count of the kind", async () => (await link.locator(".count").textContent()) === String(count));
    await link.evaluate((a) => a.click());
    const seen = new Set();
    await until(
      "all rows",
      async () => {
        const progressElement = /^Receiving\s*(\d+) of 200$/.exec(await page.locator("#status").innerText());
        if (progressElement !== null) seen.add(Number(progressElement[1]));
        return (
          (await page.locator("#status").getAttribute("data-state")) === "live" &&
          (await page.locator("#count").innerText()) === String(count)
        );
      },
      60_000,
    );
    assert.ok(
      seen.size >= 3 && [...seen].every((n) => n > 0 && n < count),
      `the shown progress increases: ${[...seen]}`,
    );
    assert.equal(sockets.length, 1, "the page uses one connection");
  });

  await t.test(
    "a large object shows its progress, the list stays live, and closing the object frees the connection",
    async (t) => {
      const ns = await namespace(t);
      const where = `/api/v1/namespaces/${ns}/configmaps`;
      await create(where, configMap("long", { text: noise(1_040_000) }));
      await create(where, configMap("other", { a: "1" }));
      const { page, sockets } = await open(t, `r/core/v1/configmaps?ns=${ns}`);
      const parts = () =>
        page.wire.filter((frame) => frame.includes('"type":"part"')).map((frame) => JSON.parse(frame));
      const progressElement = page.locator("#panel .change");
      const words = () => progressElement.innerText();
      const click = () => page.locator('#tbody tr[data-name="long"] td').last().click();
      await click();
      const seen = new Set();
      const recordProgress = async () => {
        const progressText = await words();
        if (/^[\d,]+ of 1,0\d\d KiB received$/.test(progressText)) seen.add(progressText);
        return seen.size;
      };
      await until("the progress of the object", recordProgress, 20_000);
      await patch(`${where}/other`, { data: { b: "2" } });
      await until(
        "a change in the list while the object is being sent",
        async () => {
          await recordProgress();
          assert.equal(await page.locator("#panel .status").innerText(), "Receiving");
          return (await row(page, "other"))?.Data === "2";
        },
        20_000,
      );
      await until(
        "the complete object",
        async () => {
          await recordProgress();
          return (await page.locator("#panel .status").getAttribute("data-state")) === "live" && (await words()) === "";
        },
        60_000,
      );
      assert.ok(seen.size >= 4, `the shown progress increases: ${[...seen]}`);

      await page.keyboard.press("Escape");
      const before = parts().length;
      await click();
      await until("the progress of the object", async () => /received$/.test(await words()), 20_000);
      await page.keyboard.press("Escape");
      await patch(`${where}/other`, { data: { c: "3" } });
      await until("a change in the list", async () => (await row(page, "other"))?.Data === "3", 20_000);
      await page.locator('#tbody tr[data-name="other"] td').last().click();
      await page.locator('#panel .status[data-state="live"]').waitFor({ state: "attached" });
      // The panel was closed while its long message arrived in chunks. The server must not have sent the last chunk.
      const late = parts().slice(before);
      assert.ok(
        late.length > 0 && late.every((p) => p.told < p.of),
        `a closed panel receives only a part of the message: ${late.length} chunks`,
      );
      assert.equal(sockets.length, 1, "the page uses one connection");
    },
  );
});
