// The browser puts the parts of a page where they belong, and cuts no text that must stay visible. The unit tests have
// no layout, so they check only the rules of the style sheets.
import assert from "node:assert/strict";
import { test } from "node:test";
import { browse, newPage, openLive, row } from "./browser.mjs";
import { configMap, create, deployment, namespace, read, remove } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { atEnd } from "./cleanup.mjs";
import { openLink, revoke, share } from "./sharing.mjs";
import { until } from "./wait.mjs";

const phone = { width: 390, height: 844 };
const laptop = { width: 1440, height: 900 };

await test("layout", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  const longName = "a-config-map-with-a-name-of-more-than-forty-characters";
  await create(`/api/v1/namespaces/${ns}/configmaps`, configMap(longName, { key: "value" }));
  await create(`/apis/apps/v1/namespaces/${ns}/deployments`, deployment("web", 2));
  await create(`/api/v1/namespaces/${ns}/services`, {
    metadata: { name: "web" },
    spec: { selector: { app: "web" }, ports: [{ port: 80 }] },
  });
  const pods = await until("the pods", async () => {
    const { items } = await read(`/api/v1/namespaces/${ns}/pods`);
    return (
      items.length === 2 && items.every((p) => p.status.phase === "Running") && items.map((p) => p.metadata.name).sort()
    );
  });
  const maps = `${dashboard.url}r/core/v1/configmaps?ns=${ns}`;
  const box = async (locator) => {
    const { x, y, width, height } = await locator.boundingBox();
    return { left: x, top: y, right: x + width, bottom: y + height };
  };
  // Whether the text of an element is wider than the element.
  const isCut = (locator) => locator.evaluate((e) => e.scrollWidth > e.clientWidth);

  await t.test("a wall display cuts no name while it has free space", async (t) => {
    for (const viewport of [laptop, { width: 1920, height: 1080 }]) {
      const page = await newPage(t, browser, { viewport });
      await openLive(page, `${maps}&kiosk=1`);
      await until("the row with the long name", () => row(page, longName));
      const name = page.locator("#tbody th", { hasText: longName });
      assert.equal(await isCut(name), false, `${longName} at ${viewport.width} pixels`);
      assert.ok((await box(name)).right <= viewport.width);
      await openLive(page, `${dashboard.url}r/apps/v1/deployments?ns=shop&kiosk=1`);
      await until("the rows of the Deployments", () => row(page, "checkout"));
      const cut = await page
        .locator("#tbody th")
        .evaluateAll((all) => all.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent));
      // A table that is wider than the window has no free space.
      const isFull = await page.locator("#rows").evaluate((e) => e.scrollWidth > e.clientWidth);
      assert.ok(cut.length === 0 || isFull, `at ${viewport.width} pixels, these names are cut: ${cut.join(", ")}`);
    }
  });

  await t.test("a phone shows the note of a share link", async (t) => {
    const owner = await newPage(t, browser, { allow: [/status of 40[134]/] });
    await openLive(owner, maps);
    const url = await share(owner, (form) => form.getByLabel("Note").fill("for the incident review"));
    await owner.keyboard.press("Escape");
    const guest = await newPage(t, browser, { viewport: phone, allow: [/status of 40[134]/, /WebSocket connection/] });
    await openLink(guest, url);
    const note = guest.locator(".shared-note");
    assert.equal(await note.innerText(), "for the incident review");
    const at = await box(note);
    assert.ok(at.left >= 0 && at.right <= phone.width && at.bottom - at.top > 10, JSON.stringify(at));
    assert.equal(await isCut(note), false, "a short note is complete");
    const header = await box(guest.locator("header.top"));
    assert.ok(at.bottom <= header.top + 1, `the note ends at ${at.bottom}, and the header starts at ${header.top}`);
    const bar = await box(guest.locator(".shared"));
    assert.ok(at.top >= bar.top && at.bottom <= bar.bottom, "the bar of the link contains the complete note");
    await revoke(owner);
  });

  await t.test("the rules of a role stay together", async (t) => {
    const roleName = `${ns}-role`;
    const workloads = ["deployments", "replicasets", "statefulsets"];
    const rules = [
      {
        apiGroups: ["apps", "extensions"],
        resources: workloads.flatMap((resource) => [resource, `${resource}/scale`, `${resource}/status`]),
        verbs: ["get", "list", "watch", "create", "update", "patch", "delete"],
        resourceNames: ["one", "two"],
      },
      { apiGroups: [""], resources: ["pods"], verbs: ["get"] },
    ];
    const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    await create(roles, { metadata: { name: roleName }, rules });
    atEnd(t, () => remove(`${roles}/${roleName}`));
    const address = `${dashboard.url}r/rbac.authorization.k8s.io/v1/clusterroles?q=${roleName}&open=_/${roleName}`;
    for (const viewport of [laptop, phone]) {
      const page = await newPage(t, browser, { viewport });
      await openLive(page, address);
      const shown = page.locator(".facts .part", { hasText: "Allows" }).locator(".pairs > div");
      await shown.nth(1).waitFor();
      const parts = await shown.evaluateAll((all) =>
        all.map((rule) => ({
          name: rule.querySelector("dt").getBoundingClientRect().toJSON(),
          verbs: [...rule.querySelectorAll("dd > *")].map((e) => e.getBoundingClientRect().toJSON()),
        })),
      );
      assert.equal(parts.length, 2);
      const [{ name, verbs }] = parts;
      assert.ok(name.height > 30, "the resources of the first rule need several lines");
      assert.ok(Math.abs(verbs[0].top - name.top) < 8, `the verbs start at ${verbs[0].top}, their rule at ${name.top}`);
      const tops = [...new Set(verbs.map((v) => v.top))].sort((a, b) => a - b);
      for (const [i, top] of tops.entries()) {
        if (i === 0) continue;
        const above = verbs.filter((v) => v.top === tops[i - 1]).map((v) => v.bottom);
        const gap = top - Math.max(...above);
        assert.ok(gap < 6, `at ${viewport.width} pixels, a gap of ${gap} pixels is between two lines of one rule`);
      }
    }
  });

  await t.test("the search box keeps its position when its neighbors change", async (t) => {
    const page = await newPage(t, browser, { viewport: laptop });
    const jump = page.locator("#jump");
    await openLive(page, maps);
    const first = await box(jump);
    const check = async (what) => assert.deepEqual(await box(jump), first, what);
    // The page can overwrite these texts at any time, so change and measure in one call.
    const changed = await page.evaluate(() => {
      const measured = [];
      for (const [selector, text] of [
        ["#status .words", "Stale since 2026-11-21 14:03:05"],
        ["#status .words", ""],
        ["#namespace-button", "a-very-long-namespace-name, and-another-one"],
        [".top .cluster", "arn:aws:eks:eu-west-1:123456789012:cluster/production"],
      ]) {
        const e = document.querySelector(selector);
        const before = e.textContent;
        e.textContent = text;
        const { left, right } = document.getElementById("jump").getBoundingClientRect();
        measured.push({ selector, text, left, right });
        e.textContent = before;
      }
      return measured;
    });
    for (const { selector, text, left, right } of changed)
      assert.deepEqual({ left, right }, { left: first.left, right: first.right }, `with “${text}” in ${selector}`);
    await openLive(page, `${maps}&open=${ns}/${longName}`);
    await page.locator("#panel h2").waitFor();
    await check("next to an open object");
    await openLive(page, `${dashboard.url}r/core/v1/nodes`);
    await check("in a list without namespaces");
    await openLive(page, `${dashboard.url}o/core/v1/configmaps/${ns}/${longName}`);
    await check("on the page of an object");
    await openLive(page, dashboard.url);
    await check("on the home page");
  });

  await t.test("a phone does not cut the status", async (t) => {
    const page = await newPage(t, browser, { viewport: phone });
    for (const address of [
      dashboard.url,
      `${dashboard.url}r/core/v1/pods`,
      `${dashboard.url}r/core/v1/pods?ns=${ns}`,
      `${dashboard.url}r/core/v1/pods?ns=${ns}&open=${ns}/${pods[0]}`,
      `${dashboard.url}o/core/v1/pods/${ns}/${pods[0]}`,
    ]) {
      await openLive(page, address);
      const status = page.locator("#status");
      assert.equal((await status.innerText()).trim(), "Live", address);
      assert.equal(await isCut(status), false, address);
      const { left, right } = await box(status);
      assert.ok(left >= 0 && right <= phone.width, `${address}: the status ends at ${right}`);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= phone.width, `${address}: the page is ${width} pixels wide`);
    }
    const cluster = await box(page.locator(".top .cluster"));
    assert.ok(cluster.right - cluster.left >= 30 && cluster.right <= phone.width, "the name of the cluster is visible");
  });

  await t.test("the legend of the graph covers no card, and no pod is cut at first", async (t) => {
    const address = `${dashboard.url}r/apps/v1/deployments?ns=${ns}&open=${ns}/web&tab=related`;
    for (const viewport of [laptop, { width: 1024, height: 768 }]) {
      const page = await newPage(t, browser, { viewport });
      await openLive(page, address);
      const cards = page.locator('.card[data-id^="core/pods/"]');
      await until("the cards of the pods", async () => (await cards.count()) === 2);
      const graph = await box(page.locator(".graph"));
      const legend = await box(page.locator(".legend-lines"));
      assert.ok(
        legend.top >= graph.bottom - 1,
        `the legend starts at ${legend.top}, the graph ends at ${graph.bottom}`,
      );
      assert.ok(legend.bottom <= viewport.height, "the legend is visible");
      // The graph is fitted when its size is known, which can be after the cards are drawn.
      await until(`the complete cards of the pods at ${viewport.width} pixels`, async () => {
        const all = await Promise.all((await cards.all()).map(box));
        const isInside = (at) =>
          at.left >= graph.left && at.right <= graph.right && at.top >= graph.top && at.bottom <= graph.bottom;
        return all.length === 2 && all.every(isInside);
      });
    }
  });
});
