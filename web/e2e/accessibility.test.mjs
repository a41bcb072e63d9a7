// Invariant: I35. axe-core finds no accessibility problem in any view, state or theme. A narrow screen hides no
// information. If the user prefers reduced motion, nothing moves.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { browse, newPage, openLive, tabIds, table } from "./browser.mjs";
import { configMap, create, namespace, patch, read, remove } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { atEnd } from "./cleanup.mjs";
import { made, openLink, share } from "./sharing.mjs";
import { until } from "./wait.mjs";

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const all = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"];
const ofColors = ["color-contrast", "link-in-text-block"];

// Checks a page with axe. In the dark color scheme, it checks only the color rules. The parameter `within` is a CSS
// selector.
async function check(page, what, within = "html") {
  for (const [colorScheme, runOnly] of [
    ["light", { type: "tag", values: all }],
    ["dark", { type: "rule", values: ofColors }],
  ]) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const found = await page.evaluate(
      async ([runOnly, within]) => {
        for (const a of document.getAnimations()) a.finish(); // axe must see the final colors
        const { violations } = await window.axe.run(within === "html" ? document : within, {
          runOnly,
          resultTypes: ["violations"],
          preload: false,
        });
        return violations.map(
          (v) =>
            `${v.id}: ${v.help}: ${v.nodes
              .slice(0, 3)
              .map((n) => `${n.target} ${n.failureSummary}`)
              .join("; ")}`,
        );
      },
      [runOnly, within],
    );
    assert.deepEqual(found, [], `${what}, ${colorScheme}`);
  }
}

// Simulates list states that are hard to produce: the fields of interceptor.state replace those in the server's state
// messages.
async function interceptSocket(page) {
  const interceptor = { state: null, suppress: false, cut: false, ids: new Set() };
  await page.routeWebSocket(/\/api\/v1\/live/, (socket) => {
    if (interceptor.cut) return void socket.close();
    const server = socket.connectToServer();
    interceptor.socket = socket;
    socket.onMessage((text) => {
      for (const m of [JSON.parse(text)].flat())
        if (m.op === "subscribe" && ["rows", "table", "window"].includes(m.view)) interceptor.ids.add(m.id);
      server.send(text);
    });
    server.onMessage((text) => {
      const messages = [JSON.parse(text)]
        .flat()
        .map((m) =>
          !interceptor.ids.has(m.id)
            ? m
            : m.type === "state" && interceptor.state !== null
              ? { ...m, ...interceptor.state }
              : interceptor.suppress
                ? null
                : m,
        )
        .filter((m) => m !== null);
      if (messages.length > 0) socket.send(JSON.stringify(messages));
    });
  });
  interceptor.sendState = (state) => {
    for (const id of interceptor.ids)
      interceptor.socket.send(
        JSON.stringify({ id, type: "state", since: new Date().toISOString(), reason: "", ...state }),
      );
  };
  return interceptor;
}

await test("accessibility (axe)", { timeout: 1_200_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  const maps = `/api/v1/namespaces/${ns}/configmaps`;
  await create(maps, configMap("a", { text: "one\ntwo\nthree" }));
  await create(maps, configMap("b", { text: "one\n2\nthree" }));
  const allow = [/status of 40[0-9]/, /\/api\/v1\/search/, /WebSocket connection/];
  const open = async (t, options = {}) => {
    const page = await newPage(t, browser, { allow, ...options });
    await page.addInitScript({ path: axe });
    return page;
  };
  const pods = `${dashboard.url}r/core/v1/pods`;
  const rows = (page) => until("the rows of the list", async () => (await table(page)).rows.length > 20);
  const list = async (page, address = pods) => {
    await openLive(page, address);
    await rows(page);
  };

  await t.test("a page that was opened before an upgrade", async (t) => {
    const page = await open(t);
    await page.routeWebSocket(/\/api\/v1\/live/, (socket) => {
      const server = socket.connectToServer();
      server.onMessage((text) =>
        socket.send(
          JSON.stringify(
            [JSON.parse(text)].flat().map((m) => (m.type === "resources" ? { ...m, build: "another" } : m)),
          ),
        ),
      );
    });
    await list(page);
    await page.locator("#build").waitFor();
    await check(page, "list that was opened before an upgrade");
  });

  await t.test("a list, its dialogs and popovers", async (t) => {
    const page = await open(t);
    await list(page);
    await check(page, "list");
    for (const [what, keys, there] of [
      ["palette", ["Control+k"], "#palette [role=option]"],
      ["palette with search results", ["Control+k", "p", "o"], "#palette mark"],
      ["palette with few search results", ["Control+k", ..."zqxj zqxj"], "#palette"],
      ["palette after a colon", [":", "q"], ".palette-words"],
      ["help", ["?"], "dialog.help"],
      ["namespaces", ["n"], "#namespace-button-pop .pop-list li"],
      ["columns", ["v"], "#columns-pop .pop-list li"],
      ["export", ["x"], "#export[open]"],
    ]) {
      for (const k of keys) await page.keyboard.press(k);
      await page.locator(there).first().waitFor();
      await check(page, what, what === "palette" ? "html" : there.split(/[ [.]/)[0] || "#palette");
      await page.keyboard.press("Escape");
      await page.locator(there).first().waitFor({ state: "hidden" });
    }
    await page.locator('#picker a[data-ref="core/v1/services"]').hover();
    await page.getByRole("button", { name: "Pin Services" }).click();
    await page.locator('#picker [data-group="Pinned"] a').waitFor();
    await page.locator("#picker-filter").fill("unicorn");
    await check(page, "picker with a pin, and a filter without matches", "#picker");
    await page.locator("#picker-filter").fill("");
    await page.locator("#theme").focus();
    await check(page, "a button that has the focus", "header");
    for (const density of ["compact", "roomy"]) {
      await page.evaluate((d) => {
        document.documentElement.dataset.density = d;
      }, density);
      await check(page, `list, ${density}`, "#main");
    }
    await list(page, `${dashboard.url}r/core/v1/events?cols=wide&sort=-type`);
    await check(page, "a list with all columns, sorted");
  });

  await t.test("the chosen theme overrides the system theme", async (t) => {
    const page = await open(t);
    await list(page);
    for (let i = 0; i < 3; i++) {
      await page.locator("#theme").click();
      await check(page, `theme ${await page.locator("html").getAttribute("data-theme")}`);
    }
  });

  await t.test("an object next to the list, tab by tab", async (t) => {
    const page = await open(t);
    await list(page);
    const tab = (name) => page.getByRole("tab", { name }).click();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.locator('#panel .status[data-state="live"]').waitFor({ state: "attached" });
    await page.locator("#panel .overview").waitFor();
    await check(page, "overview");
    await page.getByRole("button", { name: "Find references" }).click();
    await page.locator(".uses .searched summary").waitFor();
    await check(page, "the references from and to the object");
    await tab("YAML");
    await page.locator("#panel .line").first().waitFor();
    await check(page, "YAML", "#side");
    await page.locator(".yaml.text").focus();
    await page.keyboard.press("/");
    await page.keyboard.type("name");
    await page
      .getByRole("button", { name: "Fold all" })
      .or(page.getByRole("button", { name: "Unfold all" }))
      .click();
    await page.keyboard.press("ArrowDown");
    await check(page, "YAML with a search and folded lines", "#side");
    await tab("Related");
    await page.locator("#panel .card").first().waitFor();
    await page.locator("#panel .card[data-self]").focus();
    await check(page, "the graph of related objects", "#side");
    await page.getByRole("button", { name: "List", exact: true }).click();
    await page.locator("#panel .related-list li").first().waitFor();
    await page.locator("#panel .searched summary").click();
    await check(page, "related objects as a list", "#side");
    await page.getByRole("button", { name: "Graph", exact: true }).click();
    await tab("Logs");
    await page.locator("#panel .log-line").first().waitFor();
    await page.getByLabel("Find in the log").fill("level");
    await page.locator("#panel mark").first().waitFor();
    await page.getByRole("button", { name: "Timestamps" }).click();
    await check(page, "a log", "#side");
    const [where, name] = new URL(page.url()).searchParams.get("open").split("/");
    await tab("Changes");
    await page.locator("#panel .timeline .foot").waitFor();
    await page.locator(".activity-line").click();
    await page.locator(".feed .foot").waitFor();
    await patch(`/api/v1/namespaces/${where}/pods/${name}`, {
      metadata: { labels: { "e2e/scheme": "x" }, annotations: { "e2e/text": `${"long ".repeat(30)}x\u202ey` } },
    });
    await page.locator("#panel .change-entry .field").first().waitFor();
    await check(page, "the changes and the activity");
    await page.locator("#panel").getByRole("button", { name: /side/i }).click();
    await check(page, "changes, side by side", "#side");
    await tab("YAML");
    await page.locator("#panel .line").first().waitFor();
    await patch(`/api/v1/namespaces/${where}/pods/${name}`, { metadata: { annotations: { "e2e/text": "changed" } } });
    await page.locator("#panel .line[data-changed]").first().waitFor();
    await check(page, "YAML with changed lines", "#side");
    await page.locator(".activity-line").click();
    await tab("Events");
    await page.locator("#panel .events li").first().waitFor();
    await check(page, "events", "#side");
    await openLive(page, `${dashboard.url}r/core/v1/nodes`);
    await page.locator("#tbody tr[data-name]").first().locator("td").last().click();
    await page.locator("#panel .conditions tr").first().waitFor();
    await check(page, "a node", "#side");
    await openLive(page, `${dashboard.url}r/core/v1/configmaps?ns=${ns}&open=${ns}/none`);
    await page.locator("#panel", { hasText: /Not found/ }).waitFor();
    await check(page, "an object that does not exist", "#side");
    await create(maps, configMap("to-delete", { a: "b" }));
    await openLive(page, `${dashboard.url}r/core/v1/configmaps?ns=${ns}&open=${ns}/to-delete`);
    await page.locator('#panel .status[data-state="live"]').waitFor({ state: "attached" });
    await remove(`${maps}/to-delete`);
    await page.locator("#panel .status", { hasText: "Deleted" }).waitFor();
    await check(page, "a deleted object", "#side");
    await page.locator("[role=tablist]").getByRole("tab", { name: "Events" }).click();
    await page.locator("#panel .events .note p:visible").first().waitFor();
    await check(page, "no events", "#side");
    await page.getByRole("tab", { name: "Related" }).click();
    await page.locator("#panel :is(.card, .note h2, .related p)").first().waitFor();
    await check(page, "related objects of a deleted object", "#side");
  });

  await t.test("an object's own page, tab by tab", async (t) => {
    const page = await open(t);
    const crashing = (await read("/api/v1/namespaces/shop/pods")).items.find((p) =>
      p.status.containerStatuses?.some((c) => c.state.waiting?.reason === "CrashLoopBackOff"),
    ).metadata.name;
    const there = {
      overview: '.health[data-health="failed"]',
      yaml: ".line",
      changes: ".timeline .foot",
      events: ".events :is(li, .note p):visible",
      related: ".card",
      logs: ":is(.log-line, .logs .note h2)",
    };
    await openLive(page, `${dashboard.url}o/core/v1/pods/shop/${crashing}`);
    for (const tab of await tabIds(page)) {
      await page.goto(`${dashboard.url}o/core/v1/pods/shop/${crashing}?tab=${tab}`);
      await page.locator(`#object ${there[tab]}`).first().waitFor();
      await page.locator('#status[data-state="live"]').waitFor();
      await check(page, `page of a pod, ${tab}`, "#main");
    }
    await create(maps, configMap("to-delete", { a: "b" }));
    await openLive(page, `${dashboard.url}o/core/v1/configmaps/${ns}/to-delete`);
    await remove(`${maps}/to-delete`);
    await page
      .locator("#status", { hasText: "Deleted" })
      .or(page.locator("#object", { hasText: "deleted" }))
      .first()
      .waitFor();
    await check(page, "page of a deleted object");
  });

  await t.test("the states of a list", async (t) => {
    // After a simulated refusal, the page has no rows. If an object then changes, the page requests the rows again.
    const page = await open(t, { allow: [...allow, /a received change does not match the loaded rows/] });
    const interceptor = await interceptSocket(page);
    const state = async (what, state, words) => {
      interceptor.sendState(state);
      await page.locator("#status", { hasText: words }).waitFor();
      await check(page, what);
    };
    await list(page, `${pods}?q=shop`);
    await state(
      "list that is partly forbidden",
      { state: "live", reason: "you cannot list the other namespaces.", namespaces: ["shop"] },
      "Live",
    );
    await state("stale", { state: "stale", reason: "the watch was cut" }, "Stale");
    await state(
      "failed list that has rows",
      { state: "failed", reason: "the conversion webhook is unavailable" },
      "Failed",
    );
    await state(
      "forbidden list that has rows",
      { state: "forbidden", reason: "your permission was revoked" },
      "Forbidden",
    );
    await state("resource that is no longer served", { state: "absent" }, "Not available");
    // While the pointer is over the rows, their order is frozen, so the change below stays pending.
    await openLive(page, `${dashboard.url}r/core/v1/configmaps?ns=${ns}&sort=-data`);
    await page.locator('#tbody tr[data-name="a"] td').first().hover();
    await patch(`${maps}/b`, { data: { more: "x" } });
    await page.locator("#pending-changes").waitFor();
    await check(page, "rows whose order is frozen");
    interceptor.cut = true;
    interceptor.socket.close();
    await page.locator("#status", { hasText: "Connection lost" }).waitFor();
    await check(page, "disconnected");
    interceptor.cut = false;
    interceptor.suppress = true;
    for (const [what, listState, words] of [
      ["loading", { state: "syncing" }, "Loading"],
      ["loading, with a count", { state: "syncing", count: 3400 }, "Loading"],
      ["forbidden", { state: "forbidden", reason: "you cannot list pods" }, "Forbidden"],
      ["failed", { state: "failed", reason: "the conversion webhook is unavailable" }, "Failed"],
      ["resource that is not served", { state: "absent", reason: "" }, "Not available"],
    ]) {
      interceptor.state = listState;
      await page.goto(`${dashboard.url}r/batch/v1/jobs`);
      await page.locator("#status", { hasText: words }).waitFor();
      await check(page, `${what}, on a page with rows in its HTML`);
      await page.goto(`${dashboard.url}r/core/v1/podtemplates`);
      await page.locator("#status", { hasText: words }).waitFor();
      await check(page, what);
    }
    interceptor.suppress = false;
    interceptor.state = null;
    for (const [what, address, words] of [
      ["empty list", "r/core/v1/podtemplates", "No PodTemplates"],
      ["filter without matches", "r/core/v1/pods?q=nothing+has+this", "No Pods match the filter"],
      ["label selector without matches", "r/core/v1/pods?labels=none%3Dnone", "No Pods match the selected namespaces"],
      ["invalid label selector", "r/core/v1/pods?labels=%3D%3D%3D", "selector"],
    ]) {
      await page.goto(dashboard.url + address);
      await page.locator("#note h2", { hasText: words }).waitFor();
      await check(page, what);
    }
  });

  await t.test("other pages", async (t) => {
    const page = await open(t);
    for (const [what, address, there] of [
      ["home", "", '#status[data-state="live"]'],
      ["an unknown resource", "r/example.org/v1/unicorns", ".note h1"],
      ["an unknown page", "nothing/here", ".note h1"],
      ["an invalid object name", "o/core/v1/pods/shop/UPPER%20case", ".note, #object .note"],
      ["the status page", "status", '#status[data-state="live"]'],
      ["comparison without objects", "compare", "#sides"],
      ["comparison with only one object", "compare?a=apps/v1/deployments/shop/checkout", ".others a"],
      [
        "comparison with an object that does not exist",
        "compare?a=apps/v1/deployments/shop/checkout&b=none",
        ".side .note, #difference .note",
      ],
      ["comparison of two objects", "compare?a=apps/v1/deployments/shop/checkout&b=catalog", "#difference[data-live]"],
      [
        "comparison of two objects that differ in one line",
        `compare?a=core/v1/configmaps/${ns}/a&b=b`,
        "#difference[data-live]",
      ],
    ]) {
      await page.goto(dashboard.url + address);
      await page.locator(there).first().waitFor();
      await check(page, what);
    }
    await page
      .locator("#switches")
      .getByRole("button", { name: /inline/i })
      .click();
    await check(page, "inline comparison");
  });

  await t.test("windowed lists, and few permissions", async (t) => {
    const page = await open(t);
    const small = await Dashboard.start(t, { flags: ["--page-rows", "100"] });
    await list(page, `${small.url}r/core/v1/pods`);
    await page.keyboard.press("End");
    await rows(page);
    await check(page, "a windowed list");
    const [anonymous, limited] = [await open(t), await open(t)];
    const servers = [await Dashboard.start(t, { user: "nobody" }), await Dashboard.start(t, { user: "limited" })];
    await anonymous.goto(`${servers[0].url}r/core/v1/pods`);
    await anonymous.locator("#status", { hasText: "Forbidden" }).waitFor();
    await anonymous.locator('#picker a[data-ref="core/v1/pods"][data-hint]').focus();
    await anonymous.getByRole("tooltip").waitFor();
    await check(anonymous, "a forbidden list, with its tooltip");
    await limited.goto(`${servers[1].url}r/core/v1/pods`);
    await limited.locator("#coverage-note", { hasText: "Only" }).waitFor();
    await limited.locator('#status[data-state="live"]').waitFor();
    await check(limited, "a list of only some namespaces");
    await limited.keyboard.press("n");
    await limited.locator("#namespace-button-pop .pop-note").first().waitFor();
    await check(limited, "the namespace chooser without permission to list namespaces");
  });

  await t.test("an unavailable aggregated API is shown in its group only", async (t) => {
    const group = `${ns}.example.com`;
    const [page, plain] = [await open(t), await newPage(t, browser, { javaScriptEnabled: false })];
    await list(page);
    const seen = async (page) => {
      const all = await page.locator("#picker .group").evaluateAll((groups) =>
        groups.map((g) => {
          const { textDecorationLine, fontWeight } = getComputedStyle(g.querySelector("summary"));
          return {
            name: g.dataset.group,
            dead: textDecorationLine === "line-through" && fontWeight === "400",
            why: g.querySelector(".group-problem")?.textContent ?? "",
            kinds: g.querySelectorAll("a").length,
          };
        }),
      );
      // Tests that run at the same time create groups, too.
      return all.filter((g) => g.name === group || !g.name.startsWith("e2e"));
    };
    const before = await seen(page);
    assert.deepEqual(
      before.filter((g) => g.dead || g.why !== ""),
      [],
      "no group is unavailable before the test",
    );
    const services = "/apis/apiregistration.k8s.io/v1/apiservices";
    atEnd(t, () => remove(`${services}/v1.${group}`));
    await create(services, {
      apiVersion: "apiregistration.k8s.io/v1",
      kind: "APIService",
      metadata: { name: `v1.${group}` },
      spec: {
        group,
        version: "v1",
        groupPriorityMinimum: 100,
        versionPriority: 100,
        insecureSkipTLSVerify: true,
        service: { namespace: ns, name: "missing-service" },
      },
    });
    await page.locator(`#picker [data-group="${group}"] .group-problem`).waitFor();
    await plain.goto(pods);
    for (const [how, shown] of [
      ["with script", page],
      ["without script", plain],
    ]) {
      const after = await seen(shown);
      const dead = after.find((g) => g.name === group);
      assert.deepEqual({ ...dead, why: dead?.why !== "" }, { name: group, dead: true, why: true, kinds: 0 }, how);
      assert.deepEqual(
        after.filter((g) => g !== dead),
        before,
        how,
      );
    }
    assert.equal(await page.locator("#status").getAttribute("data-state"), "live");
    await check(page, "an unavailable group");
    await remove(`${services}/v1.${group}`);
    await page.locator(`#picker [data-group="${group}"]`).waitFor({ state: "detached" });
  });

  await t.test("the share dialog and shared pages", async (t) => {
    const [page, guest] = [await open(t, { allow: [...allow, /503.*\/api\/v1\/shares/] }), await open(t)];
    await list(page, `${pods}?open=shop/${(await read("/api/v1/namespaces/shop/pods")).items[0].metadata.name}`);
    await page.locator("#panel .overview").waitFor();
    await page.keyboard.press("L");
    await page.locator(".share-form").waitFor();
    await page.getByLabel("Include logs").check();
    await check(page, "sharing an object");
    await page.locator("input[name=what][value=kinds]").check();
    await page.locator(".share-list li").nth(60).waitFor();
    await check(page, "sharing several kinds", "#sharing");
    await page.setViewportSize({ width: 390, height: 800 });
    await check(page, "sharing several kinds, on a phone", "#sharing");
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.route("**/api/v1/shares", (route) =>
      route.fulfill({
        status: 503,
        contentType: "application/problem+json",
        body: JSON.stringify({ title: "Not now", status: 503, detail: "Try again." }),
      }),
    );
    await page.getByRole("button", { name: "Create link" }).click();
    await page.locator(".share-failed:visible", { hasText: "Not now. Try again." }).waitFor();
    await check(page, "an error while creating a link", "#sharing");
    await page.unroute("**/api/v1/shares");
    await page.locator("input[name=what][value=view]").check();
    await page.getByLabel("Note").fill("for viewers");
    await page.getByRole("button", { name: "Create link" }).click();
    const url = await made(page);
    await page.locator(".qr").waitFor();
    await check(page, "a new link", "#sharing");
    await openLink(guest, url);
    await check(guest, "a shared page");
    await guest.setViewportSize({ width: 390, height: 800 });
    await check(guest, "a shared page, on a phone");
    await guest.setViewportSize({ width: 1440, height: 900 });
    await guest.goto(`${dashboard.url}r/core/v1/nodes`);
    await check(guest, "a page that is not shared");
    await guest.goto(`${dashboard.url}?kiosk=1`);
    await guest.locator('#status[data-state="live"]').waitFor();
    await check(guest, "the shared page in kiosk mode");
    await page.getByRole("tab", { name: "Links" }).click();
    await page.getByRole("button", { name: "Revoke" }).click();
    await check(page, "the list of links, with a prompt to confirm a revocation", "#sharing");
    await page.locator(".share-links button.danger").click();
    await guest.locator("#over").waitFor();
    await check(guest, "a shared page after the link was revoked");
    await check(page, "an empty list of links", "#sharing");
    await guest.goto(url);
    await guest.locator("#ended").waitFor();
    await check(guest, "a revoked link");
    await guest.goto(`${dashboard.url}r/core/v1/pods`);
    await check(guest, "a page that was shared by a revoked link");
    await guest.getByRole("button", { name: "Remove link from this browser" }).click();
    await guest.locator("[data-page=left]").waitFor();
    await check(guest, "the page after the guest removed the link");
    await page.keyboard.press("Escape");
    const one = await share(page);
    await openLink(guest, one);
    await guest.locator("#object .overview").waitFor();
    await check(guest, "a shared object");
    await guest.goto(`${guest.url()}?kiosk=1`);
    await guest.locator("#object .overview").waitFor();
    await check(guest, "a shared object in kiosk mode");
  });

  await t.test("on a phone", async (t) => {
    const page = await open(t, { viewport: { width: 390, height: 800 } });
    const name = (await read("/api/v1/namespaces/shop/pods")).items[0].metadata.name;
    await list(page);
    await check(page, "list on a phone");
    await page.locator("button.kinds").click();
    await page.locator("#picker").waitFor();
    await check(page, "picker on a phone", "#picker");
    await page.keyboard.press("Escape");
    await page.locator("#namespace-button").click();
    await page.locator("#namespace-button-pop .pop-list li").first().waitFor();
    await check(page, "namespaces on a phone", "#namespace-button-pop");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.locator("#palette [role=option]").first().waitFor();
    await check(page, "palette on a phone", "#palette");
    const there = {
      overview: ".overview",
      yaml: ".line",
      changes: ".timeline .foot",
      events: ".events :is(li, .note p):visible",
      related: ":is(.card, .related-list li)",
      logs: ".log-line",
    };
    await openLive(page, `${pods}?open=shop/${name}`);
    for (const tab of await tabIds(page)) {
      await page.goto(`${pods}?open=shop/${name}&tab=${tab}`);
      await page.locator(`#panel ${there[tab]}`).first().waitFor();
      await check(page, `${tab} on a phone`, "#side");
    }
    for (const [address, there] of [
      [`o/core/v1/pods/shop/${name}`, "#object .overview"],
      ["status", "#scopes tr"],
      ["compare?a=apps/v1/deployments/shop/checkout&b=catalog", "#difference[data-live]"],
      ["r/core/v1/pods?q=nothing+has+this", "#note h2"],
      ["nothing/here", ".note h1"],
    ]) {
      await page.goto(dashboard.url + address);
      await page.locator(there).first().waitFor();
      await check(page, `${address} on a phone`);
    }
  });

  await t.test("the selection is visible with forced colors", async (t) => {
    const page = await newPage(t, browser, { forcedColors: "active" });
    await openLive(page, `${dashboard.url}r/core/v1/configmaps?ns=${ns}&open=${ns}/a`);
    await page.locator("#panel .overview").waitFor();
    const styleOf = (selector) =>
      page
        .locator(selector)
        .first()
        .evaluate((e) =>
          [e, ...e.children]
            .map((e) => {
              const s = getComputedStyle(e);
              return `${s.backgroundColor} ${s.color} ${s.borderBottomColor}`;
            })
            .join(),
        );
    const differ = async (chosen, other) => {
      await page.locator(other).first().waitFor();
      assert.notEqual(await styleOf(chosen), await styleOf(other), chosen);
    };
    await differ('#tbody tr[aria-selected="true"]', "#tbody tr[data-name]:not([aria-selected])");
    await differ('#panel [role="tab"][aria-selected="true"]', '#panel [role="tab"][aria-selected="false"]');
    await page.keyboard.press("Control+k");
    await page.locator("#palette [role=option]").nth(1).waitFor();
    await page.keyboard.press("ArrowDown");
    await differ('#palette [role="option"][aria-selected="true"]', '#palette [role="option"][aria-selected="false"]');
  });

  // axe needs JavaScript, so disable only the scripts of the page.
  await t.test("without the script of the page", async (t) => {
    const page = await open(t);
    await page.route(/\/static\/.*\.js/, (route) => route.fulfill({ contentType: "text/javascript", body: "" }));
    for (const address of [
      "r/core/v1/pods",
      "r/core/v1/pods?from=100&sort=-name",
      "r/core/v1/pods?q=nothing+has+this",
      `o/core/v1/configmaps/${ns}/a`,
      `compare?a=core/v1/configmaps/${ns}/a&b=b`,
      "status",
      "nothing/here",
      "r/core/v1/pods?labels=%3D%3D%3D",
    ]) {
      await page.goto(dashboard.url + address);
      await check(page, `${address} without script`);
    }
  });
});
