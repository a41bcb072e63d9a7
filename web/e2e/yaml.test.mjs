// Invariant: I36.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { browse, longest, newPage } from "./browser.mjs";
import { configMap, create, kubeconfig, namespace, patch, read } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { become, until } from "./wait.mjs";

const freeze = 300; // maximum CPU time of one task, in ms

await test("YAML", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  const where = `/api/v1/namespaces/${ns}/configmaps`;

  const open = async (t, name, last, options = {}) => {
    const page = await newPage(t, browser, { permissions: ["clipboard-read", "clipboard-write"], ...options });
    await page.goto(`${dashboard.url}o/core/v1/configmaps/${ns}/${name}?tab=yaml`);
    await page.locator('#status[data-state="live"]').waitFor();
    await until("the complete YAML", async () => (await text(page)).includes(last));
    return page;
  };
  const text = (page) =>
    page.evaluate(() =>
      [...document.querySelectorAll(".yaml .line")]
        .map(
          (l) =>
            `${[...l.childNodes]
              .filter((n) => !n.matches?.(".more"))
              .map((n) => n.textContent)
              .join("")}\n`,
        )
        .join(""),
    );
  const line = (page, words) => page.locator(".yaml .line", { hasText: words });
  const shown = (page) =>
    page.evaluate(() =>
      [...document.querySelectorAll(".yaml .line:not([hidden])")].map((l) => l.firstChild?.textContent ?? ""),
    );
  const region = (page) => page.locator(".yaml.text");
  const copied = (page) => page.evaluate(() => navigator.clipboard.readText());
  const found = (page) => page.locator(".yaml-bar .found").innerText();
  const fold = (page, words) =>
    line(page, words)
      .first()
      .click({ position: { x: 8, y: 9 } });
  const marked = async (page) =>
    (await page.locator(".yaml .line[data-changed]").allTextContents()).map((l) => l.trim());

  await t.test("kubectl parses the copied text as the same object", async (t) => {
    const values = [
      "yes",
      "no",
      "on",
      "off",
      "n",
      "y",
      "0x1F",
      "0X1f",
      "1e3",
      "8E0_1",
      "08",
      "1_000",
      "0b-1",
      "<<",
      "=",
      "~",
      "null",
      "2026-11-21",
      "12:30:45",
      "--- a",
      " lead",
      "trail ",
      "\ttab\tin",
      "one\n\ttab\n",
      "cr\r\nlf",
      "u\u2028\u2029\u0085x",
      "\u{1f600}",
      "",
      "{a: 1}",
      "keep\n\n\n",
      'it\'s "so"',
      "x".repeat(20_000),
      "1",
      "9007199254740993",
    ];
    const data = Object.fromEntries(values.map((v, i) => [`v${i}`, v]));
    for (const key of [
      "yes",
      "n",
      "0x1F",
      "1e3",
      "08",
      "1_000",
      "12345678901234567890",
      "null",
      "2026-11-21",
      "-",
      ".a",
      "true",
    ])
      data[key] = key;
    await create(
      where,
      configMap("tricky", data, { annotations: { "a/esc": "\u0000\u001b\u007f", "a/text": "two: 2\n  lines # no\n" } }),
    );
    const page = await open(t, "tricky", "9007199254740993");
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const yaml = await copied(page);
    assert.equal(yaml, await text(page));
    const got = JSON.parse(
      execFileSync("kubectl", ["create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-"], {
        input: yaml,
        env: { ...process.env, KUBECONFIG: kubeconfig() },
        maxBuffer: 1e8,
      }),
    );
    const want = await read(`${where}/tricky`);
    delete want.metadata.managedFields;
    assert.deepEqual(got, want);
    const applied = JSON.parse(
      execFileSync("kubectl", ["replace", "--dry-run=server", "-o", "json", "-f", "-"], {
        input: yaml,
        env: { ...process.env, KUBECONFIG: kubeconfig() },
        maxBuffer: 1e8,
      }),
    );
    assert.deepEqual(applied.data, want.data);
    assert.deepEqual(applied.metadata.annotations, want.metadata.annotations);
  });

  await t.test("ten changes a second keep the scroll position, folds, selection and search", async (t) => {
    const conf = Array.from({ length: 3000 }, (_, i) => `line ${i} = value`).join("\n");
    await create(
      where,
      configMap("busy", { "a.conf": "first\nsecond\nthird", "b.conf": conf, counter: "0", "z.conf": "the end" }),
    );
    const page = await open(t, "busy", "the end");
    await fold(page, "a.conf: |-");
    await become("the visibility of a folded line", async () => (await shown(page)).includes("    second"), false);
    await page.keyboard.press("Control+f");
    await page.keyboard.type("LINE 15");
    await become("the shown match", () => found(page), "1 of 111");
    await page.keyboard.press("Enter");
    await become("the shown match", () => found(page), "2 of 111");
    await page.keyboard.press("Shift+Enter");
    await become("the shown match", () => found(page), "1 of 111");
    await page.keyboard.press("Shift+Enter");
    await become("the shown match, from the first to the last", () => found(page), "111 of 111");
    const at = line(page, "line 1599 = value");
    await at.click({ clickCount: 2, position: { x: 60, y: 9 } });
    const before = await page.evaluate(() => ({
      top: [...document.querySelectorAll(".yaml .line")]
        .find((l) => l.textContent.includes("line 1599"))
        .getBoundingClientRect().top,
      selected: String(getSelection()),
    }));
    assert.notEqual(before.selected, "");
    for (let i = 1; i <= 30; i++) {
      await patch(
        `${where}/busy`,
        {
          data: {
            counter: String(i),
            "aa.conf": "more\n".repeat(i % 7) || null,
            "y.conf": "x\n".repeat(i % 5) || null,
          },
        },
        { manager: "e2e-busy" },
      );
    }
    await until("the last change", async () => (await text(page)).includes('  counter: "30"'));
    const after = await page.evaluate(() => ({
      top: [...document.querySelectorAll(".yaml .line")]
        .find((l) => l.textContent.includes("line 1599"))
        .getBoundingClientRect().top,
      selected: String(getSelection()),
    }));
    assert.ok(
      Math.abs(after.top - before.top) < 2,
      `the line has not moved: it was at ${before.top}, and is at ${after.top}`,
    );
    assert.equal(after.selected, before.selected);
    assert.equal(await found(page), "111 of 111");
    assert.equal((await shown(page)).includes("    second"), false, "the lines are still folded");
    assert.ok((await text(page)).includes("    second\n"));

    await patch(`${where}/busy`, { data: { counter: "31", "aa.conf": null, "y.conf": null } }, { manager: "e2e-one" });
    await until("the changed line", async () => (await text(page)).includes('  counter: "31"'));
    await patch(`${where}/busy`, { metadata: { labels: { colour: "green" } } }, { manager: "e2e-two" });
    await until("the added label", async () => (await text(page)).includes("    colour: green"));
    const marks = (await marked(page)).filter((l) => !l.startsWith("resourceVersion:"));
    assert.deepEqual(marks, ["labels:", "colour: green"], "only the lines of the last update are marked");
    assert.match(
      await page.locator(".yaml .line[data-changed]").first().getAttribute("title"),
      /^Changed \d\d:\d\d:\d\d by e2e-two$/,
    );
  });

  await t.test("folds lines, and finds text in folded lines", async (t) => {
    await create(where, configMap("folds", { text: "alpha\nneedle one\nomega\n", other: "needle two" }));
    const page = await open(t, "folds", "needle two");
    const all = await text(page);
    await page.getByRole("button", { name: "Fold all" }).click();
    await until("the folded lines", async () => (await shown(page)).length === 4);
    assert.deepEqual(
      (await shown(page)).map((l) => l.split(":")[0]),
      ["apiVersion", "data", "kind", "metadata"],
    );
    assert.equal(await text(page), all, "the page contains all lines");
    await region(page).focus();
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Control+c");
    assert.equal(`${await copied(page)}\n`, all);
    await page.keyboard.press("/");
    await page.keyboard.type("needle");
    await become("the shown match", () => found(page), "1 of 2");
    await until("the unfolded line with the first match", async () =>
      (await shown(page)).includes("  other: needle two"),
    );
    await page.keyboard.press("Enter");
    await until("the unfolded line with the second match", async () => (await shown(page)).includes("    needle one"));
    await page.keyboard.press("Escape");
    assert.equal(await page.evaluate(() => document.activeElement?.className), "yaml text");
    // When the browser's own search finds a match in a folded line, the browser fires beforematch. Simulate this event.
    await page.getByRole("button", { name: "Unfold all" }).click();
    await page.getByRole("button", { name: "Fold all" }).click();
    await line(page, "needle one").evaluate((l) => l.dispatchEvent(new Event("beforematch", { bubbles: true })));
    await until("the unfolded line", async () => (await shown(page)).includes("    needle one"));
  });

  await t.test("can be used by keyboard", async (t) => {
    await create(where, configMap("keys", { text: "one\ntwo\n" }));
    const page = await open(t, "keys", "two");
    const keys = async (...list) => {
      for (const k of list) await page.keyboard.press(k);
    };
    const active = () =>
      page.evaluate(() => document.querySelector(".yaml .line[data-active]")?.firstChild?.textContent ?? null);
    await region(page).focus();
    await keys("ArrowDown");
    await become("the active line", active, "apiVersion: v1");
    await keys("ArrowDown", "ArrowLeft");
    await become("the active line", active, "data:");
    assert.equal(await line(page, "data:").first().getAttribute("data-fold"), "3 lines");
    await keys("ArrowDown");
    await become("the active line after the fold", active, "kind: ConfigMap");
    await keys("ArrowUp", "ArrowRight", "ArrowRight", "ArrowRight");
    await become("the active line in the text", active, "    one");
    await keys("ArrowLeft");
    await become("the active line", active, "  text: |");
  });

  await t.test("a megabyte", async (t) => {
    const conf = Array.from({ length: 12_000 }, (_, i) => `listen ${i}; # ${"x".repeat(60)}`).join("\n");
    await create(where, configMap("large", { "a.conf": conf, last: "of the large one" }));
    await create(where, configMap("line", { blob: "QUJD".repeat(250_000), last: "of the long line" }));
    for (const [name, last] of [
      ["large", "of the large one"],
      ["line", "of the long line"],
    ]) {
      const page = await open(t, name, last);
      await page.getByRole("button", { name: "Copy", exact: true }).click();
      await page.getByRole("button", { name: "Copied" }).waitFor();
      const all = await copied(page);
      assert.equal(all, await text(page));
      assert.ok(all.length > 900_000);
      const size = await region(page).evaluate((e) => ({
        width: e.scrollWidth,
        laid: [...e.querySelectorAll(".block")].filter((b) =>
          b.firstElementChild.checkVisibility({ contentVisibilityAuto: true }),
        ).length,
      }));
      assert.ok(size.width < 20_000, `${size.width} pixels wide`);
      assert.ok(size.laid < 20, `${size.laid} blocks are laid out`);
      if (name === "line") {
        await page.keyboard.press("Control+f");
        await page.locator(".yaml-bar input").fill("of the long");
        await become("the shown match", () => found(page), "1 of 1");
        await page.locator(".yaml .more").click();
        await page.locator(".rest .piece").first().waitFor();
        assert.equal(await text(page), all);
      }
      await patch(`${where}/${name}`, { data: { last: "changed" } });
      await until("the changed line to be marked", async () => (await marked(page)).includes("last: changed"));
      const marks = (await marked(page)).filter((l) => !l.startsWith("resourceVersion:"));
      assert.deepEqual(marks, ["last: changed"]);
    }
  });

  await t.test("a megabyte does not freeze the page", async (t) => {
    const conf = (word) => Array.from({ length: 12_000 }, (_, i) => `${word} ${i}; # ${"x".repeat(60)}`).join("\n");
    const values = {
      smooth: [conf("listen"), conf("speak")],
      "smooth-line": ["QUJD".repeat(250_000), "REVG".repeat(250_000)],
    };
    for (const [name, [before, after]] of Object.entries(values)) {
      await create(where, configMap(name, { "a.conf": before, last: "0" }));
      const page = await newPage(t, browser);
      const times = {};
      const time = async (what, act, there) => {
        times[what] = await longest(page, async () => {
          await act();
          await page.locator(there).first().waitFor();
        });
      };
      // The selectors of these measurements must be cheap, because a search for text in all lines would itself be a
      // long task.
      const address = `${dashboard.url}o/core/v1/configmaps/${ns}/${name}?tab=yaml`;
      await time("opened", () => page.goto(address), '.yaml.text[aria-label*=" lines"]');
      await page.locator('#status[data-state="live"]').waitFor();
      await time(
        "changed in a line",
        () => patch(`${where}/${name}`, { data: { last: "1" } }),
        ".yaml .line[data-changed]",
      );
      await page.getByRole("tab", { name: "Changes" }).click();
      await page.locator(".kept", { hasText: " since " }).waitFor();
      await time(
        "replaced completely, among the changes",
        () => patch(`${where}/${name}`, { data: { "a.conf": after } }),
        '.change-entry .field:has-text("a.conf")',
      );
      await time(
        "side by side",
        () => page.getByRole("button", { name: "Side by side" }).click(),
        '.change-entry .diff[data-layout="split"]',
      );
      await page.getByRole("button", { name: "Inline" }).click();
      await page.getByRole("tab", { name: "YAML" }).click();
      await page.locator('.yaml.text[aria-label*=" lines"]').waitFor();
      await time(
        "replaced completely",
        () => patch(`${where}/${name}`, { data: { "a.conf": before } }),
        ".yaml .line[data-changed]",
      );
      t.diagnostic(`${name}: ${JSON.stringify(times)}`);
      assert.deepEqual(
        Object.entries(times).filter(([, ms]) => ms > freeze),
        [],
        `${name}: no task is longer than ${freeze} ms`,
      );
    }
  });

  await t.test("line wrapping is stored as a preference", async (t) => {
    await create(where, configMap("wide", { wide: "word ".repeat(150) }));
    const page = await open(t, "wide", "word word");
    const size = () =>
      region(page).evaluate((e) => ({
        over: e.scrollWidth > e.clientWidth,
        high: document.querySelector(".yaml .line:nth-child(3)").getBoundingClientRect().height > 30,
      }));
    assert.deepEqual(await size(), { over: true, high: false });
    await page.getByRole("button", { name: "Wrap" }).click();
    await become("the layout of a long line", size, { over: false, high: true });
    await page.reload();
    await until("the complete YAML", async () => (await text(page)).includes("word word"));
    await become("the layout of a long line after a reload", size, { over: false, high: true });
  });
});
