// Takes the screenshots for README.md and docs/features.md:
// .ci/on-demo env DASHBOARD=bin/dashboard node web/e2e/readme-pictures.mjs docs
import { join } from "node:path";
import { browse, newPage, openLive } from "./browser.mjs";
import { patch, read } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { atEnd } from "./cleanup.mjs";
import { share } from "./sharing.mjs";
import { until } from "./wait.mjs";

const folder = process.argv[2];
if (!folder) throw new Error("usage: node e2e/readme-pictures.mjs FOLDER");
const ends = [];
const t = { after: (end) => ends.unshift(end) };
const deployments = "/apis/apps/v1/namespaces/shop/deployments";

const change = (name, manager, patches) =>
  patch(`${deployments}/${name}`, patches, { type: "application/json-patch+json", manager });
/** Changes an image as the field manager argocd-controller. */
const roll = (name, image) =>
  change(name, "argocd-controller", [
    { op: "replace", path: "/spec/template/spec/containers/0/image", value: `registry.example.com/shop/${image}` },
  ]);
const rolled = (name) =>
  until(
    `the rollout of ${name} to finish`,
    async () => {
      const { spec, status, metadata } = await read(`${deployments}/${name}`);
      return (
        status.observedGeneration === metadata.generation &&
        status.updatedReplicas === spec.replicas &&
        status.availableReplicas === spec.replicas &&
        status.replicas === spec.replicas
      );
    },
    60_000,
  );

try {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t, {
    flags: ["--watch", "core/v1/pods,apps/v1/deployments,apps/v1/replicasets"],
  });
  const shoot = (page, name, animations = "disabled") =>
    page.screenshot({ path: join(folder, `${name}.png`), animations });
  const wide = await newPage(t, browser);

  await openLive(
    wide,
    `${dashboard.url}r/core/v1/pods?ns=shop&cols=ready&cols=status&cols=restarts&cols=age&cols=ip&cols=node`,
  );
  await roll("checkout", "checkout:3.10.0");
  await roll("catalog", "catalog:2.31.1");
  await until(
    "the rollout to be visible",
    async () => (await wide.locator("#tbody [data-state]", { hasText: /ContainerCreating|Pending/ }).count()) > 1,
  );
  // "allow" permits animations, so that highlights are visible.
  await shoot(wide, "list", "allow");
  await rolled("catalog");
  await rolled("checkout");

  await openLive(wide, dashboard.url);
  await wide.locator("#rows > .finding").nth(3).waitFor();
  await wide.locator(".reading").waitFor({ state: "detached" });
  await shoot(wide, "home");

  await wide.emulateMedia({ colorScheme: "dark" });
  await openLive(wide, `${dashboard.url}r/apps/v1/deployments?ns=shop&open=shop/storefront-canary&tab=changes`);
  const waitForText = (words) => wide.locator("#panel .tab", { hasText: words }).waitFor();
  await roll("storefront-canary", "storefront:4.19.0-rc1");
  await waitForText("4.19.0-rc1");
  await change("storefront-canary", "kubectl-edit", [
    {
      op: "add",
      path: "/spec/template/spec/containers/0/env",
      value: [{ name: "CHECKOUT_URL", value: "http://checkout.shop.svc:8080" }],
    },
  ]);
  await waitForText("CHECKOUT_URL");
  await change("storefront-canary", "release-bot", [
    {
      op: "add",
      path: "/metadata/annotations/kubernetes.io~1change-cause",
      value: "canary of 4.19.0, watched by shop-oncall",
    },
  ]);
  await waitForText("release-bot");
  await wide.locator("#activity", { hasText: "storefront-canary" }).waitFor();
  await shoot(wide, "changes");

  await wide.emulateMedia({ colorScheme: "light" });
  await wide.goto(`${dashboard.url}o/apps/v1/deployments/shop/checkout?tab=related`);
  await wide.locator(".card").nth(8).waitFor();
  await shoot(wide, "related");

  await openLive(wide, `${dashboard.url}r/core/v1/pods?ns=shop&labels=app.kubernetes.io%2Fname%3Dcheckout`);
  await wide.locator("#tbody th").first().waitFor();
  await share(wide, (form) => form.getByPlaceholder("Purpose").fill("Rollout of checkout 3.10"));
  await shoot(wide, "share");

  const failingPod = (await read("/api/v1/namespaces/shop/pods")).items.find((p) =>
    p.metadata.name.startsWith("recommender"),
  ).metadata.name;
  const phone = await newPage(t, browser, { viewport: { width: 390, height: 800 } });
  const screens = [];
  for (const [colorScheme, path] of [
    ["light", "r/core/v1/pods?ns=shop"],
    ["light", `r/core/v1/pods?ns=shop&open=shop/${failingPod}`],
    ["dark", `r/core/v1/pods?ns=shop&open=shop/${failingPod}&tab=yaml`],
  ]) {
    await phone.emulateMedia({ colorScheme });
    await openLive(phone, dashboard.url + path);
    if (path.includes("open=")) await phone.locator("#tab > *").waitFor();
    screens.push(`data:image/png;base64,${(await phone.screenshot({ animations: "disabled" })).toString("base64")}`);
  }
  const sheet = await browser.newPage({ viewport: { width: 1234, height: 824 } });
  atEnd(t, () => sheet.close());
  await sheet.setContent(
    `<body style="margin:0;display:flex;gap:20px;padding:12px;background:#e6eaec">${screens
      .map((s) => `<img src="${s}" width="390" height="800" style="border-radius:14px;outline:1px solid #c4ccd0">`)
      .join("")}`,
  );
  await sheet.screenshot({ path: join(folder, "phone.png") });
} finally {
  for (const end of ends) await end();
}
