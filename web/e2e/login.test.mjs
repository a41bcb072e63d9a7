// Invariant: I29.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { browse, newPage, openLive, table } from "./browser.mjs";
import { create, namespace, remove } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { atEnd } from "./cleanup.mjs";
import { become, until } from "./wait.mjs";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"];

await test("login", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t, { flags: ["--auth", "token", "--log-level", "debug"] });
  const ns = await namespace(t);
  const accounts = `/api/v1/namespaces/${ns}/serviceaccounts`;
  const bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
  const allow = [/status of 401/, /WebSocket connection/];
  const secrets = [];
  const account = async (name) => {
    await create(accounts, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name } });
    const binding = `${ns}-${name}`;
    await create(bindings, {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: binding },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      subjects: [{ kind: "ServiceAccount", name, namespace: ns }],
    });
    atEnd(t, () => remove(`${bindings}/${binding}`));
    const { status } = await create(`${accounts}/${name}/token`, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { expirationSeconds: 3600 },
    });
    secrets.push(status.token);
    return status.token;
  };
  const pods = `${dashboard.url}r/core/v1/pods?ns=kube-system`;
  const logIn = async (page, token) => {
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Log in" }).click();
  };
  const session = async (page) => (await page.context().cookies()).find((c) => c.name.startsWith("glasshouse-session"));

  await t.test("opens the requested page, and logs out", async (t) => {
    const token = await account("anna");
    const page = await newPage(t, browser, { allow });
    assert.equal((await page.goto(pods)).status(), 401);
    assert.doesNotMatch(await page.content(), /coredns|kube-root|<script/);
    await logIn(page, "no-token");
    await page.getByRole("alert").waitFor();
    assert.match(await page.getByRole("alert").innerText(), /does not accept the token/);
    await logIn(page, token);
    await page.waitForURL(pods);
    await page.locator('#status[data-state="live"]').waitFor();
    await until("the rows after the login", async () => (await table(page)).rows.length > 0);
    const cookie = await session(page);
    secrets.push(cookie.value);
    assert.deepEqual(
      [cookie.httpOnly, cookie.sameSite, cookie.path, cookie.value.includes(token)],
      [true, "Strict", "/", false],
    );
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByLabel("Token").waitFor();
    assert.equal(await session(page), undefined);
    assert.equal((await page.goto(pods)).status(), 401);
  });

  await t.test("a deleted account is sent to the login, and its page shows no more data", async (t) => {
    const token = await account("bob");
    const page = await newPage(t, browser, { allow });
    await page.goto(pods);
    await logIn(page, token);
    await page.locator('#status[data-state="live"]').waitFor();
    const other = await page.context().newPage();
    await openLive(other, `${dashboard.url}r/core/v1/configmaps`);
    await remove(`${accounts}/bob`);
    const began = Date.now();
    for (const p of [page, other]) await p.getByLabel("Token").waitFor({ timeout: 45_000 });
    t.diagnostic(`the pages of a deleted account showed the login after ${Date.now() - began} ms`);
    assert.equal(page.url(), pods, "the URL is unchanged, so that the login returns to it");
  });

  await t.test("works without script, and passes axe", async (t) => {
    const token = await account("carl");
    const plain = await newPage(t, browser, { allow, javaScriptEnabled: false });
    await plain.goto(pods);
    await logIn(plain, token);
    await until(
      "the rows after the login",
      async () => (await plain.goto(pods)) && (await plain.locator("#tbody tr").count()) > 0,
    );
    await plain.getByRole("button", { name: "Log out" }).click();
    await plain.getByLabel("Token").waitFor();

    const page = await newPage(t, browser, { allow });
    await page.addInitScript({ path: axe });
    for (const [colorScheme, width] of [
      ["light", 1440],
      ["dark", 390],
    ]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 844 });
      await page.goto(pods);
      await logIn(page, "no-token");
      await page.getByRole("alert").waitFor();
      const found = await page.evaluate(
        async (values) =>
          (await window.axe.run(document, { runOnly: { type: "tag", values } })).violations.map(
            (v) => `${v.id}: ${v.help}`,
          ),
        tags,
      );
      assert.deepEqual(found, [], `the login in ${colorScheme}`);
      assert.ok(
        await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
        "the page does not scroll sideways",
      );
    }
  });

  await t.test("a link from another site opens pages, but cross-site requests are rejected", async (t) => {
    const token = await account("dora");
    const context = await browser.newContext(); // not newPage, because newPage forbids requests to other hosts
    t.after(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    await page.goto(pods);
    await logIn(page, token);
    await page.locator('#status[data-state="live"]').waitFor();
    // For the browser, localhost and 127.0.0.1 are different sites.
    const elsewhere = dashboard.url.replace("127.0.0.1", "localhost");
    await page.route(`${elsewhere}elsewhere`, (route) =>
      route.fulfill({
        contentType: "text/html",
        body: `<a href="${pods}">in</a><form method="post" action="${dashboard.url}logout"><button>out</button></form>`,
      }),
    );
    await page.goto(`${elsewhere}elsewhere`);
    await page.getByText("in").click();
    await page.locator('#status[data-state="live"]').waitFor();
    await page.goto(`${elsewhere}elsewhere`);
    const answer = page.waitForResponse((r) => r.url().endsWith("/logout"));
    await page.getByText("out").click();
    assert.equal((await answer).status(), 403);
    assert.equal((await page.goto(pods)).status(), 200, "the user is still logged in");
    await become("the presence of the session cookie", async () => (await session(page)) !== undefined, true);
  });

  assert.deepEqual(
    secrets.filter((s) => dashboard.log.join("\n").includes(s)),
    [],
    "the log contains no secret",
  );
});
