// Invariant: I27.

import assert from "node:assert/strict";
import { test } from "node:test";
import { browse, newPage, openLive, row } from "./browser.mjs";
import { configMap, create, deployment, namespace, patch, read, remove } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { until } from "./wait.mjs";

await test("related objects", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  const d = deployment("web", 2);
  d.spec.template.spec.containers[0].envFrom = [
    { configMapRef: { name: "settings" } },
    { configMapRef: { name: "gone" } },
  ];
  await create(`/api/v1/namespaces/${ns}/configmaps`, configMap("settings"));
  await create(`/apis/apps/v1/namespaces/${ns}/deployments`, d);
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
  const pod = pods[0];
  const cards = (page) =>
    page
      .locator(".card")
      .evaluateAll((all) =>
        all.map((e) => `${e.querySelector(".kind").textContent} ${e.querySelector(".card-name").textContent}`),
      );
  const focused = (page) => page.evaluate(() => document.activeElement?.querySelector?.(".kind")?.textContent ?? "");
  const open = async (t, path, options) => {
    const page = await newPage(t, browser, options);
    await openLive(page, dashboard.url + path);
    return page;
  };
  const panelURL = `r/core/v1/pods?ns=${ns}&open=${ns}/${pod}&tab=related`;

  await t.test("a graph whose links open the related objects", async (t) => {
    const page = await open(t, panelURL);
    await page.locator(".chips").click(); // shows a card for each ConfigMap and ServiceAccount of the Deployment
    await until("the cards of the graph", async () => (await cards(page)).includes("ConfigMap settings"));
    const got = await cards(page);
    for (const want of [`Pod ${pod}`, "Deployment web", "Service web", "ConfigMap gone", "ServiceAccount default"])
      assert.ok(got.includes(want), `${want} in ${got.join(", ")}`);
    assert.equal(await page.locator(".card[data-self] .card-name").textContent(), pod);
    const missing = page.locator(".card", { hasText: "gone" });
    assert.match(await missing.innerText(), /missing/);
    const x = (text) =>
      page
        .locator(".card", { hasText: text })
        .first()
        .evaluate((e) => e.getBoundingClientRect().x);
    assert.ok((await x("Deployment")) < (await x("ReplicaSet")), "owners are on the left");
    assert.ok(
      (await x("ReplicaSet")) < (await page.locator(".card[data-self]").evaluate((e) => e.getBoundingClientRect().x)),
    );
    await page.locator(".card[data-self]").focus();
    assert.ok(
      (await page.locator(".words text").allTextContents()).includes("owns"),
      "the edges show the names of the relations",
    );
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Home");
    assert.equal(await focused(page), "Pod");
    await page.locator('.card[data-id^="apps/replicasets/"]').focus();
    await page.keyboard.press("ArrowLeft");
    assert.equal(await focused(page), "Deployment");
    await page.keyboard.press("Enter");
    await page.waitForURL(
      (u) =>
        u.pathname === "/r/core/v1/pods" &&
        u.searchParams.get("open") === `apps/v1/deployments/${ns}/web` &&
        u.searchParams.get("tab") === "related",
    );
    await until(
      "the graph of the Deployment",
      async () => (await page.locator(".card[data-self] .card-name").allTextContents()).join() === "web",
    );
    await until("the focus to move to the graph of the Deployment", async () => (await focused(page)) === "Deployment");
    const all = await cards(page);
    assert.ok(
      pods.every((p) => all.includes(`Pod ${p}`)),
      all.join(),
    );
    await page.goBack();
    await until(
      "the graph of the pod again",
      async () => (await page.locator(".card[data-self] .card-name").allTextContents()).join() === pod,
    );
  });

  await t.test("a list with the same objects, stored as a preference", async (t) => {
    const page = await open(t, panelURL);
    await page.getByRole("button", { name: "List", exact: true }).click();
    const list = page.locator(".related-list");
    await list.waitFor();
    const groups = await list
      .locator("section")
      .evaluateAll((all) =>
        Object.fromEntries(
          all.map((s) => [
            s.querySelector("h3").firstChild.textContent,
            [...s.querySelectorAll("li")].map((li) => li.textContent),
          ]),
        ),
      );
    assert.ok(
      groups["Owned by"].some((l) => l.startsWith("Deploymentweb") && l.includes("owns ReplicaSet")),
      JSON.stringify(groups),
    );
    assert.ok(
      groups["Uses"].some(
        (l) =>
          l.startsWith("ConfigMapgone") && l.includes("missing") && l.includes("spec.containers.envFrom.configMapRef"),
      ),
      JSON.stringify(groups),
    );
    assert.ok(groups["Selected by"].some((l) => l.startsWith("Serviceweb")));
    assert.match(await page.locator(".searched summary").innerText(), /^Searched the objects of \d+ resource types$/);
    await page.reload();
    await list.waitFor();
    await list.getByRole("link", { name: "settings", exact: true }).click();
    await page.waitForURL((u) => u.searchParams.get("open") === `core/v1/configmaps/${ns}/settings`);
    await until("the objects that use the ConfigMap", async () =>
      (await list.locator("section").allInnerTexts()).some((s) => s.startsWith("Used by") && s.includes(pod)),
    );
  });

  await t.test("the graph can be moved and scaled, and is refreshed when the object changes", async (t) => {
    const page = await open(t, `o/apps/v1/deployments/${ns}/web?tab=related`);
    await until("the cards of the graph", async () => (await cards(page)).length > 4);
    const place = () =>
      page.locator(".card[data-self]").evaluate((e) => {
        const r = e.getBoundingClientRect();
        return { x: r.x, y: r.y, width: r.width };
      });
    const before = await place();
    const box = await page.locator(".graph").boundingBox();
    await page.mouse.move(box.x + box.width - 40, box.y + box.height - 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 140, box.y + box.height - 90, { steps: 4 });
    await page.mouse.up();
    const moved = await place();
    assert.ok(
      Math.abs(before.x - moved.x - 100) < 2 && Math.abs(before.y - moved.y - 50) < 2,
      JSON.stringify([before, moved]),
    );
    await page.getByRole("button", { name: "Zoom in" }).click();
    assert.ok((await place()).width > moved.width * 1.2);
    await page.mouse.move(box.x + 40, box.y + box.height - 40);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, 400);
    await page.keyboard.up("Control");
    await until("the card to be smaller", async () => (await place()).width < moved.width);
    await page.getByRole("button", { name: "Fit", exact: true }).click();
    assert.ok(Math.abs((await place()).width - before.width) < 1);
    await patch(`/apis/apps/v1/namespaces/${ns}/deployments/web`, { spec: { replicas: 3 } });
    await until(
      "the third pod",
      async () => (await cards(page)).filter((c) => c.startsWith("Pod ")).length === 3,
      25_000,
    );
    await page.locator(`.card[data-id="core/configmaps/${ns}/settings"]`).waitFor();
    await page.locator(".card", { hasText: "Service" }).first().click();
    await page.waitForURL(
      (u) => u.pathname.startsWith(`/o/core/v1/service`) && u.searchParams.get("tab") === "related",
    );
  });

  await t.test("the configuration of a workload is chips of its card until a click shows it", async (t) => {
    const configured = deployment("configured", 1);
    configured.spec.template.spec.containers[0].envFrom = ["one", "two", "three"].map((name) => ({
      configMapRef: { name },
    }));
    for (const name of ["one", "two", "three"]) await create(`/api/v1/namespaces/${ns}/configmaps`, configMap(name));
    await create(`/apis/apps/v1/namespaces/${ns}/deployments`, configured);
    const page = await open(t, `r/apps/v1/deployments?ns=${ns}&open=${ns}/configured&tab=related`);
    const chips = page.locator(".chips");
    await until("the chips", async () => /ConfigMap (.*, ){2}/.test((await chips.getAttribute("title")) ?? ""), 25_000);
    assert.match(await chips.getAttribute("title"), /one/);
    assert.ok(!(await cards(page)).includes("ConfigMap one"));
    await chips.click();
    await until("a card for each ConfigMap", async () => {
      const all = await cards(page);
      return ["one", "two", "three"].every((name) => all.includes(`ConfigMap ${name}`));
    });
    await page.getByRole("button", { name: "Group configuration" }).click();
    await chips.waitFor();
    await remove(`/apis/apps/v1/namespaces/${ns}/deployments/configured`);
  });

  await t.test("a deleted object is not searched for, a recreated one is", async (t) => {
    const where = `/api/v1/namespaces/${ns}/configmaps`;
    await create(where, configMap("brief"));
    const page = await open(t, `o/core/v1/configmaps/${ns}/brief?tab=related`);
    const time = () => page.locator(".related-time").innerText();
    await until("the graph to load", async () => /Live, updated|Snapshot from/.test(await time()) && time());
    const requested = [];
    // This change schedules a search, which the deletion below must cancel.
    await patch(`${where}/brief`, { data: { a: "2" } });
    await remove(`${where}/brief`);
    await page.locator("#status", { hasText: "Deleted" }).waitFor();
    page.on("request", (r) => r.url().includes("/api/v1/related/") && requested.push(r.url()));
    await page.evaluate(() => new Promise((then) => setTimeout(then, 6000)));
    assert.deepEqual(requested, []);
    assert.ok(await page.locator(".related > .banner").isHidden());
    assert.match(await time(), /^Snapshot from/, "the graph is a snapshot after the deletion");
    await page.keyboard.press("y");
    await page.locator("#tab-related").click();
    await page.locator(".related > .banner", { hasText: "deleted before its related objects were loaded" }).waitFor();
    assert.equal(await time(), "");
    await create(where, configMap("brief"));
    await until("the search for related objects", async () => /Live, updated|Snapshot from/.test(await time()), 15_000);
    assert.ok(requested.length > 0);
    assert.ok(await page.locator(".related > .banner").isHidden());
  });

  await t.test("the graph is live, and a click keeps the list", async (t) => {
    const page = await open(t, `r/apps/v1/deployments?ns=${ns}&q=web&open=${ns}/web&tab=related`);
    await until("the cards of the graph", async () => (await cards(page)).includes("Service web"));
    await page.locator(".related-time", { hasText: "Live, updated" }).waitFor();
    const left = async (name) => (await page.locator(".card", { hasText: name }).first().boundingBox()).x;
    const columns = [await left("Service"), await left("Deployment"), await left("ReplicaSet"), await left(pod)];
    assert.deepEqual(
      columns,
      [...new Set(columns)].sort((a, b) => a - b),
      "the columns follow a request",
    );
    await page.setViewportSize({ width: 1024, height: 768 });
    await until("the complete card of the object in the smaller window", async () => {
      const [graph, card] = [
        await page.locator(".graph").boundingBox(),
        await page.locator(".card[data-self]").boundingBox(),
      ];
      return card.x >= graph.x && card.x + card.width <= graph.x + graph.width;
    });
    await page.setViewportSize({ width: 1440, height: 900 });
    const where = `/api/v1/namespaces/${ns}/services`;
    const started = performance.now();
    await create(where, { metadata: { name: "other" }, spec: { selector: { app: "web" }, ports: [{ port: 80 }] } });
    await until("the new Service", async () => (await cards(page)).includes("Service other"), 8000);
    const took = performance.now() - started;
    assert.ok(took < 8000, `${took} ms`);
    await remove(`${where}/other`);
    await until("the Service to disappear", async () => !(await cards(page)).includes("Service other"), 8000);
    const at = new Date(Date.now() - 60_000).toISOString().replace(/\.\d+/, "");
    await patch(
      `/api/v1/namespaces/${ns}/pods/${pod}/status`,
      {
        status: {
          conditions: [{ type: "Ready", status: "False", lastTransitionTime: at }],
          containerStatuses: [
            {
              name: "main",
              image: "registry.example.com/e2e:1",
              imageID: "",
              ready: false,
              restartCount: 7,
              state: { waiting: { reason: "CrashLoopBackOff" } },
            },
          ],
        },
      },
      { type: "application/strategic-merge-patch+json" },
    );
    const card = page.locator(`.card[data-id="core/pods/${ns}/${pod}"]`);
    await until("the failed pod", async () => (await card.getAttribute("data-severity")) === "failed", 8000);
    if (process.env["SHOTS"] !== undefined) await page.screenshot({ path: `${process.env["SHOTS"]}/related.png` });
    await card.click();
    await page.waitForURL((u) => u.searchParams.get("open") === `core/v1/pods/${ns}/${pod}`);
    const url = new URL(page.url());
    assert.deepEqual([url.pathname, url.searchParams.get("q")], ["/r/apps/v1/deployments", "web"]);
    assert.equal(await page.locator("#heading").innerText(), "Deployments");
    assert.match(await page.locator("#panel .title").innerText(), /^Pod/);
    assert.ok(await row(page, "web"));
    await page.reload();
    await until(
      "the graph of the pod after a reload",
      async () => (await page.locator(".card[data-self] .card-name").allTextContents()).join() === pod,
    );
    await page.goBack();
    await until(
      "the graph of the Deployment again",
      async () => (await page.locator(".card[data-self] .card-name").allTextContents()).join() === "web",
    );
  });

  await t.test("resources that could not be searched are reported", async (t) => {
    const own = await Dashboard.start(t, { user: "limited" });
    const page = await newPage(t, browser, { allow: [/status of 403/] });
    await openLive(page, `${own.url}r/core/v1/pods?ns=shop`);
    const name = await until("the row of a running pod", () =>
      page.evaluate(
        () =>
          [...document.querySelectorAll("#tbody tr[data-name]")].find((tr) => tr.textContent.includes("Running"))
            ?.dataset.name,
      ),
    );
    assert.ok(await row(page, name));
    await page.goto(`${own.url}r/core/v1/pods?ns=shop&open=shop/${name}&tab=related`);
    const node = page.locator('.card[data-id^="core/nodes/"]');
    await node.waitFor();
    assert.match(await node.innerText(), /forbidden/);
    assert.match(await node.getAttribute("title"), /^Node \S+, forbidden/);
  });
});
