// Text from the cluster is text, whatever it looks like.
import assert from "node:assert/strict";
import { test } from "node:test";
import { browse, newPage, openLive, row, table } from "./browser.mjs";
import { configMap, create, deployment, namespace } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { until } from "./wait.mjs";

const image = `<img src=x onerror="window.e2e.hit=1;alert(1)">`;
const script = `"'></td></script><script>window.e2e.hit=1</script><svg/onload=alert(1)>`;
const link = "javascript:window.e2e.hit=1//https://example.org";
const control = "a\u001b[31mred\u0007\u202egnp.exe\u2066\u200bz\u0085\ufeffend";
const lines = "first\r\nid: 2\n<b>third</b>\u2028fourth";
const long = "<i>0123456789</i>".repeat(640); // 10 KB and some
const texts = { image, script, link, control, lines, long };

// Looks for anything that none of our templates has made.
function strangers() {
  const found = [...document.querySelectorAll("img, svg, iframe, object, embed, b, i, style, base, math, video, script:not([src^='/static/'])")].map((e) => e.outerHTML.slice(0, 200));
  for (const e of document.querySelectorAll("*")) {
    for (const a of e.attributes) if (/^on/i.test(a.name)) found.push(`${e.tagName} ${a.name}`);
    const href = e.getAttribute("href") ?? e.getAttribute("src") ?? e.getAttribute("action");
    if (href !== null && !(new URL(href, location.href).origin === location.origin)) found.push(`${e.tagName} leads to ${href}`);
  }
  if (window.e2e.hit) found.push("a script ran");
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page itself scrolls sideways");
  return found;
}

await test("hostile text", { timeout: 120_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  const core = `/api/v1/namespaces/${ns}`;
  const annotations = Object.fromEntries(Object.entries(texts).map(([k, v]) => [`e2e.example.com/${k}`, v]));
  const list = async (t, path) => {
    const page = await newPage(t, browser);
    await openLive(page, dashboard.url + path);
    return page;
  };
  const harmless = async (page) => assert.deepEqual(await page.evaluate(strangers), []);

  await t.test("in tables: messages, images, columns of custom resources", async (t) => {
    let n = 0;
    for (const text of Object.values(texts)) {
      await create(`${core}/events`, { metadata: { name: `e${n++}` }, type: "Warning", reason: text.slice(0, 100), message: text, involvedObject: { kind: "Pod", namespace: ns, name: "none" }, lastTimestamp: new Date().toISOString().replace(/\.\d+/, "") });
    }
    const page = await list(t, `r/core/v1/events?ns=${ns}`);
    const shown = await until("the events", async () => {
      const { rows } = await table(page);
      return rows.length >= n && rows;
    });
    for (const text of Object.values(texts)) assert.ok(shown.some((r) => r.Message === text && r.Reason === text.slice(0, 100)), `${JSON.stringify(text.slice(0, 80))} among ${JSON.stringify(shown.map((r) => r.Message.slice(0, 80)))}`);
    for (const r of await page.locator("#tbody tr[data-name]").all()) assert.equal((await r.boundingBox()).height, 24, "a row keeps its height");
    await harmless(page);

    const d = deployment("hostile", 0);
    d.spec.template.spec.containers[0].image = image;
    await create(`/apis/apps/v1/namespaces/${ns}/deployments`, d);
    await page.goto(`${dashboard.url}r/apps/v1/deployments?ns=${ns}&cols=wide`);
    await until("the image", async () => (await row(page, "hostile"))?.Images === image);
    await page.locator('#status[data-state="live"]').waitFor();
    await harmless(page);

    await create(`/apis/data.example.com/v1/namespaces/${ns}/backups`, { apiVersion: "data.example.com/v1", kind: "Backup", metadata: { name: "hostile" }, spec: { source: script, schedule: link, target: control } });
    await page.goto(`${dashboard.url}r/data.example.com/v1/backups?ns=${ns}&cols=wide`);
    await until("the columns", async () => {
      const r = await row(page, "hostile");
      return r?.Source === script && r.Schedule === link && r.Target === control;
    });
    await harmless(page);
  });

  await t.test("in an object's YAML, drawn by the server and by the page", async (t) => {
    await create(`${core}/configmaps`, configMap("hostile", texts, { annotations }));
    const page = await list(t, `r/core/v1/configmaps?ns=${ns}&open=${ns}/hostile&tab=yaml`);
    const yaml = page.locator("#panel .yaml");
    await until("the values", async () => (await yaml.textContent()).includes("onerror="));
    const text = await yaml.textContent();
    for (const part of [image.replace(/"/g, '\\"'), "<script>window.e2e.hit=1</script>", link, "<b>third</b>", long]) assert.ok(text.includes(part) || text.includes(part.replace(/\\"/g, '"')), part.slice(0, 80));
    assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u007f\u0085]/, "control characters are escaped");
    await harmless(page);
    await page.goto(`${dashboard.url}o/core/v1/configmaps/${ns}/hostile`);
    await page.locator('#status[data-state="live"]').waitFor();
    await harmless(page);
    const plain = await newPage(t, browser, { javaScriptEnabled: false });
    await plain.goto(`${dashboard.url}o/core/v1/configmaps/${ns}/hostile`);
    assert.ok((await plain.locator("pre.yaml").textContent()).includes("<b>third</b>"));
    assert.equal(await plain.locator("pre.yaml *").count(), 0);
  });

  await t.test("in names, which addresses are made of", async (t) => {
    const names = [image.replace(/[/%]/g, ""), link.replaceAll("/", ""), `a?b=c&d#e"'+ é\u202ef`, "system:e2e:x"];
    const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles`;
    for (const name of names) await create(roles, { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata: { name }, rules: [] });
    const page = await list(t, `r/rbac.authorization.k8s.io/v1/roles?ns=${ns}`);
    await until("the roles", async () => (await table(page)).rows.length === names.length);
    assert.deepEqual((await table(page)).rows.map((r) => r.Name).sort(), [...names].sort());
    await harmless(page);
    for (const name of names) {
      await page.locator("#tbody tr[data-name]").nth((await table(page)).rows.findIndex((r) => r.Name === name)).locator("td").last().click();
      assert.equal(new URL(page.url()).searchParams.get("open"), `${ns}/${name}`);
      await page.locator('#panel .status[data-state="live"]').waitFor();
      assert.equal(await page.locator("#panel h2").textContent(), `${ns}/${name}`);
      await page.locator("#panel .overview", { hasText: ns }).waitFor();
      await harmless(page);
      await page.locator("#panel .page-link").click();
      await page.locator('#status[data-state="live"]').waitFor();
      assert.equal(await page.locator("h1").textContent(), name);
      await harmless(page);
      await page.goBack();
      await page.locator('#panel .status[data-state="live"]').waitFor();
    }
  });
});
