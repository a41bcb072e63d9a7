// The compared objects have nearly the maximum size (1 MB).
//
// Invariant: I42.
import assert from "node:assert/strict";
import { test } from "node:test";
import { browse, newPage, openLive } from "./browser.mjs";
import { configMap, create, namespace, patch } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { become, until } from "./wait.mjs";

await test("large objects are compared", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  const where = `/api/v1/namespaces/${ns}/configmaps`;
  const lines = (change) =>
    Array.from({ length: 24_000 }, (_, i) => change(i, `line ${i} of what is the same in both`));
  const one = lines((_, l) => l);
  const texts = {
    some: lines((i, l) => (i % 400 === 0 ? `${l}, except this word` : l)),
    all: lines((i) => `another ${i * 7} with nothing in common`),
  };
  const long = "one line of words ".repeat(50_000);
  const objects = [
    ["one", one.join("\n")],
    ["some", texts.some.join("\n")],
    ["all", texts.all.join("\n")],
    ["long", long],
    ["longer", `${long.slice(0, 400_000)}AND ${long.slice(400_000)}`],
  ];
  for (const [name, text] of objects) await create(where, configMap(name, { text }));

  const open = async (b, a = "one") => {
    const page = await newPage(t, browser, { permissions: ["clipboard-read", "clipboard-write"] });
    await page.addInitScript(() => {
      localStorage.setItem("glasshouse-diff", "split");
      window.rests = 0;
      const { scheduler } = window;
      const rest = scheduler.yield.bind(scheduler);
      scheduler.yield = () => {
        window.rests++;
        return rest();
      };
    });
    await openLive(page, `${dashboard.url}compare?a=core/v1/configmaps/${ns}/${a}&b=${b}`);
    await page.locator(".difference[data-live]").waitFor();
    return page;
  };
  const count = (page) => page.locator("#count").innerText();
  // Returns the number of lines in the document, and how many of them the browser has laid out.
  const laid = (page) =>
    page.evaluate(() => {
      const all = [...document.querySelectorAll(".diff .line")];
      return [all.length, all.filter((e) => e.checkVisibility({ contentVisibilityAuto: true })).length];
    });
  const bounded = async (page) => {
    const [all, seen] = await until("the lines of the comparison", async () => {
      const n = await laid(page);
      return n[1] > 0 && n;
    });
    assert.ok(all <= 4000, `${all} lines are in the document`);
    assert.ok(seen < 1000, `${seen} of ${all} lines are laid out`);
  };

  await t.test("with scattered differences, in slices, with unchanged lines folded", async () => {
    const page = await open("some");
    await become("the number of differences", () => count(page), "61 differences");
    await bounded(page);
    assert.ok((await page.evaluate(() => window.rests)) > 3, "the work is split into several tasks");
    assert.deepEqual(
      await page.locator(".diff mark").evaluateAll((all) => [...new Set(all.map((m) => m.textContent))].sort()),
      [", except this word", "one", "some"],
    );

    const long = page.locator(".diff del.line", { hasText: "line 22800 of what" });
    const height = await long.evaluate((e) => e.getBoundingClientRect().height);
    assert.equal(height, 18, "the number and the mark of a line are in one row");
    const fold = page.locator(".diff .fold", { hasText: "393 unchanged lines" }).first();
    await fold.focus();
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.ariaLabel), "Unchanged lines");
    await until("the unfolded lines", async () =>
      (await page.locator(".diff").textContent()).includes("line 17 of what"),
    );
    await patch(`${where}/some`, { data: { zone: "front" } });
    await become("the number of differences", () => count(page), "62 differences");
    assert.ok((await page.locator(".diff").textContent()).includes("line 17 of what"));
    await bounded(page);

    const focused = () =>
      page.evaluate(() => [
        document.activeElement.className,
        document.activeElement.ariaLabel,
        document.activeElement.textContent.slice(0, 80),
      ]);
    let times = 0;
    const keepsFocus = async (what) => {
      const before = await focused();
      assert.match(before.join(), what);
      await page.locator(".diff").evaluate((e) => {
        e.id = "before";
      });
      await patch(`${where}/some`, { data: { zone: `back ${++times}` } });
      await page.locator(".diff", { hasText: `zone: back ${times}` }).waitFor();
      assert.equal(await page.locator("#before").count(), 0, "the comparison is not rendered again");
      assert.deepEqual(await focused(), before);
    };
    const other = page.locator(".diff .fold", { hasText: "393 unchanged lines" }).nth(2);
    await other.focus();
    await keepsFocus(/^fold,,393 unchanged lines$/);
    await page.keyboard.press("Enter");
    await keepsFocus(/^block,Unchanged lines,.*line 12\d\d of what/);
    await page.locator(".heads a").last().focus();
    await keepsFocus(/some$/);
  });

  await t.test("copying returns the text of one side, including folded lines", async () => {
    const page = await open("some");
    await become("the number of differences", () => count(page), "62 differences");
    const copied = async (side) => {
      await page.evaluate((side) => {
        const lines = [...document.querySelectorAll(`.diff .pair > :nth-child(${side})`)];
        const at = (text) => lines.findIndex((l) => l.textContent.includes(text));
        const [first, last] = [lines[at("line 400 of")], lines[at("line 800 of")]];
        const range = document.createRange();
        range.setStart(first.firstChild, first.textContent.indexOf("400"));
        range.setEnd(last.firstChild, last.textContent.indexOf(" of"));
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        first.closest("[tabindex]").focus({ preventScroll: true });
      }, side);
      await page.keyboard.press("Control+c");
      return page.evaluate(() => navigator.clipboard.readText());
    };
    const part = (all) => [all[400].slice(5), ...all.slice(401, 800).map((l) => `    ${l}`), "    line 800"].join("\n");
    assert.equal(await copied(1), part(one));
    assert.equal(await copied(2), part(texts.some));
  });

  await t.test("objects without equal lines", async () => {
    const page = await open("all");
    await become("the number of differences", () => count(page), "2 differences");
    await bounded(page);
    const more = page.locator(".diff > .fold").last();
    assert.match(await more.innerText(), /^2\d,\d\d\d more lines$/);
    const last = await page.locator(".diff > .block").last().locator(".line").last().textContent();
    await more.focus();
    await page.keyboard.press("Enter");
    await until("more lines in the document", async () => (await laid(page))[0] > 4000);
    await become(
      "the label of the focused element",
      () => page.evaluate(() => document.activeElement.ariaLabel),
      "More lines",
    );
    assert.equal(
      await page.evaluate(
        () => [...document.activeElement.previousElementSibling.querySelectorAll(".line")].at(-1).textContent,
      ),
      last,
    );
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "fold");
    await until("the number of remaining lines", async () =>
      /^2\d,\d\d\d more lines$/.test(await page.locator(".diff > .fold").last().innerText()),
    );

    const left = async () => Number((await page.locator(".diff > .fold").last().innerText()).replace(/\D/g, ""));
    const before = await left();
    await page.locator(".diff").evaluate((e) => {
      e.id = "before";
    });
    await patch(`${where}/all`, { data: { first: "above them" } });
    await page.locator(".diff", { hasText: "first: above them" }).waitFor();
    assert.equal(await page.locator("#before").count(), 0, "the comparison is not rendered again");
    assert.equal(await left(), before + 1);
  });

  await t.test("with a single very long line", async () => {
    const page = await open("longer", "long");
    await become("the number of differences", () => count(page), "2 differences");
    await bounded(page);
    assert.deepEqual(await page.locator(".diff mark").allTextContents(), ["AND ", "long", "longer"]);
    const ins = page.locator("ins.line", { hasText: "text:" });
    assert.ok((await ins.innerText()).length < 4000);
    assert.ok(
      (await ins.textContent()).replace(/\s+/g, " ").includes(objects[4][1].trim()),
      "the complete line is in the document",
    );
    await ins.locator(".more").first().focus();
    await page.keyboard.press("Enter");
    await ins.locator(".rest:not([hidden]) .piece").first().waitFor({ state: "visible" });
    assert.deepEqual(await page.evaluate(() => [document.activeElement.className, document.activeElement.ariaLabel]), [
      "rest",
      "More characters",
    ]);
  });
});
