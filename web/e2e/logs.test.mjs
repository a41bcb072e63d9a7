// All containers of the demo cluster have the same log file.
//
// Invariant: I28.
import assert from "node:assert/strict";
import { appendFileSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { browse, newPage, openLive, row } from "./browser.mjs";
import { create, kubeconfig, namespace, remove } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { gate } from "./api-server-gate.mjs";
import { become, until } from "./wait.mjs";

const file = join(dirname(kubeconfig()), "pod-logs", "current.log");
const write = (...lines) =>
  appendFileSync(file, lines.map((l) => `${new Date().toISOString()} stdout F ${l}\n`).join(""));
const pod = (name, more = {}) => ({
  metadata: { name },
  spec: {
    initContainers: [{ name: "init", image: "registry.example.com/e2e:1" }],
    containers: [
      { name: "main", image: "registry.example.com/e2e:1" },
      { name: "side", image: "registry.example.com/e2e:1" },
    ],
    ...more,
  },
});

await test("logs", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  const pods = `/api/v1/namespaces/${ns}/pods`;
  await create(pods, pod("talker"));
  await create(pods, pod("pending", { nodeSelector: { "no-such": "node" } }));
  const logs = (page) => page.locator(".logs");
  const texts = (page) => page.locator(".log-line").allTextContents();
  const foot = (page) => page.locator(".log-foot .status").innerText();
  const open = async (t, name, options) => {
    const page = await newPage(t, browser, options);
    await page.goto(`${dashboard.url}o/core/v1/pods/${ns}/${name}?tab=logs`);
    await logs(page).waitFor();
    return page;
  };
  await until(
    "the pod to run",
    async () => (await fetch(`${dashboard.url}api/v1/logs/${ns}/talker?container=main&tail=1`)).ok,
  );

  await t.test("open with the key l, and arrive line by line", async (t) => {
    const page = await newPage(t, browser);
    await openLive(page, `${dashboard.url}r/core/v1/pods?ns=${ns}`);
    await until("the row of the pod", () => row(page, "talker"));
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await page.keyboard.press("l");
    await logs(page).waitFor();
    assert.equal(new URL(page.url()).searchParams.get("tab"), "logs");
    assert.equal(new URL(page.url()).searchParams.get("open"), `${ns}/talker`);
    assert.deepEqual(
      (await page.getByLabel("Container").locator("option").allTextContents()).map((o) => o.split(" – ")[0]),
      ["main", "side", "init (init)"],
    );
    await become("the status of the log", () => foot(page), "Following");
    write("a line größe <b>bold</b> €", "level=error it broke");
    await until("the written line", async () => (await texts(page)).includes("a line größe <b>bold</b> €"));
    assert.equal(
      await page.locator('.log-line[data-level="bad"]', { hasText: "it broke" }).locator(".level").innerText(),
      "error",
    );
    assert.equal(await page.locator(".log-line b").count(), 0, "markup in a log is shown as text");
    await page.locator("#panel .close").click();
    await until("the log to close", async () => (await page.locator(".logs").count()) === 0);
  });

  await t.test("can be searched, timestamped, wrapped, copied and downloaded", async (t) => {
    const page = await open(t, "talker", { allow: [/^download/], permissions: ["clipboard-read", "clipboard-write"] });
    page.removeAllListeners("download");
    const height = await page.locator(".log-bar").evaluate((e) => e.clientHeight);
    assert.ok(height < 40, `the toolbar has one row, and not ${height} px`);
    write("needle one Needle", "hay", "NEEDLE two");
    await until("the written lines", async () => (await texts(page)).includes("NEEDLE two"));
    await page.locator(".log-screen").focus();
    await page.keyboard.press("/");
    await page.keyboard.type("needle");
    await until("the number of matches", async () => /^\d of 3$/.test(await page.locator(".found").innerText()));
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await until("the last match", async () => {
      const isLast = (await page.locator(".found").innerText()) === "3 of 3";
      if (!isLast) await page.keyboard.press("Enter");
      return isLast;
    });
    assert.equal(await page.locator("mark[data-current]").innerText(), "NEEDLE");
    assert.ok((await page.locator("mark").count()) >= 3);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("mark").count(), 0);
    await page.getByRole("button", { name: "Timestamps" }).click();
    await until("the timestamps", async () =>
      (await texts(page)).some((l) => /^\d\d:\d\d:\d\d\.\d{3} NEEDLE two$/.test(l)),
    );
    await page.getByRole("button", { name: "Wrap" }).click();
    await page.locator(".log-bar").getByRole("button", { name: "Copy" }).click();
    const copied = await until("the copied text", () => page.evaluate(() => navigator.clipboard.readText()));
    assert.match(copied, /\d{4}-\d\d-\d\dT[\d:.]+Z needle one Needle\n/);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download" }).click(),
    ]);
    assert.equal(download.suggestedFilename(), "talker-main.log");
    assert.match(readFileSync(await download.path(), "utf8"), /NEEDLE two\n/);
  });

  await t.test("can be filtered by a text and by the level, and the filter applies to new lines", async (t) => {
    const page = await open(t, "talker");
    write("level=error filter test one", "level=info filter test two", "plain filter test three");
    await until("the written lines", async () => (await texts(page)).join().includes("filter test three"));
    const filter = page.getByLabel("Show only lines with this text");
    const level = page.getByLabel("Level", { exact: true });
    const shown = async () => (await texts(page)).map((text) => text.trim());
    await filter.fill("FILTER TEST");
    await become("the number of filtered lines", async () => (await shown()).length, 3);
    assert.match(await page.locator(".log-filter .filtered").innerText(), /^3 of [\d,]+ lines$/);
    await level.selectOption({ label: "Errors" });
    await become("the lines with level error", async () => (await shown()).join("; "), "level=error filter test one");
    write("level=error other", "level=warn filter test four", "level=error filter test five");
    await become("the number of lines with level error", async () => (await shown()).length, 2);
    assert.equal(new URL(page.url()).searchParams.get("filter"), "is:error FILTER TEST");
    await page.reload();
    await become("the filter after a reload", () => filter.inputValue(), "FILTER TEST");
    await until("the filtered lines after a reload", async () => (await shown()).join().includes("filter test five"));
    assert.doesNotMatch((await shown()).join(), /other|four/);
    await level.selectOption({ label: "All lines with a level" });
    await become("the number of lines of all levels", async () => (await shown()).length, 4);
    await page.getByLabel("Find in the log").fill("five");
    await become("the text of the match", () => page.locator(".log-line mark").allInnerTexts().then(String), "five");
    await filter.press("Escape");
    await level.selectOption({ label: "All levels" });
    await until("the lines without a filter", async () => (await texts(page)).join().includes("level=error other"));
    assert.equal(await page.locator(".log-filter .filtered").innerText(), "");
  });

  await t.test("many lines use bounded memory, and the scroll position is kept", async (t) => {
    const page = await open(t, "talker");
    await become("the status of the log", () => foot(page), "Following");
    write("the first of many");
    await until("the first line", async () => (await texts(page)).includes("the first of many"));
    for (let n = 0; n < 25; n++) write(...Array.from({ length: 1000 }, (_, i) => `flood ${n * 1000 + i}`));
    await until("the last line", async () => (await texts(page)).includes("flood 24999"));
    await until("the log to report its limit", async () =>
      (await page.locator(".log-size").innerText()).startsWith("Showing the latest 20,000 lines ("),
    );
    assert.ok((await page.locator(".log-line").count()) < 150, "only visible lines have elements");
    // A smooth scroll starts with a move of 1 or 2 pixels. Even after this move, the page must not follow new lines.
    await page.locator(".log-screen").hover();
    await page.mouse.wheel(0, -2);
    await page.locator(".log-below").waitFor();
    await page.locator(".log-screen").focus();
    await page.keyboard.press("PageUp");
    const seen = (await texts(page)).filter((l) => l.startsWith("flood "))[30];
    write("below 1", "below 2");
    await until(
      "the number of new lines below",
      async () =>
        Number(/^([\d,]+) new lines? below/.exec(await page.locator(".log-below").innerText())?.[1] ?? 0) >= 2,
    );
    assert.ok((await texts(page)).includes(seen), "the log has not scrolled");
    await page.locator(".log-below").click();
    await until("the newest line", async () => (await texts(page)).includes("below 2"));
    await page.locator(".log-below").waitFor({ state: "hidden" });
  });

  await t.test("following can stop and resume", async (t) => {
    const page = await open(t, "talker");
    await become("the status of the log", () => foot(page), "Following");
    await page.getByRole("button", { name: "Follow" }).click();
    await until("the status to be paused", async () => /^Not following since \d\d:\d\d:\d\d$/.test(await foot(page)));
    write("while paused");
    await page.getByRole("button", { name: "Follow" }).click();
    await until("the line that was written while paused", async () => (await texts(page)).includes("while paused"));
    assert.equal((await texts(page)).filter((l) => l === "while paused").length, 1);
  });

  await t.test("an unreachable server is reported, and reconnected", async (t) => {
    const own = await Dashboard.start(t);
    const page = await newPage(t, browser, { allow: [/WebSocket|ERR_|Failed to load/] });
    await page.goto(`${own.url}o/core/v1/pods/${ns}/talker?tab=logs`);
    await become("the status of the log", () => foot(page), "Following");
    write("before the outage");
    await until("the written line", async () => (await texts(page)).includes("before the outage"));
    await own.stop();
    await until("the status to report the lost connection", async () =>
      /^Connection lost at \d\d:\d\d:\d\d\. Reconnecting…$/.test(await foot(page)),
    );
    write("meanwhile");
    await own.run("admin", own.port);
    await page
      .getByRole("button", { name: "Retry now" })
      .click()
      .catch(() => {});
    await until(
      "the line that was written during the outage",
      async () => (await texts(page)).includes("meanwhile"),
      30_000,
    );
    assert.equal((await texts(page)).filter((l) => l === "before the outage").length, 1);
    await become("the status of the log", () => foot(page), "Following");
  });

  await t.test("visible lines stay visible after a resize", async (t) => {
    const page = await open(t, "talker");
    write("visible line");
    await until("the written line", async () => (await texts(page)).includes("visible line"));
    const painted = await page.evaluate(async () => {
      const seen = [];
      for (let n = 1; n <= 12; n++) {
        // Move the log down, as a banner above it would. The visible line must not disappear.
        if (n % 3 === 0) document.querySelector(".logs").style.paddingTop = `${n}px`;
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
        seen.push([...document.querySelectorAll(".log-line")].some((e) => e.textContent.includes("visible line")));
      }
      return seen;
    });
    assert.ok(painted.every(Boolean), `the line is visible in each frame: ${painted}`);
  });

  await t.test("for a deleted pod, the footer reports which output was not read", async (t) => {
    await create(pods, pod("brief"));
    await until(
      "the log of the pod to be available",
      async () => (await fetch(`${dashboard.url}api/v1/logs/${ns}/brief?container=main&tail=1`)).ok,
    );
    const own = await Dashboard.start(t);
    const page = await newPage(t, browser, { allow: [/WebSocket|ERR_|Failed to load/] });
    await page.goto(`${own.url}o/core/v1/pods/${ns}/brief?tab=logs`);
    await become("the status of the log", () => foot(page), "Following");
    write("before it was deleted");
    await until("the written line", async () => (await texts(page)).includes("before it was deleted"));
    await own.stop();
    await until("the status to report the lost connection", async () => /^Connection lost at/.test(await foot(page)));
    await remove(`${pods}/brief`);
    await until(
      "the pod to be deleted",
      async () => (await fetch(`${dashboard.url}api/v1/object/core/v1/pods/${ns}/brief`)).status === 404,
    );
    await own.run("admin", own.port);
    await page
      .getByRole("button", { name: "Retry now" })
      .click()
      .catch(() => {});
    await until(
      "the footer to report the deleted pod",
      async () => /^Pod deleted; no output read after \d\d:\d\d:\d\d$/.test(await foot(page)),
      30_000,
    );
    assert.ok((await texts(page)).includes("before it was deleted"), "the lines that were already read are kept");
  });

  await t.test("an API server outage is not reported as a lost connection to Glasshouse", async (t) => {
    const link = await gate(t);
    const own = await Dashboard.start(t, { flags: link.flags });
    const page = await newPage(t, browser);
    await page.goto(`${own.url}o/core/v1/pods/${ns}/talker?tab=logs`);
    await become("the status of the log", () => foot(page), "Following");
    write("before the cut");
    await until("the written line", async () => (await texts(page)).includes("before the cut"));
    link.cut();
    await until("the status to report the interrupted log", async () =>
      /^The API server (interrupted the log|does not respond); no output received since [\d:]{8}\. Retrying…$/.test(
        await foot(page),
      ),
    );
    await until("the second attempt to fail", async () => /^The API server does not respond;/.test(await foot(page)));
    write("during the outage");
    link.down = false;
    await until(
      "the line that was written during the outage",
      async () => (await texts(page)).includes("during the outage"),
      30_000,
    );
    assert.equal((await texts(page)).filter((l) => l === "before the cut").length, 1);
    await become("the status of the log", () => foot(page), "Following");
  });

  await t.test("the container is in the URL, and follows back and forward", async (t) => {
    const reads = (page) => page.locator(".log-screen").getAttribute("aria-label");
    const named = (page) => new URL(page.url()).searchParams.get("container");
    for (const at of [`o/core/v1/pods/${ns}/talker?`, `r/core/v1/pods?ns=${ns}&open=${ns}/talker&`]) {
      const page = await newPage(t, browser);
      await page.goto(`${dashboard.url}${at}tab=logs&container=side`);
      await become("the accessible name of the log", () => reads(page), "Log of side");
      await become("the status of the log", () => foot(page), "Following");
      await page.getByLabel("Container").selectOption("main");
      await become("the accessible name of the log", () => reads(page), "Log of main");
      assert.equal(named(page), "main");
      await page.goBack();
      await become("the accessible name of the log", () => reads(page), "Log of side");
      assert.equal(named(page), "side");
      await page.goForward();
      await become("the accessible name of the log", () => reads(page), "Log of main");
      await page.getByRole("tab", { name: "YAML" }).click();
      await page.locator(".line").first().waitFor();
      assert.equal(named(page), null);
      await page.getByRole("tab", { name: "Logs" }).click();
      await become("the accessible name of the log", () => reads(page), "Log of main");
      assert.equal(named(page), "main");
      await page.goto(`${dashboard.url}${at}tab=logs&container=nope`);
      await page.locator(".logs .banner", { hasText: "Container nope not found. Showing the log of main." }).waitFor();
      await become("the status of the log", () => foot(page), "Following");
    }
  });

  await t.test("many browser tabs follow logs without blocking other pages", async (t) => {
    const first = await open(t, "talker");
    const tabs = [first];
    for (let n = 1; n < 7; n++) tabs.push(await first.context().newPage());
    await Promise.all(tabs.slice(1).map((page) => page.goto(first.url())));
    for (const page of tabs) await become("the status of the log", () => foot(page), "Following");
    const other = await first.context().newPage();
    await openLive(other, `${dashboard.url}r/core/v1/pods?ns=${ns}`);
    await until("the row of the pod", () => row(other, "talker"));
    write("to all of them");
    for (const page of tabs)
      await until("the written line", async () => (await texts(page)).includes("to all of them"));
  });

  await t.test("an unscheduled pod, a deleted pod and a missing permission are explained", async (t) => {
    const unscheduled = await open(t, "pending");
    await unscheduled.locator(".logs .note h2", { hasText: "The pod is not scheduled yet" }).waitFor();

    await create(pods, pod("to-delete"));
    await until(
      "the log of the pod to be available",
      async () => (await fetch(`${dashboard.url}api/v1/logs/${ns}/to-delete?container=main&tail=1`)).ok,
    );
    const deletedPodPage = await open(t, "to-delete");
    await until("the lines of the log", async () => (await texts(deletedPodPage)).length > 0);
    await remove(`${pods}/to-delete`);
    await deletedPodPage.locator("#status", { hasText: "Deleted" }).waitFor();
    await until("the lines of the deleted pod to be kept", async () => (await texts(deletedPodPage)).length > 0);

    await create(`/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles`, {
      metadata: { name: "pods" },
      rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "watch"] }],
    });
    await create(`/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/rolebindings`, {
      metadata: { name: "pods" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "pods" },
      subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "nobody" }],
    });
    const own = await Dashboard.start(t, { user: "nobody" });
    const page = await newPage(t, browser);
    await until(
      "the permission to read the pod",
      async () => (await fetch(`${own.url}api/v1/object/core/v1/pods/${ns}/talker`)).ok,
    );
    await page.goto(`${own.url}o/core/v1/pods/${ns}/talker?tab=logs`);
    await page.locator(".logs .note h2", { hasText: "Forbidden: you cannot read this log" }).waitFor();
    assert.match(
      await page.locator(".logs .note").innerText(),
      new RegExp(`permission to get pods/log in namespace ${ns}`),
    );
  });
});
