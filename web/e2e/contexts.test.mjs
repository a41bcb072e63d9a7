// The kubeconfig has four contexts. Two belong to demo users. In the third, the credential plugin fails. In the fourth,
// the API server is unreachable.
//
// Invariant: I24.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { load } from "js-yaml";
import { browse, newPage, openLive, table } from "./browser.mjs";
import { kubeconfig } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { atEnd } from "./cleanup.mjs";
import { become, until } from "./wait.mjs";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"];

/** Writes a kubeconfig with four contexts, of which of-admin is the current one. */
function merged(t) {
  const folder = mkdtempSync(join(tmpdir(), "glasshouse-contexts-"));
  atEnd(t, () => rmSync(folder, { recursive: true }));
  const all = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "of-admin",
    clusters: [],
    users: [],
    contexts: [],
  };
  const add = (name, cluster, user, namespace) => {
    all.clusters.push({ name, cluster });
    all.users.push({ name, user });
    all.contexts.push({ name, context: { cluster: name, user: name, namespace } });
  };
  for (const who of ["admin", "limited"]) {
    const config = load(readFileSync(kubeconfig(who), "utf8"));
    const { context } = config.contexts.find((c) => c.name === config["current-context"]);
    add(
      `of-${who}`,
      config.clusters.find((c) => c.name === context.cluster).cluster,
      config.users.find((u) => u.name === context.user).user,
      context.namespace,
    );
  }
  add("without-credentials", { server: "https://127.0.0.1:1" }, {});
  add(
    "broken-plugin",
    { server: "https://127.0.0.1:1" },
    { exec: { apiVersion: "client.authentication.k8s.io/v1", command: "false", interactiveMode: "Never" } },
  );
  const file = join(folder, "config");
  writeFileSync(file, JSON.stringify(all), { mode: 0o600 });
  return file;
}

await test("contexts", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t, { config: merged(t) });
  const allow = [/status of 50[23]/, /WebSocket connection/];
  const pods = `${dashboard.url}r/core/v1/pods`;
  const name = (page) => page.locator("#cluster").innerText();
  const choose = async (page, context) => {
    await page.locator("#cluster").click();
    await page.locator("#cluster-pop button", { hasText: context }).first().click();
  };
  const check = async (page, what) => {
    // During a transition, colors have a lower contrast.
    await page.evaluate(async () => {
      const ending = document.getAnimations().filter((a) => a.effect.getComputedTiming().iterations !== Infinity);
      await Promise.allSettled(ending.map((a) => a.finished));
    });
    const found = await page.evaluate(
      async (values) =>
        (await window.axe.run(document, { runOnly: { type: "tag", values } })).violations.map(
          (v) => `${v.id}: ${v.help}`,
        ),
      tags,
    );
    assert.deepEqual(found, [], what);
  };
  const liveAs = async (page, context) => {
    await become("the shown name of the context", () => name(page), context);
    await page.locator('#status[data-state="live"]').waitFor();
  };

  await t.test("a click switches all tabs, and removes the previous cluster's data", async (t) => {
    const page = await newPage(t, browser, { allow });
    await openLive(page, `${pods}?ns=kube-system&q=a`);
    const other = await page.context().newPage();
    await openLive(other, `${dashboard.url}r/apps/v1/deployments`);
    const covered = await page.context().newPage();
    await covered.goto(`${dashboard.url}status`);
    await page.locator("#cluster").click();
    await become("the list of contexts", () => page.locator("#cluster-pop button .name").allInnerTexts(), [
      "broken-plugin",
      "of-admin",
      "of-limited",
      "without-credentials",
    ]);
    assert.equal(
      await page
        .locator("#cluster-pop button[aria-current]")
        .innerText()
        .then((s) => s.split("\n")[0]),
      "of-admin",
    );
    await page.locator("#cluster-pop button", { hasText: "of-limited" }).first().click();
    for (const p of [page, other, covered]) {
      await liveAs(p, "of-limited");
      assert.equal(p.url(), `${dashboard.url}ns/shop`, "the first page shows the namespace of the context");
      await p.getByRole("heading", { name: "shop", exact: true }).waitFor();
    }
    await page.goBack();
    // "Back" leads to an address that was opened in the previous context. The page must keep the new context.
    await become("the shown name of the context", () => name(page), "of-limited");
    await page.getByText("Forbidden: you cannot list Pods").waitFor();
    assert.deepEqual((await table(page)).rows, []);
  });

  await t.test("contexts can be chosen by typing, in the list and after :ctx", async (t) => {
    const page = await newPage(t, browser, { allow });
    await openLive(page, pods);
    await page.keyboard.press("C");
    await page.locator("#cluster-pop input").waitFor();
    await page.keyboard.type("admin");
    await become("the list of matching contexts", () => page.locator("#cluster-pop button .name").allInnerTexts(), [
      "of-admin",
    ]);
    await page.keyboard.press("Enter");
    await liveAs(page, "of-admin");
    await page.keyboard.type(":");
    await page.locator("#palette-box").waitFor();
    await page.keyboard.type("ctx limi");
    await become("the list of matching contexts", () => page.locator("#palette-list .label").allInnerTexts(), [
      "of-limited",
    ]);
    await page.keyboard.press("Enter");
    await liveAs(page, "of-limited");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("of-adm");
    await page.getByRole("group", { name: "Contexts" }).getByRole("option", { name: "of-admin" }).click();
    await liveAs(page, "of-admin");
  });

  await t.test("a context that fails to open is reported, and the active one stays", async (t) => {
    const page = await newPage(t, browser, { allow });
    await openLive(page, pods);
    await choose(page, "broken-plugin");
    const note = page.locator("#cluster-pop [role=status]");
    await until("the reason why the context did not open", async () =>
      /^The context of-admin stays active: .*executable false failed/.test(await note.innerText()),
    );
    await page.keyboard.press("Escape");
    await liveAs(page, "of-admin");
    await page.keyboard.type(":ctx broken");
    await page.keyboard.press("Enter");
    await page.locator("#cluster-pop").waitFor();
  });

  await t.test("an unreachable context is reported, and can be switched away from", async (t) => {
    const page = await newPage(t, browser, { allow });
    await openLive(page, pods);
    await choose(page, "without-credentials");
    await page.getByRole("heading", { name: "The API server does not respond" }).waitFor();
    assert.equal(await name(page), "without-credentials");
    await page.locator("#cluster").click();
    await page.waitForURL(`${dashboard.url}contexts`);
    await page.getByRole("button", { name: "of-limited" }).click();
    await liveAs(page, "of-limited");
    await choose(page, "of-admin");
    await liveAs(page, "of-admin");
  });

  await t.test("work without script, and pass axe", async (t) => {
    const plain = await newPage(t, browser, { allow, javaScriptEnabled: false });
    await plain.goto(pods);
    await plain.locator("#cluster").click();
    await plain.getByRole("button", { name: "of-limited" }).click();
    await plain.waitForURL(`${dashboard.url}ns/shop`);
    assert.equal(await name(plain), "of-limited");
    await plain.goto(`${dashboard.url}contexts`);
    await plain.getByRole("button", { name: "broken-plugin" }).click();
    assert.match(await plain.getByRole("alert").innerText(), /of-limited stays active/);
    await plain.getByRole("button", { name: "of-admin" }).click();
    await plain.waitForURL(dashboard.url);

    const page = await newPage(t, browser, { allow });
    await page.addInitScript({ path: axe });
    for (const [colorScheme, width] of [
      ["light", 1440],
      ["dark", 390],
    ]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 844 });
      await page.goto(`${dashboard.url}contexts`);
      await page.getByRole("button", { name: "without-credentials" }).waitFor();
      await check(page, `the contexts in ${colorScheme}`);
      assert.ok(
        await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
        "the page does not scroll sideways",
      );
      await openLive(page, pods);
      if (width < 800) {
        await page.getByRole("button", { name: "Menu" }).click();
        await page.getByRole("link", { name: "Contexts" }).click();
        await page.waitForURL(`${dashboard.url}contexts`);
        continue;
      }
      await page.locator("#cluster").click();
      await page.locator("#cluster-pop button").first().waitFor();
      await check(page, `the list of contexts in ${colorScheme}`);
    }
  });
});
