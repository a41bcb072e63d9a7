// Invariant: I37.

import assert from "node:assert/strict";
import { test } from "node:test";
import { browse, newPage, openLive, table } from "./browser.mjs";
import { configMap, create, deployment, namespace, patch, read, remove } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { atEnd } from "./cleanup.mjs";
import { become, until } from "./wait.mjs";

const strategic = { type: "application/strategic-merge-patch+json" };

await test("overview", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  await create(`/apis/apps/v1/namespaces/${ns}/deployments`, deployment("web", 1, { team: "front" }));
  const pod = await until("the pod to run", async () =>
    (await read(`/api/v1/namespaces/${ns}/pods`)).items.find(
      (p) => p.status.phase === "Running" && p.status.containerStatuses?.[0].ready,
    ),
  );
  const name = pod.metadata.name;
  const panelURL = (ref, object) => `${dashboard.url}r/${ref}?ns=${ns}&open=${ns}/${object}`;
  const open = async (t, address, options) => {
    const page = await newPage(t, browser, options);
    await openLive(page, address);
    return page;
  };
  const verdict = (page) => page.locator(".health").getAttribute("data-health");
  const fact = (page, name) =>
    page
      .locator(".pairs > div", { has: page.locator("dt", { hasText: new RegExp(`^${name}$`) }) })
      .first()
      .locator("dd");

  await t.test("health, facts and conditions follow the object, and only changed values are highlighted", async (t) => {
    const page = await open(t, panelURL("core/v1/pods", name));
    await become("the verdict of the pod", () => verdict(page), "ok");
    assert.match(await page.locator(".health strong").innerText(), /^OK$/);
    assert.equal(await fact(page, "Node").innerText(), pod.spec.nodeName);
    assert.equal(await fact(page, "Image").innerText(), "registry.example.com/e2e:1");
    await page.locator(".groups summary", { hasText: "Tolerations" }).click();
    assert.match(
      await page.locator(".groups details[open]").innerText(),
      /node\.kubernetes\.io\/not-ready\s+NoExecute\s+for 300 s/,
    );
    assert.match(await fact(page, "Requests").innerText(), /cpu 0\.001 cores\s+memory 1 Mi/);
    assert.match(await page.locator(".item .pieces").innerText(), /Running \d+s\s+ready\s+0 restarts/);
    const ready = page.locator(".conditions tbody tr", { has: page.locator("th", { hasText: /^Ready$/ }) });
    assert.equal(await ready.locator("td").first().getAttribute("data-level"), "good");
    const age = await fact(page, "Started").innerText();
    await until("the shown age to change", async () => (await fact(page, "Started").innerText()) !== age);
    await page.evaluate(() => {
      window.kept = [...document.querySelectorAll(".overview dd, .overview tr")];
      window.flashed = [];
      new MutationObserver((list) => {
        for (const { target } of list) {
          if (!target.hasAttribute("data-changed")) continue;
          window.flashed.push((target.querySelector("th") ?? target.parentElement.firstElementChild).textContent);
        }
      }).observe(document.querySelector(".overview"), {
        attributes: true,
        attributeFilter: ["data-changed"],
        subtree: true,
      });
    });

    const at = new Date(Date.now() - 60_000).toISOString().replace(/\.\d+/, "");
    await patch(
      `/api/v1/namespaces/${ns}/pods/${name}/status`,
      {
        status: {
          conditions: [
            {
              type: "Ready",
              status: "False",
              reason: "ContainersNotReady",
              message: "containers with unready status: [main]",
              lastTransitionTime: at,
            },
          ],
          containerStatuses: [
            {
              name: "main",
              image: "registry.example.com/e2e:1",
              imageID: "",
              ready: false,
              restartCount: 7,
              state: { waiting: { reason: "CrashLoopBackOff", message: "back-off 5m0s" } },
              lastState: { terminated: { exitCode: 137, reason: "OOMKilled", startedAt: at, finishedAt: at } },
            },
          ],
        },
      },
      strategic,
    );
    await become("the verdict of the pod", () => verdict(page), "failed");
    assert.match(
      await page.locator(".health p:not(.cause)").innerText(),
      /^Failed Container main: CrashLoopBackOff, restarted 7 times, last exit 137 \(OOMKilled\)$/,
    );
    assert.match(await page.locator(".item .pieces").innerText(), /CrashLoopBackOff\s+not ready\s+7 restarts/);
    assert.match(await fact(page, "Last exit").innerText(), /OOMKilled, exit 137\s+\d+[ms].* ago/);
    assert.equal(await ready.locator("td").first().getAttribute("data-level"), "bad");
    assert.match(await ready.innerText(), /ContainersNotReady\s+containers with unready status/);
    const flashed = await page.evaluate(() => window.flashed);
    for (const want of ["Ready", "Last exit", "main"])
      assert.ok(flashed.includes(want), `${want} is highlighted: ${flashed}`);
    for (const not of ["Node", "Image", "Started", "PodScheduled", "UID"])
      assert.ok(!flashed.includes(not), `${not} is not highlighted`);
    assert.deepEqual(
      await page.evaluate(() => window.kept.filter((e) => !e.isConnected).map((e) => e.textContent)),
      [],
      "unchanged elements are not replaced",
    );
  });

  await t.test("the owner chain leads to the root, and owners open in the panel next to the same list", async (t) => {
    const page = await open(t, panelURL("core/v1/pods", name));
    const set = pod.metadata.ownerReferences[0].name;
    await become(
      "the chain of owners",
      async () => (await page.locator(".owners li").allInnerTexts()).map((l) => l.replace(/^›\s*/, "")),
      ["Deployment web", `ReplicaSet ${set}`, `Pod ${name}`],
    );
    await page.evaluate(() => (window.same = true));
    await page.locator(".owners a", { hasText: /^web$/ }).click();
    await until(
      "the panel to show the Deployment",
      async () => (await page.locator("#panel h2").innerText()) === `${ns}/web`,
    );
    assert.equal(page.url(), panelURL("core/v1/pods", "web").replace("open=", "open=apps/v1/deployments/"));
    assert.equal(await page.locator("#heading").innerText(), "Pods", "the list stays");
    assert.ok(await page.evaluate(() => window.same), "the page is not reloaded");
    await until("the replicas of the Deployment", async () =>
      /0 of 1/.test(await page.locator(".replicas").innerText()),
    );
    assert.equal(await page.locator(".owners").isHidden(), true);
    await page.goBack();
    await until(
      "the panel to show the pod again",
      async () => (await page.locator("#panel h2").innerText()) === `${ns}/${name}`,
    );

    await page.goto(`${dashboard.url}o/core/v1/pods/${ns}/${name}`);
    await page.locator(".owners a", { hasText: /^web$/ }).click();
    await page.waitForURL(panelURL("apps/v1/deployments", "web"));
  });

  await t.test("missing and forbidden owners are reported", async (t) => {
    const where = `/api/v1/namespaces/${ns}/configmaps`;
    await create(
      where,
      configMap(
        "owned",
        {},
        { ownerReferences: [{ apiVersion: "example.net/v1", kind: "Unicorn", name: "u", uid: "u-1" }] },
      ),
    );
    const page = await open(t, panelURL("core/v1/configmaps", "owned"));
    await page.locator(".owners em", { hasText: "unknown kind of example.net/v1" }).waitFor();
    assert.equal(await page.locator(".owners a").count(), 0);

    const node = await read(`/api/v1/nodes/${pod.spec.nodeName}`);
    const inShop = "/api/v1/namespaces/shop/configmaps";
    await create(
      inShop,
      configMap(
        `owned-${ns}`,
        {},
        { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: node.metadata.name, uid: node.metadata.uid }] },
      ),
    );
    atEnd(t, () => remove(`${inShop}/owned-${ns}`));
    const narrow = await Dashboard.start(t, { user: "limited" });
    const limited = await newPage(t, browser, { allow: [/status of 403/] });
    await limited.goto(`${narrow.url}r/core/v1/configmaps?ns=shop&open=shop/owned-${ns}`);
    await limited.locator(".owners em", { hasText: "forbidden" }).waitFor();
  });

  await t.test("the last authors of each part are known, also from before the page was opened", async (t) => {
    const address = `/apis/apps/v1/namespaces/${ns}/deployments/web`;
    await patch(address, { metadata: { annotations: { note: "1" } } }, { manager: "early-bird" });
    const page = await open(t, panelURL("apps/v1/deployments", "web"));
    const authors = page.locator(".last-changes");
    await authors.waitFor();
    assert.match(await authors.innerText(), /spec\s+e2e Update/);
    assert.match(await authors.innerText(), /metadata\s+early-bird Update/);
    assert.match(await authors.innerText(), /status\s+kube-controller-manager Update status/);
    await patch(address, { spec: { minReadySeconds: 1 } }, { manager: "late-riser" });
    // If the patch and a change of the controller arrive together, the author of the patch is unknown at first. The
    // page then reads the authors again after up to 10 s, so allow 30 s.
    await until(
      "the author of the new change",
      async () => /late-riser Update\s+\d+s/.test(await authors.innerText()),
      30_000,
    );
    assert.doesNotMatch(await authors.innerText(), /e2e Update/);
  });

  await t.test("a label opens the list of all objects with it", async (t) => {
    const page = await open(t, panelURL("core/v1/pods", name));
    await page.locator(".labels a", { hasText: "app=web" }).click();
    await become("the query of the URL", () => new URL(page.url()).search, "?labels=app=web");
    assert.equal(await page.locator("#panel").isHidden(), true);
    await until("the row of the pod", async () => (await table(page)).rows.some((r) => r.Name === name));
  });

  await t.test("events are live while the tab is open", async (t) => {
    const object = configMap("eventful");
    const { metadata } = await create(`/api/v1/namespaces/${ns}/configmaps`, object);
    const events = `/api/v1/namespaces/${ns}/events`;
    const event = (name, type, reason, message, minutes) => {
      const time = new Date(Date.now() - minutes * 60_000).toISOString().replace(/\.\d+/, "");
      return {
        metadata: { name },
        involvedObject: { apiVersion: "v1", kind: "ConfigMap", namespace: ns, name: "eventful", uid: metadata.uid },
        type,
        reason,
        message,
        count: 1,
        firstTimestamp: time,
        lastTimestamp: time,
        source: { component: "e2e" },
      };
    };
    await create(events, {
      ...event("another", "Warning", "Other", "of another object", 1),
      involvedObject: { kind: "ConfigMap", namespace: ns, name: "eventful", uid: "u-other" },
    });
    const page = await open(t, `${panelURL("core/v1/configmaps", "eventful")}&tab=events`);
    await page.locator(".events .note", { hasText: "No events" }).waitFor();
    const reasons = () => page.locator(".events li strong").allInnerTexts();
    const followed = async () =>
      (await (await fetch(`${dashboard.url}api/v1/status`)).json()).resources.filter(
        (r) => r.resource === "core/v1/events" && r.fields && r.readers > 0,
      ).length;
    assert.equal(await followed(), 1);

    await create(events, event("first", "Warning", "Broken", "<b>it</b> broke", 5));
    await become("the reasons of the events", reasons, ["Broken"]);
    await create(events, event("second", "Normal", "Repaired", "it was repaired", 0));
    await become("the reasons of the events", reasons, ["Repaired", "Broken"]);
    const broken = page.locator(".events li", { hasText: "Broken" });
    assert.match(await broken.innerText(), /Warning\s+Broken\s+5m\d*s? ago\s+<b>it<\/b> broke\s+e2e/);
    await patch(`${events}/first`, { count: 9, lastTimestamp: new Date().toISOString().replace(/\.\d+/, "") });
    await broken.locator(".times", { hasText: "9 times" }).waitFor();
    assert.match(await broken.innerText(), /first 5m/);
    assert.equal(await page.locator(".events .count").innerText(), "2 events (1 warning)");

    await patch(`${events}/second`, { lastTimestamp: new Date(Date.now() + 1000).toISOString().replace(/\.\d+/, "") });
    await become("the reasons of the events", reasons, ["Repaired", "Broken"]);
    await page.getByLabel("Warnings first").check();
    await become("the reasons of the events, with warnings first", reasons, ["Broken", "Repaired"]);

    await page.getByRole("tab", { name: "Overview" }).click();
    await page.locator("#panel .overview").waitFor();
    await become("the number of readers of the events", followed, 0);
  });
});
