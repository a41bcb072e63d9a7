// The panel shows the path from an object to the cause of its state, and what the cause affects, and updates both.
//
// Invariant: I37.

import assert from "node:assert/strict";
import { test } from "node:test";
import { violations } from "./axe.mjs";
import { browse, newPage, openLive } from "./browser.mjs";
import { create, deployment, namespace, patch, read } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { become, until } from "./wait.mjs";

const shots = process.env["SHOTS"];

await test("explanation", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  await create(`/apis/apps/v1/namespaces/${ns}/deployments`, deployment("web", 1));
  await create(`/api/v1/namespaces/${ns}/services`, {
    metadata: { name: "web" },
    spec: { selector: { app: "web" }, ports: [{ port: 80 }] },
  });
  await create(`/apis/networking.k8s.io/v1/namespaces/${ns}/ingresses`, {
    metadata: { name: "edge" },
    spec: {
      rules: [
        {
          host: "web.example.com",
          http: {
            paths: [{ path: "/shop", pathType: "Prefix", backend: { service: { name: "web", port: { number: 80 } } } }],
          },
        },
      ],
    },
  });
  const pod = await until("a running pod", async () => {
    const [first] = (await read(`/api/v1/namespaces/${ns}/pods`)).items;
    return first?.status.containerStatuses?.[0].ready === true && first.metadata.name;
  });
  const setReady = async (isReady) => {
    const at = new Date(Date.now() - 60_000).toISOString().replace(/\.\d+/, "");
    await patch(
      `/api/v1/namespaces/${ns}/pods/${pod}/status`,
      {
        status: {
          conditions: [{ type: "Ready", status: isReady ? "True" : "False", lastTransitionTime: at }],
          containerStatuses: [
            {
              name: "main",
              image: "registry.example.com/e2e:1",
              imageID: "",
              ready: isReady,
              restartCount: 7,
              state: isReady ? { running: { startedAt: at } } : { waiting: { reason: "CrashLoopBackOff" } },
              lastState: isReady ? {} : { terminated: { exitCode: 3, reason: "Error", startedAt: at, finishedAt: at } },
            },
          ],
        },
      },
      { type: "application/strategic-merge-patch+json" },
    );
  };
  await setReady(false);
  const hops = (page) =>
    page.locator(".chain .hop").evaluateAll((all) => all.map((e) => e.innerText.replace(/\s+/g, " ").trim()));
  const path = ["Ingress edge", "Rule web.example.com/shop", "Service web", `Pod ${pod} Cause`];
  const ingress = `${dashboard.url}r/networking.k8s.io/v1/ingresses?ns=${ns}&open=${ns}/edge`;

  await t.test("the path of an Ingress stops at the pod, and disappears when the pod is ready", async (t) => {
    const page = await newPage(t, browser);
    await openLive(page, ingress);
    await become("the path to the cause", () => hops(page), path);
    assert.equal(await page.locator(".chain [data-cause]").getAttribute("data-severity"), "failed");
    assert.match(await page.locator(".unexamined").innerText(), /Not examined/);
    assert.deepEqual(await violations(page), []);
    if (shots !== undefined) await page.screenshot({ path: `${shots}/chain.png` });
    await setReady(true);
    await become("the path to the cause", () => hops(page), []);
    await setReady(false);
    await become("the path to the cause", () => hops(page), path);
    await page.locator(".chain a", { hasText: pod }).click();
    await until("the objects that the pod affects", async () => {
      const affected = await page.locator(".affected li").allInnerTexts();
      const all = affected.join(" ").replace(/\s+/g, " ");
      return ["Deployment", "ReplicaSet", "Service", "Ingress"].every(
        (kind) => all.includes(`${kind} web`) || all.includes(`${kind} edge`),
      );
    });
    assert.deepEqual(await violations(page), []);
    if (shots !== undefined) await page.screenshot({ path: `${shots}/affected.png` });
  });

  await t.test("on a phone, the path wraps", async (t) => {
    const page = await newPage(t, browser, { viewport: { width: 390, height: 844 } });
    await openLive(page, `${dashboard.url}o/networking.k8s.io/v1/ingresses/${ns}/edge`);
    await become("the path to the cause", () => hops(page), path);
    const boxes = await page.locator(".chain .hop").evaluateAll((all) =>
      all.map((e) => {
        const { right, top } = e.getBoundingClientRect();
        return { right, top };
      }),
    );
    assert.ok(
      boxes.every(({ right }) => right <= 390),
      JSON.stringify(boxes),
    );
    assert.ok(new Set(boxes.map(({ top }) => top)).size > 1, "the path wraps onto several lines");
    if (shots !== undefined) await page.screenshot({ path: `${shots}/chain-phone.png` });
  });
});
