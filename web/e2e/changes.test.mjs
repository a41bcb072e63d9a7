// Invariant: I41, I42, I43.

import assert from "node:assert/strict";
import { test } from "node:test";
import { browse, newPage, openLive, row } from "./browser.mjs";
import { api, configMap, create, deployment, namespace, patch, remove } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { become, until } from "./wait.mjs";

await test("changes", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  const where = `/api/v1/namespaces/${ns}/configmaps`;
  const list = `${dashboard.url}r/core/v1/configmaps?ns=${ns}`;
  const tab = (name, kind = "core/v1/configmaps") => `${dashboard.url}o/${kind}/${ns}/${name}?tab=changes`;
  const changeTexts = (page) =>
    page.evaluate(() =>
      [...document.querySelectorAll(".timeline .change-entry")].map((e) => {
        const text = (from, what) => [...from.querySelectorAll(what)].map((x) => x.textContent);
        const fields = [...e.querySelectorAll(".field")].map((f) =>
          [
            f.querySelector(".path").textContent,
            ...text(f, "del").map((x) => `-${x}`),
            ...text(f, "ins").map((x) => `+${x}`),
          ].join(" "),
        );
        return (
          `${text(e, "header .op")[0]} ` +
          `${text(e, "header .by").join("+")}${fields.length === 0 ? "" : `: ${fields.join(", ")}`}`
        );
      }),
    );
  const open = async (t, address, options) => {
    const page = await newPage(t, browser, options);
    await openLive(page, address);
    return page;
  };
  const live = async (page) =>
    until("the list of changes", async () => (await page.locator(".kept").textContent()).includes(" since "));

  // Waits for the next second. managedFields contain times in full seconds, so changes in one second have equal times.
  const second = () => {
    const now = () => Math.floor(Date.now() / 1000);
    const startTime = now();
    return until("the next second", () => now() > startTime);
  };

  await t.test("of one object show previous values and authors", async (t) => {
    const hostile = "<img src=x onerror=alert(1)>";
    await create(where, configMap("one", { a: "first" }), { manager: "e2e-maker" });
    const early = await open(t, tab("one"));
    await live(early);
    await second();
    await patch(`${where}/one`, { data: { a: "second", b: hostile } }, { manager: "e2e-painter" });
    await second();
    await patch(`${where}/one`, { metadata: { labels: { "example.com/tier": "front" } } }, { manager: "e2e-labeller" });
    await second();
    await patch(`${where}/one`, { data: { b: null, c: "third" } }, { manager: "e2e-painter" });
    const changed = [
      `Changed e2e-painter Update: data.b -${hostile}, data.c +third`,
      "Changed e2e-labeller Update: metadata.labels +example.com/tier: front",
      `Changed e2e-painter Update: data.a -first +second, data.b +${hostile}`,
    ];
    await become("the list of changes", async () => (await changeTexts(early)).slice(0, 3), changed);

    const late = await open(t, `${list}&open=${ns}/one&tab=changes`);
    await become("the list of changes after a reload", async () => (await changeTexts(late)).slice(0, 3), changed);
    assert.match(await late.locator(".changes .foot").innerText(), /^History starts at \d\d:\d\d:\d\d$/);
    assert.match(await late.locator(".change-entry time").first().getAttribute("title"), /^\d\d:\d\d:\d\d$/);
    await late.getByRole("button", { name: "Side by side" }).click();
    await late.locator('.diff[data-layout="split"] .pair').first().waitFor();
    await late.reload();
    await late.locator('.diff[data-layout="split"] .pair').first().waitFor();
    await late.getByRole("button", { name: "Inline" }).click();

    await remove(`${where}/one`);
    await create(where, configMap("one", { a: "recreated" }), { manager: "e2e-maker" });
    await second();
    await patch(`${where}/one`, { data: { a: "changed" } }, { manager: "e2e-painter" });
    await become("the changes around the deletion and recreation", async () => (await changeTexts(late)).slice(0, 3), [
      "Changed e2e-painter Update: data.a -recreated +changed",
      "Created e2e-maker Update",
      "Deleted Unknown author",
    ]);

    await late.getByLabel("Filter changes by field or author").fill("e2e-painter data.b");
    await become("the list of matching changes", () => changeTexts(late), [
      `Changed e2e-painter Update: data.b -${hostile}`,
      `Changed e2e-painter Update: data.b +${hostile}`,
    ]);
    await late.getByLabel("Filter changes by field or author").fill("no-such-author");
    await late.locator(".foot", { hasText: "No changes match the filter" }).waitFor();
  });

  await t.test("show container names and the author of each field, and can be copied as a patch", async (t) => {
    await create(`/apis/apps/v1/namespaces/${ns}/deployments`, deployment("web", 0));
    const page = await open(t, tab("web", "apps/v1/deployments"), {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await live(page);
    await patch(
      `/apis/apps/v1/namespaces/${ns}/deployments/web`,
      { spec: { template: { spec: { containers: [{ name: "main", image: "registry.example.com/e2e:2" }] } } } },
      { type: "application/strategic-merge-patch+json", manager: "e2e-roller" },
    );
    const change = page.locator(".change-entry", { hasText: "spec.template.spec.containers[main].image" });
    await change.waitFor();
    assert.match(await change.locator(".who").innerText(), /e2e-roller/);
    assert.deepEqual(
      await change.locator(".field", { hasText: "[main].image" }).locator("del, ins").allTextContents(),
      ["registry.example.com/e2e:1", "registry.example.com/e2e:2"],
    );
    // The Deployment's controller has also changed the status, so show only changes of the spec.
    await page.getByRole("button", { name: /^Spec/ }).click();
    await become("the filter in the URL", () => new URL(page.url()).searchParams.get("find"), "is:spec");
    await become(
      "the paths of the changes of the spec",
      () => page.locator(".timeline > .change-entry .path").allInnerTexts(),
      ["spec.template.spec.containers[main].image"],
    );
    await page.getByLabel("By people").check();
    assert.equal(await change.locator(".by[data-person]").count(), 1);
    await page.getByLabel("By people").uncheck();
    await page.getByRole("button", { name: "All", exact: true }).click();
    await change.getByRole("button", { name: "Copy patch" }).click();
    await change.getByRole("button", { name: "Copied" }).waitFor();
    const copied = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
    assert.deepEqual(
      copied.find((op) => op.path.endsWith("/image")),
      { op: "replace", path: "/spec/template/spec/containers/0/image", value: "registry.example.com/e2e:2" },
    );
  });

  await t.test("consecutive minor changes form one line, and a button shows changes beyond 200", async (t) => {
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`;
    await create(leases, { metadata: { name: "beat" }, spec: { holderIdentity: "a", leaseDurationSeconds: 15 } });
    const page = await open(t, tab("beat", "coordination.k8s.io/v1/leases"));
    await live(page);
    const heartbeat = (n) =>
      patch(
        `${leases}/beat`,
        { spec: { renewTime: new Date(1_800_000_000_000 + n * 1000).toISOString().replace("Z", "000Z") } },
        { manager: "e2e-heart" },
      );
    for (let n = 0; n < 3; n++) await heartbeat(n);
    await patch(`${leases}/beat`, { spec: { holderIdentity: "b" } }, { manager: "e2e-holder" });
    for (let n = 3; n < 5; n++) await heartbeat(n);
    const lines = () =>
      page.evaluate(() =>
        [...document.querySelectorAll(".timeline > .change-entry, .timeline > .minor-changes")].map(
          (e) => e.querySelector("summary")?.firstChild.textContent ?? e.querySelector(".path").textContent,
        ),
      );
    await become("the first three lines of the list", async () => (await lines()).slice(0, 3), [
      "2 minor changes",
      "spec.holderIdentity",
      "3 minor changes",
    ]);
    await page.locator(".minor-changes summary").first().click();
    await until(
      "the group of two minor changes",
      async () => (await page.locator(".minor-changes[open] .change-entry").count()) === 2,
    );
    await heartbeat(5);
    await until(
      "a third minor change in the group, which stays open",
      async () => (await page.locator(".minor-changes[open] .change-entry").count()) === 3,
    );

    for (let n = 0; n < 220; n++)
      await patch(`${leases}/beat`, { spec: { holderIdentity: `h${n}` } }, { manager: "e2e-holder" });
    await until(
      "the newest change",
      async () => (await page.locator(".replacement ins").first().textContent()) === "h219",
    );
    assert.equal(await page.locator(".timeline > .change-entry").count(), 200);
    await page.getByRole("button", { name: "Show older" }).click();
    await until("all changes", async () => (await page.locator(".timeline > .change-entry").count()) >= 221);
  });

  await t.test("of a Secret reveal only that it changed", async (t) => {
    const secrets = `/api/v1/namespaces/${ns}/secrets`;
    await create(secrets, { metadata: { name: "hush" }, stringData: { password: "e2e-first-secret" } });
    const page = await open(t, tab("hush", "core/v1/secrets"));
    await live(page);
    await patch(`${secrets}/hush`, { stringData: { password: "e2e-second-secret" } });
    await page.locator(".value-note", { hasText: "masked" }).waitFor();
    assert.deepEqual(
      await page.locator(".change-entry").first().locator(".field").first().locator("del, ins").allTextContents(),
      ["(masked)", "(masked, change 1)"],
    );
    await page.loaded();
    assert.ok(!page.wire.some((text) => /e2e-(first|second)-secret|ZTJlLXN|ZTJlLWZ/.test(text)));
  });

  await t.test("two objects are compared, live", async (t) => {
    const lines = Array.from({ length: 30 }, (_, i) => `line ${i}`);
    await create(where, configMap("left", { text: lines.join("\n"), port: "80" }, { labels: { tier: "front" } }));
    await create(where, configMap("right", { text: lines.join("\n"), port: "8080" }, { labels: { tier: "back" } }));
    const page = await open(t, tab("left"));
    await page.getByRole("button", { name: "Actions", exact: true }).click();
    await page.getByRole("menuitem", { name: "Compare with" }).click();
    await page.waitForURL(`**/compare?a=core/v1/configmaps/${ns}/left`);
    assert.equal(await page.evaluate(() => document.activeElement?.id), "b");
    await page.locator(".others a", { hasText: "right" }).waitFor();
    await page.keyboard.type("righ");
    await until("the name of the other object among the suggestions", async () =>
      (await page.locator("#names option").evaluateAll((all) => all.map((o) => o.value))).includes(`${ns}/right`),
    );
    await page.keyboard.type("t");
    await page.keyboard.press("Enter");
    await page.locator('#status[data-state="live"]').waitFor();
    const count = () => page.locator("#count").innerText();
    await become("the number of differences", count, "2 differences");
    if ((await page.locator('.diff[data-layout="split"]').count()) === 0)
      await page.getByRole("button", { name: "Side by side" }).click();
    assert.deepEqual(await page.locator(".diff mark").allTextContents(), [
      "80",
      "8080",
      "front",
      "back",
      "left",
      "right",
    ]);
    assert.deepEqual(await page.locator(".diff .fold").allTextContents(), ["28 unchanged lines"]);
    await page.locator(".diff .fold").click();
    await until("all lines to be shown", async () => (await page.locator(".diff").innerText()).includes("line 15"));

    await patch(`${where}/right`, { data: { port: "80" } }, { manager: "e2e-painter" });
    await become("the number of differences", count, "1 difference");
    assert.match(await page.locator(".heads h2").last().innerText(), /\d\d:\d\d:\d\d changed by e2e-painter/);
    assert.ok((await page.locator(".diff").innerText()).includes("line 15"), "the unfolded lines stay unfolded");
    await page.getByLabel("Ignore generated metadata").uncheck();
    await until("the generated metadata", async () =>
      (await page.locator(".diff").innerText()).includes("resourceVersion"),
    );
    assert.equal(new URL(page.url()).searchParams.get("hide"), "none");
    await page.reload();
    await until("the generated metadata after a reload", async () =>
      (await page.locator(".diff").innerText()).includes("resourceVersion"),
    );
    await page.getByRole("button", { name: "Inline" }).click();
    assert.equal(await page.locator(".diff .pair").count(), 0);
    await remove(`${where}/right`);
    await page.locator("#banner", { hasText: "right was deleted. Showing its last state." }).waitFor();
    assert.match(await page.locator(".heads h2").last().innerText(), /\d\d:\d\d:\d\d deleted/);
    await create(where, configMap("right", { text: lines.join("\n"), port: "80" }));
    await page.locator("#banner").waitFor({ state: "hidden" });

    const plain = await newPage(t, browser, { javaScriptEnabled: false, allow: [/status of 404/] });
    await plain.goto(`${dashboard.url}compare?a=core/v1/configmaps/${ns}/left&b=right`);
    const texts = await plain.locator("pre.yaml").allInnerTexts();
    assert.ok(
      texts.length === 2 && texts[0].includes("name: left") && texts[1].includes("name: right"),
      texts.join("---"),
    );
    await plain.locator("#b").fill("nowhere");
    await plain.locator("#sides button").click();
    assert.match(await plain.locator(".side").last().innerText(), /Not found/);
    assert.match(await plain.locator(".side").first().innerText(), /name: left/);
    const middles = await plain.locator(".side .note").evaluate((note) =>
      [note, ...note.querySelectorAll("h2, p")].map((e) => {
        const text = document.createRange();
        text.selectNodeContents(e);
        const { left, right } = (e === note ? e : text).getBoundingClientRect();
        return Math.round((left + right) / 2);
      }),
    );
    assert.ok(
      middles.length > 2 && middles.every((m) => Math.abs(m - middles[0]) <= 1),
      `the messages are centered: ${middles}`,
    );
  });

  await t.test("the activity of a list shows changes with authors, and subscribes when it is opened", async (t) => {
    await create(`/apis/apps/v1/namespaces/${ns}/deployments`, deployment("busy", 0));
    const page = await newPage(t, browser);
    await openLive(page, `${dashboard.url}r/apps/v1/deployments?ns=${ns}`);
    await until("the row of the new Deployment", () => row(page, "busy"));
    const line = page.locator(".activity-line");
    assert.match(await line.innerText(), /No changes in this list since \d\d:\d\d:\d\d/);
    const scale = (replicas) =>
      patch(`/apis/apps/v1/namespaces/${ns}/deployments/busy`, { spec: { replicas } }, { manager: "e2e-scaler" });
    await scale(1);
    await until("the activity line to show the change", async () =>
      /\d\d:\d\d:\d\d\s*e2e-\w+\/busy.*(0\/0|0\/1|0) → /.test((await line.innerText()).replaceAll("\n", " ")),
    );
    assert.ok(
      !page.wire.some((f) => f.includes('"view":"changes"')),
      "the activity line needs no additional subscription",
    );

    await page.keyboard.press("a");
    assert.ok(
      await until("the subscription to the changes", () => page.wire.some((f) => f.includes('"view":"changes"'))),
    );
    const entries = () => page.locator(".feed .activity-entry").allInnerTexts();
    await until("the change of the replicas, with its author", async () =>
      (await entries()).some((e) => /spec\.replicas 0 → 1/.test(e) && e.includes("e2e-scaler")),
    );
    assert.match(await page.locator(".activity-feed .kept").innerText(), /changes since \d\d:\d\d:\d\d$/);
    await page.getByLabel("Filter activity").fill("spec.replicas e2e-scaler");
    await become("the number of matching changes", async () => (await entries()).length, 1);
    const inURL = () => new URL(page.url()).searchParams.get("activity");
    await become("the filter in the URL", inURL, "list spec.replicas e2e-scaler");

    await page.locator(".feed").hover();
    await scale(2);
    await page.getByRole("button", { name: "Show 1 new change" }).waitFor();
    assert.equal((await entries()).length, 1);
    await page.locator("#heading").hover();
    await become("the number of changes", async () => (await entries()).length, 2);
    await page.getByRole("button", { name: "Pause" }).click();
    await scale(0);
    await page.getByRole("button", { name: "Show 1 new change" }).click();
    await become("the number of changes", async () => (await entries()).length, 3);

    const height = () => page.locator(".activity-feed").evaluate((e) => e.offsetHeight);
    const before = await height();
    await page.getByRole("separator", { name: "Activity height" }).focus();
    await page.keyboard.press("ArrowUp");
    const higher = await height();
    assert.ok(higher > before);
    await page.reload();
    await until(
      "the activity to be open, with its previous height",
      async () => (await page.locator(".feed .activity-entry").count()) > 0 && (await height()) === higher,
    );
    assert.equal(await page.getByLabel("Filter activity").inputValue(), "spec.replicas e2e-scaler");
    assert.equal((await entries()).length, 3, "the filter is restored");
    await page.locator(".feed .activity-entry", { hasText: "spec.replicas 1 → 2" }).click();
    await page.locator("#panel .timeline .change-entry").first().waitFor();
    const { searchParams } = new URL(page.url());
    assert.deepEqual([searchParams.get("open"), searchParams.get("tab")], [`${ns}/busy`, "changes"]);

    await page.locator("#picker a", { hasText: /^ConfigMaps\d*$/ }).click();
    await page.locator("#heading", { hasText: "ConfigMaps" }).waitFor();
    await page.getByLabel("Filter activity").fill("");
    await become("no filter in the URL", inURL, "list");
    await api(
      "PATCH",
      `${where}/left`,
      { data: { port: "81" } },
      { type: "application/merge-patch+json", manager: "e2e-painter" },
    );
    await until("the change of the open list", async () =>
      (await entries()).some((e) => /data\.port \S+ → 81/.test(e)),
    );
    assert.ok(!(await entries()).some((e) => e.includes("spec.replicas")));
    await page.locator("#heading").click();
    await page.keyboard.press("a");
    await page.locator(".activity-feed").waitFor({ state: "hidden" });
    assert.equal(inURL(), null);
    await page.goBack();
    await page.locator(".activity-feed").waitFor();
    await page.goForward();
    await page.locator(".activity-feed").waitFor({ state: "hidden" });
  });

  await t.test("the activity of all watched resources starts no watch", async (t) => {
    const page = await newPage(t, browser);
    // This request makes the server watch ConfigMaps, because the activity feed itself starts no watch.
    await page.request.get(`${dashboard.url}api/v1/snapshot/core/v1/configmaps`);
    await openLive(page, `${dashboard.url}r/apps/v1/deployments?ns=${ns}`);
    await page.keyboard.press("a");
    await page.getByRole("button", { name: "All resources" }).click();
    const entries = async () =>
      (await page.locator(".feed .activity-entry").allInnerTexts()).map((e) => e.replaceAll("\n", " "));
    const kept = () => page.locator(".activity-feed .kept").innerText();
    await until("the activity to contain changes of several resources", async () =>
      /in (\d\d|[2-9]) resource types since \d\d:\d\d:\d\d$/.test(await kept()),
    );
    const mapChange = /ConfigMap \S+\/left.*data\.port 81 → 82.*e2e-painter/;
    await patch(`${where}/left`, { data: { port: "82" } }, { manager: "e2e-painter" });
    // The server watches both resources separately. Wait, so that it receives the changes in this order.
    await until("the first change", async () => (await entries()).some((e) => mapChange.test(e)));
    await patch(
      `/apis/apps/v1/namespaces/${ns}/deployments/busy`,
      { spec: { replicas: 1 } },
      { manager: "e2e-scaler" },
    );
    const both = async () => {
      const all = await entries();
      const [map, deployment] = [
        all.findIndex((e) => mapChange.test(e)),
        all.findIndex((e) => /Deployment \S+\/busy.*spec\.replicas 0 → 1.*e2e-scaler/.test(e)),
      ];
      return map >= 0 && deployment >= 0 && deployment < map;
    };
    await until("both changes, the later one first", both);
    const requested = page.wire.filter((f) => /"op":"subscribe".*"view":"changes"/.test(f)).map((f) => JSON.parse(f));
    assert.deepEqual(
      requested.filter((o) => o.watched !== true).map((o) => o.resource),
      ["apps/v1/deployments"],
      "only the earlier subscription was for a single list",
    );
    const { resources } = await (await page.request.get(`${dashboard.url}api/v1/resources`)).json();
    const watched = new Set(resources.filter((r) => r.state !== undefined && r.state !== "").map((r) => r.ref));
    for (const { resource } of requested) assert.ok(watched.has(resource), `${resource} is a watched resource`);
    assert.ok(!watched.has("core/v1/podtemplates"), "PodTemplates are not watched");

    await page.locator(".feed .activity-entry", { hasText: "data.port 81 → 82" }).click();
    await page.locator("#panel .timeline .change-entry").first().waitFor();
    assert.match(page.url(), new RegExp(`/r/core/v1/configmaps\\?ns=${ns}&open=${ns}/left&tab=changes&activity=all$`));
    await until("both changes to stay in the list", both);
    await page.reload();
    await until("both changes after a reload", both);
    await page.getByRole("button", { name: "This list", exact: true }).click();
    await until(
      "only the changes of the open list",
      async () => !(await entries()).some((e) => e.includes("busy")) && /changes since/.test(await kept()),
    );
  });
});
