// Deploys deploy/kustomize/team as its README describes, behind nginx. Two users and several guests use the dashboard.
//
// Invariant: I46.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { browse, newPage, openLive, table } from "./browser.mjs";
import { configMap, create, namespace } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { account, deployTeam } from "./deployed.mjs";
import { atEnd } from "./cleanup.mjs";
import { proxy } from "./nginx.mjs";
import { openLink, revoke, share } from "./sharing.mjs";
import { become, until } from "./wait.mjs";

const host = "team.example.org";
const ingress = "127.0.0.2"; // source address of nginx; browsers have the address in the variable client
const client = "127.0.0.1";

await test("a team behind its Ingress", { timeout: 400_000 }, async (t) => {
  const [ns, admins] = [await namespace(t), await namespace(t)];
  const group = `system:serviceaccounts:${admins}`;
  const get = deployTeam(t, {
    "glasshouse.example.com": host,
    "glasshouse-admins": group,
    INGRESS_ADDRESSES: `${ingress}/32`,
  });

  const { spec } = get("ingress", "glasshouse");
  assert.deepEqual([spec.rules.map((r) => r.host), spec.tls.map((e) => e.hosts)], [[host], [[host]]]);
  const port = get("service", "glasshouse").spec.ports.find(
    (p) => p.name === spec.rules[0].http.paths[0].backend.service.port.name,
  );
  assert.equal(port.port, 80, "the Ingress routes to the Service's port");
  assert.equal(get("persistentvolumeclaim", "glasshouse").status.phase, "Bound");
  assert.equal(get("namespace", "glasshouse").metadata.labels["pod-security.kubernetes.io/enforce"], "restricted");
  assert.equal(get("clusterrolebinding", "glasshouse-reviews").roleRef.name, "glasshouse-reviews");
  const [container] = get("deployment", "glasshouse").spec.template.spec.containers;

  const dir = mkdtempSync(join(tmpdir(), "glasshouse-team-"));
  atEnd(t, () => rmSync(dir, { recursive: true, force: true }));
  const flagOverrides = { "--data-dir": dir, "--metrics-listen": "127.0.0.1:0" };
  const flags = container.args
    .filter((a) => !a.startsWith("--listen="))
    .map((arg) => {
      const [flag] = arg.split("=");
      return flagOverrides[flag] ? `${flag}=${flagOverrides[flag]}` : arg;
    });
  const dashboard = await Dashboard.start(t, { config: await account(t), flags });
  const nginx = await proxy(t, `127.0.0.1:${dashboard.port}`, { host, bind: ingress });
  const browser = await browse(t, `--host-resolver-rules=MAP ${host} 127.0.0.1:${nginx.port}`);

  const secrets = [];
  const member = async (space) => {
    const accounts = `/api/v1/namespaces/${space}/serviceaccounts`;
    await create(accounts, { metadata: { name: "member" } });
    await create(`/apis/rbac.authorization.k8s.io/v1/namespaces/${space}/rolebindings`, {
      metadata: { name: "member" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      subjects: [{ kind: "ServiceAccount", name: "member", namespace: space }],
    });
    const { status } = await create(`${accounts}/member/token`, { spec: {} });
    secrets.push(status.token);
    return { name: `system:serviceaccount:${space}:member`, token: status.token };
  };
  const [anna, admin] = [await member(ns), await member(admins)];
  await create(`/api/v1/namespaces/${ns}/configmaps`, configMap("ours"));
  await create(`/api/v1/namespaces/${admins}/configmaps`, configMap("not-for-anna"));

  const fresh = (t) =>
    newPage(t, browser, { ignoreHTTPSErrors: true, allow: [/status of 40[134]/, /WebSocket connection/] });
  const names = async (page) => (await table(page)).rows.map((r) => r.Name);
  const maps = `${nginx.url}r/core/v1/configmaps`;
  const logIn = async (page, who) => {
    await page.goto(`${maps}?ns=${who === anna ? ns : admins}`);
    await page.getByLabel("Token").fill(who.token);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.locator('#status[data-state="live"]').waitFor();
  };
  const answer = (page, path) =>
    page.evaluate(async (url) => {
      const a = await fetch(url);
      await a.text();
      return a.status;
    }, nginx.url + path);
  const audit = () => readFileSync(join(dir, "audit.jsonl"), "utf8");
  const ended = async (t, guest, began) => {
    await guest
      .getByRole("heading", { name: "Link expired" })
      .waitFor({ timeout: Math.max(1, 5000 - (Date.now() - began)) });
    t.diagnostic(`the guest's page reported the end of the share ${Date.now() - began} ms after the request`);
    assert.doesNotMatch(await guest.locator("body").innerText(), /ours/);
  };

  const page = await fresh(t);
  await t.test("without a login there is no data, and after a login only the data that the user may see", async () => {
    assert.equal((await page.goto(maps)).status(), 401);
    assert.doesNotMatch(await page.content(), /ours|kube-root|<script/);
    await logIn(page, anna);
    const cookie = (await page.context().cookies()).find((c) => c.name.includes("glasshouse-session"));
    secrets.push(cookie.value);
    assert.deepEqual([cookie.httpOnly, cookie.secure], [true, true]);
    await until("the rows of the user's namespace", async () => (await names(page)).includes("ours"));
    await create(`/api/v1/namespaces/${ns}/configmaps`, configMap("ours-too"));
    await until("the new row", async () => (await names(page)).includes("ours-too"));
    await openLive(page, maps);
    await until("the rows of all permitted namespaces", async () => (await names(page)).includes("ours-too"));
    await page.loaded();
    assert.ok(!page.wire.some((text) => text.includes("not-for-anna")), "no object of another namespace is sent");
    assert.equal(await answer(page, `api/v1/object/core/v1/configmaps/${admins}/not-for-anna`), 403);
    await openLive(page, `${maps}?ns=${ns}`);
  });

  await t.test("a share is shown live without a login until its creator revokes it", async (t) => {
    const url = await share(page);
    assert.ok(url.startsWith(`https://${host}/share#`), url);
    secrets.push(new URL(url).hash.slice(1));
    await page.keyboard.press("Escape");
    const guest = await fresh(t);
    await openLink(guest, url);
    secrets.push(...(await guest.context().cookies()).map((c) => c.value));
    await until("the rows of the shared view", async () => (await names(guest)).includes("ours"));
    assert.deepEqual(await names(guest), await names(page));
    await create(`/api/v1/namespaces/${ns}/configmaps`, configMap("ours-later"));
    await until("the new row", async () => (await names(guest)).includes("ours-later"));
    for (const path of ["r/core/v1/pods", `o/core/v1/configmaps/${admins}/not-for-anna`]) {
      assert.ok([403, 404].includes(await answer(guest, path)), path);
    }
    const began = Date.now();
    await Promise.all([ended(t, guest, began), revoke(page)]);
    await page.keyboard.press("Escape");
  });

  await t.test("a share admin sees and revokes another user's link", async (t) => {
    const url = await share(page);
    secrets.push(new URL(url).hash.slice(1));
    await page.keyboard.press("Escape");
    const guest = await fresh(t);
    await openLink(guest, url);
    await until("the rows of the shared view", async () => (await names(guest)).includes("ours"));
    const other = await fresh(t);
    await logIn(other, admin);
    await other.locator("button.share-button:visible").click();
    await other.getByRole("tab", { name: "Links" }).click();
    await until("the creator of the link", async () =>
      (await other.locator(".share-links").innerText()).includes(`by ${anna.name}`),
    );
    const began = Date.now();
    await Promise.all([ended(t, guest, began), revoke(other)]);
  });

  await t.test("a logged-out user sees no more data", async () => {
    const second = await page.context().newPage();
    await openLive(second, `${maps}?ns=${ns}`);
    await page.getByRole("button", { name: "Log out" }).click();
    for (const p of [page, second]) await p.getByLabel("Token").waitFor();
    assert.equal((await page.goto(maps)).status(), 401);
  });

  await t.test("the audit log records all actions, and contains no secret", async () => {
    const lines = () =>
      audit()
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
        .map(({ event, creator, by = "", from }) => ({ event, creator, by, from }));
    const line = (event, by) => ({ event, creator: anna.name, by, from: client });
    await become("the events in the audit log", lines, [
      line("create", anna.name),
      line("open", ""),
      line("revoke", anna.name),
      line("create", anna.name),
      line("open", ""),
      line("revoke", admin.name),
    ]);
    const allLogs = `${audit()}${dashboard.log.join("\n")}${nginx.log()}`;
    assert.deepEqual(
      secrets.filter((s) => allLogs.includes(s)),
      [],
    );
  });
});
