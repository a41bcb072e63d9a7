// The page works in Firefox: home, lists with live updates, the panel with all tabs, the palette, the row menu and
// sharing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { configMap, create, deployment, namespace, patch, read } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { controlKey, enterKey, escapeKey, startFirefox } from "./firefox.mjs";
import { become, until } from "./wait.mjs";

await test("Firefox", { timeout: 600_000 }, async (t) => {
  const dashboard = await Dashboard.start(t);
  const firefox = await startFirefox(t);
  const ns = await namespace(t);
  const where = `/api/v1/namespaces/${ns}/configmaps`;
  for (const name of ["a-1", "a-2"]) await create(where, configMap(name, { text: name }));
  const openLive = async (path) => {
    await firefox.open(dashboard.url + path);
    await firefox.shows('#status[data-state="live"]');
  };
  const names = () =>
    firefox.evaluate(() => [...document.querySelectorAll("#tbody tr")].map((r) => r.dataset.name ?? ""));
  const search = (name) => firefox.evaluate((name) => new URL(location.href).searchParams.get(name), name);

  await t.test("a list updates itself", async () => {
    await openLive(`r/core/v1/configmaps?ns=${ns}`);
    await until("the rows of the list", async () => (await names()).includes("a-2"));
    await create(where, configMap("a-3", { text: "3" }));
    await until("the new row", async () => (await names()).includes("a-3"));
    await patch(`${where}/a-1`, { data: { more: "1" } });
    await firefox.shows("#tbody tr[data-name=a-1] td", /^2$/);
    assert.match(await firefox.evaluate(() => document.title), /^ConfigMaps - /);
  });

  await t.test("a click opens the panel, and each tab shows its content", async () => {
    const [pod] = (await read("/api/v1/namespaces/shop/pods")).items.filter((p) => p.status.phase === "Running");
    await openLive("r/core/v1/pods?ns=shop");
    await firefox.click(`#tbody tr[data-name="${pod.metadata.name}"] td:last-child`);
    await become("the open object in the URL", () => search("open"), `shop/${pod.metadata.name}`);
    const tabs = await until("the tabs of the panel", async () => {
      const found = await firefox.texts("#panel [role=tab]");
      return found.length > 3 && found;
    });
    for (const tab of tabs) {
      await firefox.click("#panel [role=tab]", tab);
      await firefox.shows('#panel [role=tab][aria-selected="true"]', new RegExp(`^${tab}$`));
      await until(`the content of tab ${tab}`, async () => ((await firefox.texts("#tab"))[0] ?? "").length > 20);
    }
    await firefox.press(escapeKey);
    await become("the open object in the URL", () => search("open"), null);
  });

  await t.test("the palette finds a resource", async () => {
    await firefox.press(`${controlKey}k`);
    await firefox.shows("#palette");
    await firefox.press(..."deploy", enterKey);
    await become("the path of the list", () => firefox.evaluate(() => location.pathname), "/r/apps/v1/deployments");
    await firefox.shows("#heading", /^Deployments$/);
  });

  await t.test("a right-click opens the menu of a row", async () => {
    await firefox.shows('#status[data-state="live"]');
    // Move the pointer to a row first, because only this loads the code of the menu.
    await firefox.point("#tbody tr[data-name] td:last-child");
    await firefox.shows(".row-menu-button");
    await firefox.click("#tbody tr[data-name] td", "", 2);
    await firefox.shows(".row-menu [role=menuitem]", /^Copy name/);
    await firefox.press(escapeKey);
    await until("the menu to close", async () => (await firefox.texts(".row-menu")).length === 0);
  });

  await t.test("a share link is created", async () => {
    await firefox.click("header .share-button");
    await firefox.shows("#sharing .share-what");
    await firefox.click("#sharing button", "Create link");
    await until("the share link", () =>
      firefox.evaluate(() => /\/s#?|share/.test(document.querySelector("#sharing .share-url")?.value ?? "")),
    );
  });

  await t.test("an open panel does not cut the heading of a list", async () => {
    await openLive("r/apps/v1/deployments?ns=shop&open=shop/checkout");
    await firefox.shows("#panel h2");
    await firefox.shows("#heading", /^Deployments$/);
    const cut = await firefox.evaluate(() => {
      const e = document.querySelector("#heading");
      return e.scrollWidth - e.clientWidth;
    });
    assert.equal(cut, 0);
  });

  await t.test("the home page shows a new problem, and its link opens the object", async () => {
    const deployments = `/apis/apps/v1/namespaces/${ns}/deployments`;
    await create(deployments, deployment("fine", 1));
    await openLive(`ns/${ns}`);
    await firefox.shows(".empty-title", /^No problems/);
    const { spec } = deployment("stuck", 1);
    const nodeSelector = { "e2e.example.com/none": "true" }; // No node has this label, so the pod stays pending.
    const template = { ...spec.template, spec: { ...spec.template.spec, nodeSelector } };
    await create(deployments, { ...deployment("stuck", 1), spec: { ...spec, progressDeadlineSeconds: 5, template } });
    const link = "#rows > .finding .what .object-link";
    await until("the new problem", async () => (await firefox.texts(link)).join().includes("stuck"), 90_000);
    await firefox.press("j");
    assert.match(await firefox.evaluate(() => document.activeElement.innerText), /stuck/);
    await firefox.click(link, "stuck");
    await firefox.shows("#object [role=tab]", /^Overview$/);
    assert.match(await firefox.evaluate(() => location.pathname), new RegExp(`^/o/.*/${ns}/stuck`));
    await patch(`${deployments}/stuck`, { spec: { replicas: 0 } });
  });
});
