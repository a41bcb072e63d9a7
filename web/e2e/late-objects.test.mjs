// A page is open before its object or kind exists.
//
// Invariant: I19.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { browse, newPage } from "./browser.mjs";
import { configMap, create, namespace, remove } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { atEnd } from "./cleanup.mjs";
import { gate } from "./api-server-gate.mjs";
import { become, until } from "./wait.mjs";

await test("objects and kinds that appear later", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const link = await gate(t);
  const dashboard = await Dashboard.start(t, { flags: link.flags });
  const ns = await namespace(t);
  const configMaps = `/api/v1/namespaces/${ns}/configmaps`;
  const missing = { allow: [/status of 404/] };

  await t.test("an object", async (t) => {
    const address = `${dashboard.url}o/core/v1/configmaps/${ns}/later`;
    const plain = await newPage(t, browser, { javaScriptEnabled: false, ...missing });
    assert.equal((await plain.goto(address)).status(), 404);
    assert.match(await plain.locator("#object").innerText(), /^Not found\n.*\nReload the page to check again\.$/s);
    const page = await newPage(t, browser, missing);
    assert.equal((await page.goto(address)).status(), 404);
    await page
      .locator("#object .banner", { hasText: `${ns}/later does not exist. It will appear here if created.` })
      .waitFor();
    assert.equal(await page.getByText("Reload the page").filter({ visible: true }).count(), 0);
    await create(configMaps, configMap("later", { text: "of the created one" }));
    await page.locator("#object .overview").waitFor();
    await page.locator('#status[data-state="live"]').waitFor();
    assert.equal(await page.locator("#object > .note").count(), 0);
    await plain.reload();
    assert.match(await plain.locator("pre.yaml").innerText(), /of the created one/);
  });

  await t.test("open pages reload once the cluster serves their kind", async (t) => {
    const name = `e2e${randomBytes(4).toString("hex")}`;
    const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const ref = `${name}.example.com/v1/${name}s`;
    const pages = [];
    for (const path of [`r/${ref}`, `o/${ref}/_/it`]) {
      const page = await newPage(t, browser, missing);
      assert.equal((await page.goto(`${dashboard.url}${path}`)).status(), 404);
      await page.getByText("This page reloads automatically as soon as the cluster serves the resource.").waitFor();
      pages.push(page);
    }
    const busy = [];
    for (const [begin, end] of [
      [(page) => page.locator("#picker-filter").fill(name), (page) => page.locator("#picker-filter").fill("")],
      [(page) => page.keyboard.press("Control+k"), (page) => page.keyboard.press("Escape")],
    ]) {
      const page = await newPage(t, browser, missing);
      await page.goto(`${dashboard.url}r/${ref}`);
      await page.getByText("This page reloads automatically as soon as the cluster serves the resource.").waitFor();
      await page.locator("#picker-groups a").first().waitFor();
      await begin(page);
      await page.evaluate(() => {
        window.e2e.same = true;
      });
      busy.push({ page, end });
    }
    const plain = await newPage(t, browser, { javaScriptEnabled: false, ...missing });
    await plain.goto(`${dashboard.url}r/${ref}`);
    assert.match(await plain.locator("main").innerText(), /Reload the page to check again\.$/);
    atEnd(t, () => remove(`${crds}/${name}s.${name}.example.com`));
    await create(crds, {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${name}s.${name}.example.com` },
      spec: {
        group: `${name}.example.com`,
        scope: "Cluster",
        names: { plural: `${name}s`, kind: "Later" },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    });
    await pages[0].locator("#heading", { hasText: `${name}s` }).waitFor();
    await pages[0].locator('#status[data-state="live"]').waitFor();
    await pages[1].locator("#object .banner", { hasText: "It will appear here if created" }).waitFor();
    await create(`/apis/${name}.example.com/v1/${name}s`, {
      apiVersion: `${name}.example.com/v1`,
      kind: "Later",
      metadata: { name: "it" },
    });
    await pages[1].locator("#object .overview").waitFor();
    await pages[0].locator('#tbody tr[data-name="it"]').waitFor();
    for (const page of pages)
      assert.equal(
        await page.evaluate(() => history.state?.load),
        undefined,
        "the page does not wait for the kind any more",
      );
    for (const { page, end } of busy) {
      await page.locator(`#picker-groups a[data-ref="${ref}"]`).waitFor({ state: "attached" });
      assert.equal(await page.evaluate(() => window.e2e.same), true, "the page is not reloaded");
      await end(page);
      await page.locator("#heading", { hasText: `${name}s` }).waitFor();
    }
  });

  await t.test("the error page of a kind that is listed but not served reloads with growing delays", async (t) => {
    // Chromium logs LOCAL_NETWORK_ACCESS_CHECKS for the WebSocket, because it does not know the network of a
    // Playwright response.
    const page = await newPage(t, browser, { allow: [...missing.allow, /LOCAL_NETWORK_ACCESS_CHECKS/] });
    const loads = [];
    const other = await fetch(`${dashboard.url}r/none.example.com/v1/nones`, { headers: { accept: "text/html" } });
    const body = (await other.text()).replace('data-ref="none.example.com/v1/nones"', 'data-ref="core/v1/configmaps"');
    await page.route("**/r/core/v1/configmaps", (route) => {
      loads.push(performance.now());
      return loads.length < 3
        ? route.fulfill({ status: 404, contentType: "text/html; charset=utf-8", body })
        : route.continue();
    });
    assert.match(body, /data-page="problem" data-ref="core.v1.configmaps"/);
    await page.goto(`${dashboard.url}r/core/v1/configmaps`);
    await page.locator('#status[data-state="live"]').waitFor();
    assert.equal(loads.length, 3);
    assert.ok(loads[2] - loads[1] > 4000, `${loads[2] - loads[1]} ms`);
  });

  await t.test("an object is shown in its last state during an API server outage", async (t) => {
    const address = `${dashboard.url}o/core/v1/configmaps/${ns}/later`;
    const page = await newPage(t, browser);
    await page.goto(address);
    await page.locator("#object .overview").waitFor();
    link.cut();
    await page.locator("#status", { hasText: "Stale since" }).waitFor();
    const plain = await newPage(t, browser, { javaScriptEnabled: false });
    assert.equal((await plain.goto(address)).status(), 200);
    assert.match(await plain.locator("#asof").innerText(), /^Stale since \d{4}-/);
    assert.match(await plain.locator("pre.yaml").innerText(), /of the created one/);
    await page.reload();
    await page.locator("#object .overview").waitFor();
    await page.locator("#status", { hasText: "Stale since" }).waitFor();
    link.down = false;
    await page.locator('#status[data-state="live"]').waitFor({ timeout: 30_000 });
  });

  await t.test("a missing namespace is reported as of the last update during an API server outage", async (t) => {
    const address = `${dashboard.url}r/core/v1/configmaps?ns=${ns}&ns=${ns}-never`;
    const [page, plain] = [await newPage(t, browser), await newPage(t, browser, { javaScriptEnabled: false })];
    const words = (p) => p.locator("#coverage-note").innerText();
    await page.goto(address);
    await become("the note about the missing namespace", () => words(page), `Namespace ${ns}-never does not exist.`);
    link.cut();
    await until("the note to report the last known state", async () =>
      /^Namespace \S+-never did not exist at \d\d:\d\d:\d\d\.$/.test(await words(page)),
    );
    await until("the same note without script", async () => {
      await plain.goto(address);
      return /^Namespace \S+-never did not exist at \d{4}-\S+Z\.$/.test(await words(plain));
    });
    link.down = false;
    await become(
      "the note about the missing namespace",
      () => words(page),
      `Namespace ${ns}-never does not exist.`,
      30_000,
    );
  });
});
