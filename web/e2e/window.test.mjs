// Above --page-rows rows, the server sorts a list and sends a window (the visible part). Users must see no
// difference.
//
// Invariant: I11.
import assert from "node:assert/strict";
import { test } from "node:test";
import { browse, newPage, openLive, row, table } from "./browser.mjs";
import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { configMap, create, namespace, patch, remove } from "./cluster.mjs";
import { Dashboard } from "./dashboard.mjs";
import { atEnd } from "./cleanup.mjs";
import { become, until } from "./wait.mjs";

// Records what each frame shows. A ResizeObserver callback runs just before the browser paints a frame.
const noteFrames = (page) =>
  page.evaluate(() => {
    window.frames = new Set();
    const record = () => {
      const drawn = new ResizeObserver(() => {
        drawn.disconnect();
        const rows = document.getElementById("rows");
        window.frames.add(
          `${rows.scrollTop} ` +
            `${rows.hidden || document.querySelectorAll("#tbody tr[data-name]").length < 20 ? "none" : "rows"} ` +
            `${document.getElementById("status").dataset.state}`,
        );
      });
      drawn.observe(document.body);
      requestAnimationFrame(record);
    };
    record();
  });
const framesSeen = (page) => page.evaluate(() => [...window.frames]);

await test("windowed lists", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t, { flags: ["--page-rows", "300"] });
  const ns = await namespace(t);
  const where = `/api/v1/namespaces/${ns}/configmaps`;
  const name = (i) => `map-${String(i).padStart(4, "0")}`;
  const all = Array.from({ length: 1200 }, (_, i) => i);
  for (let i = 0; i < all.length; i += 30)
    await Promise.all(
      all.slice(i, i + 30).map((n) => create(where, configMap(name(n), n % 2 === 0 ? { a: "1" } : { a: "1", b: "2" }))),
    );
  const list = `${dashboard.url}r/core/v1/configmaps?ns=${ns}`;
  const names = async (page) => (await table(page)).rows.map((r) => r.Name);
  const scroll = (page, to) =>
    page.evaluate((to) => {
      const e = document.getElementById("rows");
      e.scrollTop = to * (e.scrollHeight - e.clientHeight);
    }, to);
  const views = (page) =>
    page.wire.flatMap((frame) => {
      try {
        return [JSON.parse(frame)]
          .flat()
          .filter((m) => m.op === "subscribe" && m.resource === "core/v1/configmaps")
          .map((m) => m.view);
      } catch {
        return [];
      }
    });

  await t.test("count, scroll, sort and filter like a complete table", async (t) => {
    const page = await newPage(t, browser);
    await openLive(page, list);
    await page.locator("#count", { hasText: "1,201" }).waitFor();
    assert.equal(views(page).at(-1), "window", "the server keeps the rows, and sends a window");
    await until("the first row", async () => (await names(page))[0] === "kube-root-ca.crt");
    assert.equal(await page.locator("#table").getAttribute("aria-rowcount"), "1202");
    await scroll(page, 1);
    await until("the last rows", async () => (await names(page)).at(-1) === name(1199));
    await scroll(page, 0.5);
    const middle = await until("the rows in the middle", async () => {
      const n = await names(page);
      return n.length > 30 && n.find((x) => x === name(600)) && n;
    });
    assert.deepEqual(middle, [...middle].sort(), "the rows are sorted");
    await page.keyboard.press("End");
    await until("the last row to be active", () =>
      page.evaluate((n) => document.querySelector("#tbody tr[data-active]")?.dataset.name === n, name(1199)),
    );
    await page.locator("#q").fill("map-11");
    await page.locator("#count", { hasText: "100 of 1,201" }).waitFor();
    await until("only matching rows", async () => {
      const n = await names(page);
      return n.length > 0 && n.every((x) => x.startsWith("map-11"));
    });
    await page.locator("#q").fill("");
    await page.locator("#count", { hasText: /^1,201$/ }).waitFor();
    await page.locator("thead button", { hasText: "Data" }).click();
    await page.locator("thead button", { hasText: "Data" }).click();
    await scroll(page, 0);
    await until("the rows with the most keys to be first", async () => {
      const n = await names(page);
      return n[0] === name(1) && n[1] === name(3);
    });
    assert.equal(new URL(page.url()).searchParams.get("sort"), "-data");
  });

  await t.test("rows are added, changed and deleted; the panel follows", async (t) => {
    const page = await newPage(t, browser);
    await openLive(page, list);
    await until("the rows of the list", () => row(page, name(3)));
    await page.mouse.move(700, 20);
    await patch(`${where}/${name(3)}`, { data: { c: "3" } }, { manager: "e2e-painter" });
    await until("the changed cell", async () => (await row(page, name(3)))?.Data === "3");
    assert.match(
      await page
        .locator(`#tbody tr[data-name="${name(3)}"] td`)
        .first()
        .getAttribute("title"),
      /^2 → 3\nChanged .* by e2e-painter$/,
    );
    await create(where, configMap("a-first"));
    await until("the new row to be first", async () => (await names(page))[0] === "a-first");
    await page.locator("#count", { hasText: "1,202" }).waitFor();
    await remove(`${where}/a-first`);
    await become("the name of the first row", async () => (await names(page))[0], "kube-root-ca.crt");
    await page
      .locator(`#tbody tr[data-name="${name(5)}"] td`)
      .last()
      .click();
    await page.locator("#panel h2", { hasText: name(5) }).waitFor();
    await scroll(page, 0.9);
    await until("the rows at the new scroll position", async () => (await names(page)).includes(name(1075)));
    await scroll(page, 0);
    await until("the first rows", async () => (await names(page)).includes(name(5)));
    await dashboard.restart();
    await page.locator('#status[data-state="live"]').waitFor();
    await patch(`${where}/${name(7)}`, { data: { c: "3" } });
    await until("the cell that changed after a restart", async () => (await row(page, name(7)))?.Data === "3");
  });
});

await test("a list that grows above the row limit keeps its scroll position", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t, { flags: ["--page-rows", "200"] });
  const ns = await namespace(t);
  const where = `/api/v1/namespaces/${ns}/configmaps`;
  const name = (i) => `map-${String(i).padStart(4, "0")}`;
  const make = async (from, to) => {
    for (let i = from; i < to; i += 20)
      await Promise.all(Array.from({ length: 20 }, (_, n) => create(where, configMap(name(i + n)))));
  };
  await make(0, 180);
  const page = await newPage(t, browser);
  await openLive(page, `${dashboard.url}r/core/v1/configmaps?ns=${ns}`);
  await page.locator("#count", { hasText: /^181$/ }).waitFor();
  const views = () =>
    page.wire.flatMap((frame) => {
      try {
        return [JSON.parse(frame)]
          .flat()
          .filter((m) => m.op === "subscribe" && m.resource === "core/v1/configmaps" && m.name === undefined)
          .map((m) => m.view);
      } catch {
        return [];
      }
    });
  assert.deepEqual([...new Set(views())], ["table"]);
  await page.evaluate(() => {
    const e = document.getElementById("rows");
    e.scrollTop = (e.scrollHeight - e.clientHeight) / 2;
  });
  const middle = page.locator(`#tbody tr[data-name="${name(90)}"] td`).last();
  await middle.waitFor();
  await middle.click();
  await page.locator("#panel h2", { hasText: name(90) }).waitFor();
  await page.mouse.move(700, 20);
  const pageState = () =>
    page.evaluate(() => ({
      top: document.getElementById("rows").scrollTop,
      rows: [...document.querySelectorAll("#tbody tr[data-name]")].map((tr) =>
        [
          tr.dataset.name,
          tr.getAttribute("aria-rowindex"),
          tr.hasAttribute("data-active"),
          tr.getAttribute("aria-selected"),
        ].join(" "),
      ),
      panel: document.querySelector("#panel h2")?.textContent,
    }));
  let before;
  await until("the page to stop changing", async () => isDeepStrictEqual(before, (before = await pageState())));
  assert.ok(before.top > 500 && before.rows.some((r) => r.endsWith(" true true")), JSON.stringify(before));
  await noteFrames(page);
  await make(180, 260);
  await page.locator("#count", { hasText: /^261$/ }).waitFor();
  assert.equal(views().at(-1), "window", "the server keeps the rows, and sends a window");
  await become("the state of the page", pageState, before);
  // The status can be busy while the page waits for the window. The rows must stay at their position.
  for (const frame of await framesSeen(page)) assert.match(frame, new RegExp(`^${before.top} rows (live|busy)$`));
  await page.locator("#table").focus();
  await page.keyboard.press("j");
  await become(
    "the active row",
    () => page.evaluate(() => document.querySelector("#tbody tr[data-active]")?.dataset.name),
    name(91),
  );
  await page.keyboard.press("End");
  await become(
    "the active row",
    () => page.evaluate(() => document.querySelector("#tbody tr[data-active]")?.dataset.name),
    name(259),
  );
});

// A list switches to a window (its visible part) above 120 % of --page-rows. It switches back only after a reload.
await test("the row limit of a page", { timeout: 400_000 }, async (t) => {
  const browser = await browse(t);
  const limit = 100;
  const dashboard = await Dashboard.start(t, { flags: ["--page-rows", String(limit)] });
  const group = `e2e-${randomBytes(4).toString("hex")}.example.com`;
  const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const schema = { openAPIV3Schema: { type: "object", properties: { number: { type: "integer" } } } };
  await create(crds, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "things", singular: "thing", kind: "Thing" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema,
          additionalPrinterColumns: [{ name: "Number", type: "integer", jsonPath: ".number" }],
        },
      ],
    },
  });
  atEnd(t, () => remove(`${crds}/things.${group}`));
  const ns = await namespace(t);
  const where = `/apis/${group}/v1/namespaces/${ns}/things`;
  const name = (i) => `thing-${String(i).padStart(3, "0")}`;
  const make = (i, called = name(i)) =>
    create(where, { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: called }, number: i });
  await until("the API server to accept the new kind", () => make(0));
  await Promise.all(Array.from({ length: limit - 1 }, (_, i) => make(i + 1)));
  const list = `${dashboard.url}r/${group}/v1/things`;
  const served = (total) =>
    until(
      `the dashboard to count ${total} objects`,
      async () =>
        (await (await fetch(`${dashboard.url}api/v1/snapshot/${group}/v1/things?limit=1`)).json()).total === total,
    );
  await served(limit);

  const views = (page) =>
    page.wire.flatMap((frame) => {
      try {
        return [JSON.parse(frame)]
          .flat()
          .filter((m) => m.op === "subscribe" && m.resource === `${group}/v1/things`)
          .filter((m) => m.view !== "object" && m.view !== "explanation") // These views belong to the panel.
          .map((m) => m.view);
      } catch {
        return [];
      }
    });
  const requested = async (address, words) => {
    const page = await newPage(t, browser);
    await openLive(page, address);
    await page.locator("#count", { hasText: new RegExp(`^${words}$`) }).waitFor();
    return { page, views: views(page) };
  };
  for (const address of [list, `${list}?ns=${ns}`])
    assert.deepEqual(
      (await requested(address, limit)).views,
      ["table"],
      `a list with as many rows as the limit is complete: ${address}`,
    );

  // This test adds rows later. In this sort order, the new rows follow the visible ones, which therefore do not move.
  const { page } = await requested(`${list}?sort=number&q=thing`, `${limit} of ${limit}`);
  await page.evaluate(() => {
    const e = document.getElementById("rows");
    e.scrollTop = (e.scrollHeight - e.clientHeight) / 2;
  });
  await page
    .locator(`#tbody tr[data-name="${name(50)}"] td`)
    .last()
    .click();
  await page.locator("#panel h2", { hasText: name(50) }).waitFor();
  await page.mouse.move(700, 20);
  const pageState = () =>
    page
      .evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))))
      .then(() =>
        page.evaluate(() => ({
          top: document.getElementById("rows").scrollTop,
          rows: [...document.querySelectorAll("#tbody tr[data-name]")].map((tr) =>
            [
              tr.dataset.name,
              tr.getAttribute("aria-rowindex"),
              tr.hasAttribute("data-active"),
              tr.getAttribute("aria-selected"),
              tr.children[2]?.textContent,
            ].join(" "),
          ),
          sorted: document.querySelector("#table thead [aria-sort]:not([aria-sort=none])")?.textContent,
          filter: document.getElementById("q").value,
          panel: document.querySelector("#panel h2")?.textContent,
          status: document.getElementById("status").dataset.state,
          address: location.search,
        })),
      );
  const count = (words) => become("the count", () => page.locator("#count").innerText(), words);
  const before = await pageState();
  assert.ok(
    before.top > 300 && before.rows.some((r) => r.includes(" true true")) && before.sorted?.includes("Number"),
    JSON.stringify(before),
  );
  await noteFrames(page);
  const most = 1.2 * limit;
  for (let i = limit; i < most; i++) await make(i, `other-${i}`);
  await count(`${limit} of ${most}`);
  assert.deepEqual([...new Set(views(page))], ["table"], "a list with 20 % more rows than the limit is complete");
  assert.deepEqual(await pageState(), before);
  await make(most, `other-${most}`);
  await until("the page to subscribe to a window", () => views(page).at(-1) === "window");
  await count(`${limit} of ${most + 1}`);
  assert.deepEqual(await pageState(), before, "the page is unchanged with a window");
  for (let i = limit + 1; i <= most; i++) await remove(`${where}/other-${i}`);
  await count(`${limit} of ${limit + 1}`);
  assert.deepEqual(await pageState(), before);

  await served(limit + 1);
  assert.deepEqual(
    (await requested(list, limit + 1)).views,
    ["window"],
    "with one row more than the limit, the page opens a window if it knows the number of rows",
  );
  assert.deepEqual(
    (await requested(`${list}?ns=${ns}`, limit + 1)).views,
    ["table", "window"],
    "with one row more than the limit, the page switches to a window",
  );
  await remove(`${where}/other-${limit}`);
  await count(`${limit} of ${limit}`);
  assert.deepEqual(await pageState(), before, "the page is unchanged with as many rows as the limit");
  assert.equal(views(page).at(-1), "window", "an open page keeps its window");
  assert.deepEqual(await framesSeen(page), [`${before.top} rows live`], "each frame shows the same rows");
  await become(
    "the count in the picker",
    () => page.locator(`#picker a[data-ref="${group}/v1/things"] .count`).first().textContent(),
    String(limit),
  );
  // Wait, because for about one second, the server's count can include the deleted row.
  await until("the page to open a complete list", async () => {
    const earlier = views(page).length;
    await page.reload();
    await until("the page to subscribe again", () => views(page).length > earlier);
    await page.locator('#status[data-state="live"]').waitFor();
    await count(`${limit} of ${limit}`);
    return isDeepStrictEqual(views(page).slice(earlier), ["table"]);
  });
  assert.deepEqual({ ...(await pageState()), top: 0, rows: [] }, { ...before, top: 0, rows: [] });
});

// Both pages do the same steps: one keeps all rows, and the other has a window (the visible part).
await test("a complete page and a windowed page show the same", { timeout: 800_000 }, async (t) => {
  const browser = await browse(t);
  const dashboards = [await Dashboard.start(t), await Dashboard.start(t, { flags: ["--page-rows", "300"] })];
  const ns = await namespace(t),
    other = await namespace(t);
  const group = `e2e-${randomBytes(4).toString("hex")}.example.com`;
  const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const schema = {
    openAPIV3Schema: {
      type: "object",
      properties: {
        spec: { type: "object", properties: { phase: { type: "string" }, number: { type: "integer" } } },
        status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      },
    },
  };
  const printed = [
    { name: "Phase", type: "string", jsonPath: ".spec.phase" },
    { name: "Number", type: "integer", jsonPath: ".spec.number" },
  ];
  await create(crds, {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "things", singular: "thing", kind: "Thing" },
      versions: [{ name: "v1", served: true, storage: true, schema, additionalPrinterColumns: printed }],
    },
  });
  atEnd(t, () => remove(`${crds}/things.${group}`));
  const where = (space = ns) => `/apis/${group}/v1/namespaces/${space}/things`;
  const name = (i) => `thing-${String(i).padStart(4, "0")}`;
  // The server derives the severity of a Thing from these conditions. Its phase has no effect on the severity.
  const status = (type, reason) => ({ conditions: [{ type, status: "True", reason, message: "as the test wants" }] });
  const stalled = status("Stalled", "Broken");
  const reconciling = status("Reconciling", "Working");
  const statuses = { Failed: stalled, Pending: reconciling };
  const thing = (name, phase, number, labels = { app: "web" }) => ({
    apiVersion: `${group}/v1`,
    kind: "Thing",
    metadata: { name, labels },
    spec: { phase, number },
    ...(phase in statuses ? { status: statuses[phase] } : {}),
  });
  const phase = (i) => (i % 100 === 3 ? "Failed" : i % 100 === 4 ? "Pending" : "Running");
  await until("the API server to accept the new kind", () => create(where(), thing(name(0), "Running", 0)));
  const all = Array.from({ length: 1199 }, (_, i) => i + 1);
  for (let i = 0; i < all.length; i += 30)
    await Promise.all(all.slice(i, i + 30).map((n) => create(where(), thing(name(n), phase(n), n))));
  for (const n of [1, 2, 3]) await create(where(other), thing(`other-${n}`, "Running", n));
  const change = (i, spec, more = {}) => patch(`${where()}/${name(i)}`, { spec, ...more }, { manager: "e2e-painter" });

  const allow = [/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/];
  const pages = [];
  for (const d of dashboards) {
    const page = await newPage(t, browser, { allow });
    await page.addInitScript(() => {
      window.struck = [];
      new MutationObserver((all) => {
        for (const m of all) if (m.target.hasAttribute?.("data-gone")) window.struck.push(m.target.dataset.name);
      }).observe(document, { attributes: true, attributeFilter: ["data-gone"], subtree: true });
    });
    await until("the dashboard to serve the new kind", async () => (await fetch(`${d.url}r/${group}/v1/things`)).ok);
    await openLive(page, `${d.url}r/${group}/v1/things?ns=${ns}`);
    pages.push(page);
  }
  const views = (page) =>
    page.wire.flatMap((frame) => {
      try {
        return [JSON.parse(frame)]
          .flat()
          .filter((m) => m.op === "subscribe" && m.resource === `${group}/v1/things`)
          .map((m) => m.view);
      } catch {
        return [];
      }
    });

  const pageState = (page) =>
    page.evaluate(() => {
      const text = (id) => {
        const e = document.getElementById(id);
        return e === null || e.hidden ? "" : e.textContent;
      };
      const rows = [...document.querySelectorAll("#tbody tr[data-name]")];
      // Replace the times, because the two pages receive a change at different times.
      const timeless = (t) => t?.replace(/\d\d:\d\d:\d\d/g, "time") ?? null;
      // Omit columns with ages, because the two pages are read at different times.
      const ages = new Set(
        [...document.querySelectorAll("#table thead th")].flatMap((th, i) =>
          ["Age", "Last change"].includes(th.textContent.trim()) ? [i] : [],
        ),
      );
      return {
        rows: rows.map((tr) =>
          [
            tr.getAttribute("aria-rowindex"),
            ...[...tr.children].filter((_, i) => !ages.has(i)).map((td) => td.textContent),
            tr.hasAttribute("data-gone") ? "gone" : "",
            tr.hasAttribute("data-active") ? "active" : "",
            tr.getAttribute("aria-selected") ?? "",
          ].join(" "),
        ),
        titles: rows.flatMap((tr) =>
          [...tr.children]
            .filter((_, i) => !ages.has(i))
            .map((td) => timeless(td.getAttribute("title")))
            .filter((t) => t?.includes("Changed"))
            .map((t) => `${tr.dataset.name}: ${t}`),
        ),
        waits: document.getElementById("rows").hasAttribute("data-loading"),
        count: text("count"),
        rowcount: document.getElementById("table").getAttribute("aria-rowcount"),
        trouble: text("severity-counts"),
        pendingText: text("pending-changes"),
        note: text("note"),
        banner: timeless(text("banner")),
        status: timeless(document.getElementById("status").textContent),
        activity: timeless(document.querySelector("#activity .words").textContent),
        panel: text("side") === "" ? "" : (document.querySelector("#panel h2")?.textContent ?? ""),
        address: location.pathname + location.search,
      };
    });
  const same = async (step, wanted, ms = 20_000) => {
    let got = [];
    try {
      return await until(
        step,
        async () => {
          got = await Promise.all(pages.map(pageState));
          return isDeepStrictEqual(got[0], got[1]) && !got[0].waits && wanted(got[0]) && got[0];
        },
        ms,
      );
    } catch (err) {
      const differ = Object.keys(got[0] ?? {}).filter((k) => !isDeepStrictEqual(got[0][k], got[1][k]));
      throw new Error(
        `${step}: ${
          differ.length === 0
            ? `the pages are equal, but not as expected: ${JSON.stringify(got[0])}`
            : differ
                .map(
                  (k) =>
                    `${k}: ` + `complete list ${JSON.stringify(got[0][k])}, windowed list ${JSON.stringify(got[1][k])}`,
                )
                .join("\n")
        }`,
        { cause: err },
      );
    }
  };
  const both = (what) => Promise.all(pages.map(what));
  const scroll = (to) =>
    both((page) =>
      page.evaluate((to) => {
        const e = document.getElementById("rows");
        e.scrollTop = to * (e.scrollHeight - e.clientHeight);
      }, to),
    );
  const filter = (q) => both((page) => page.locator("#q").fill(q));
  const press = (key) => both((page) => page.keyboard.press(key));
  const sort = (column) => both((page) => page.locator("thead button", { hasText: column }).click());
  // Returns the reload count of each page. A page counts a reload only if it already had rows.
  const reloadCounts = () =>
    both((page) =>
      page.evaluate(() => {
        const e = document.getElementById("reloads");
        return e.hidden ? "" : e.textContent;
      }),
    );
  // Removes the cursor (stream position) and the start of the watch, because they differ between the servers.
  const exported = async (page) => {
    const links = await page
      .locator("#export a[data-format]")
      .evaluateAll((all) => all.map((a) => [a.textContent, a.href]));
    return Promise.all(
      links.map(async ([what, href]) => ({
        what,
        text: (await (await fetch(href)).text()).replace(/"(cursor|since)":"[^"]*",?/g, ""),
      })),
    );
  };
  const has =
    (key, ...words) =>
    (seen) =>
      seen.rows.some((r) => r.includes(key) && words.every((w) => r.includes(w)));
  const struck = async (key) => {
    for (const page of pages)
      await until(`row ${key} to be struck through`, () => page.evaluate((key) => window.struck.includes(key), key));
  };

  await t.test("scroll, sort and filter", async () => {
    await same(
      "the first rows",
      (s) =>
        s.count === "1,200" &&
        has(name(0))(s) &&
        has(name(3), "Stalled: Broken: as the test wants")(s) &&
        has(name(4), "Reconciling: Working: as the test wants")(s) &&
        s.trouble === "12 failed12 progressing",
    );
    assert.deepEqual(
      pages.map((p) => views(p).at(-1)),
      ["table", "window"],
    );
    await scroll(0.5);
    await same("the middle of the list", has(name(600)));
    await scroll(1);
    await same("the end of the list", has(name(1199)));
    await sort("Number");
    await sort("Number");
    await scroll(0);
    await same("the list, sorted by number", (s) => has(name(1199))(s) && s.address.includes("sort=-number"));
    const clickCount = () => both((page) => page.locator("#severity-counts a", { hasText: "failed" }).click());
    await clickCount();
    await same(
      "only failed rows",
      (s) => s.count === "12 of 1,200" && has(name(1103), "Failed")(s) && s.address.includes("q=is%3Afailed"),
    );
    await clickCount();
    await same("all rows", (s) => s.count === "1,200" && !s.address.includes("q="));
    await filter("is:waiting");
    await same("only progressing rows", (s) => s.count === "12 of 1,200" && has(name(1104), "Pending")(s));
    await filter("nothing has it");
    await same(
      "the list without matches",
      (s) => s.count === "0 of 1,200" && s.note.startsWith("No Things match the filter"),
    );
    await filter("thing-11 running");
    await same("the rows that match two words", (s) => s.count === "98 of 1,200");
    const [allRows, window] = await both(exported);
    assert.deepEqual(
      window.filter(({ text }, i) => text !== allRows[i].text).map(({ what }) => what),
      [],
      "a windowed page exports the same as a complete page",
    );
    assert.ok(
      allRows.length > 3 &&
        allRows.every(({ text }) => text.indexOf(name(1199)) < text.indexOf(name(1100)) && !text.includes(name(1099))),
      "the exports contain only the matching rows, in reverse order",
    );
    await filter("");
    await sort("Number");
    await scroll(0);
    await same("all rows", (s) => s.count === "1,200" && has(name(0))(s));
    await same("the list, worst rows first", (s) => s.address.endsWith(`ns=${ns}`) && s.rows[0].includes(name(3)));
    await sort("Name");
    await same("the list, sorted by name", (s) => s.rows[0].includes(name(0)) && s.address.includes("sort=name"));
  });

  await t.test("rows are added, changed and deleted, visible or not", async () => {
    await both((page) => page.mouse.move(700, 20));
    await change(5, { phase: "Waiting", number: 55 }, { status: reconciling });
    await same(
      "the changed cell",
      (s) =>
        has(name(5), "Waiting")(s) &&
        s.titles.some((t) => t.includes("Running → Waiting") && t.includes("by e2e-painter")) &&
        s.activity.includes("Running → Waiting"),
    );
    await change(1000, { phase: "CrashLoopBackOff" }, { status: stalled });
    await same(
      "the change of a row outside the window",
      (s) =>
        s.trouble === "13 failed13 progressing" &&
        s.activity.includes(`${name(1000)}Phase Running → CrashLoopBackOffe2e-painter`),
    );
    await create(where(), thing("a-first", "Running", 1));
    await same("a new row", (s) => has("a-first")(s) && s.count === "1,201" && s.activity.includes("a-firstcreated"));
    await create(where(), thing("z-last", "Running", 1));
    await same("a new row outside the window", (s) => s.count === "1,202" && s.activity.includes("z-lastcreated"));
    await remove(`${where()}/${name(7)}`);
    await struck(name(7));
    await same(
      "the visible deleted row to disappear",
      (s) => s.count === "1,201" && !has(name(7))(s) && s.activity.includes(`${name(7)}deleted`),
    );
    await remove(`${where()}/z-last`);
    await same(
      "the deleted row outside the window to disappear",
      (s) => s.count === "1,200" && s.activity.includes("z-lastdeleted"),
    );
    await both((page) =>
      page.evaluate(() => {
        window.struck = [];
      }),
    );
    await filter("running");
    await same("the filtered rows", (s) => s.count === "1,174 of 1,200");
    await change(8, { phase: "Odd" });
    await same("the changed row to stop matching the filter", (s) => s.count === "1,173 of 1,200" && !has(name(8))(s));
    await filter("");
    await sort("Number");
    await same("the list, sorted by number", (s) => s.count === "1,200" && s.address.includes("sort=number"));
    await change(9, { number: 5000 });
    await same("the changed row to move out of view", (s) => !has(name(9))(s));
    assert.deepEqual(
      await both((page) => page.evaluate(() => window.struck)),
      [[], []],
      "a moved row is not struck through",
    );
    await change(9, { number: 9 });
    await same("the changed row to move back", has(name(9), "9"));
  });

  await t.test("both pages keep the row order while the pointer is over the rows", async () => {
    await both((page) =>
      page
        .locator(`#tbody tr[data-name="${name(10)}"] td`)
        .first()
        .hover(),
    );
    await remove(`${where()}/${name(11)}`);
    await create(where(), thing("a-second", "Running", 12));
    await change(12, { number: 7000 });
    await change(13, { phase: "Other" });
    await same(
      "the pending changes",
      (s) =>
        s.pendingText === "1 moved, 1 new, 1 removed" &&
        has(name(11), "gone")(s) &&
        has(name(12), "7000")(s) &&
        has(name(13), "Other")(s) &&
        !has("a-second")(s),
    );
    await both((page) => page.mouse.move(700, 20));
    await same(
      "the rows after the pending changes",
      (s) => s.pendingText === "" && has("a-second")(s) && !has(name(11))(s) && !has(name(12))(s),
    );
  });

  await t.test("open, step and scroll by keyboard", async () => {
    await both((page) =>
      openLive(
        page,
        `${dashboards[pages.indexOf(page)].url}r/${group}/v1/things?ns=${ns}&sort=name&open=${ns}/${name(700)}`,
      ),
    );
    await same("the object of the opened URL", (s) => s.panel.includes(name(700)));
    await press("]");
    await same("the next object", (s) => s.panel.includes(name(701)) && has(name(701), "active", "true")(s));
    await press("[");
    await press("[");
    await same("the object two rows up", (s) => s.panel.includes(name(699)) && has(name(699), "active")(s));
    await press("Escape");
    await press("End");
    await press("k");
    await press("k");
    await same("the active row near the end", has(name(1197), "active"));
    await press("Enter");
    await same("the object of the active row", (s) => s.panel.includes(name(1197)));
    await press("]");
    await same("the second-last object", (s) => s.panel.includes(name(1198)));
    await press("]");
    await press("]");
    await same("the last object to stay open", (s) => s.panel.includes(name(1199)));
    await press("Escape");
    await press("g");
    await same("the first row to be active", (s) => has("a-first", "active")(s) && s.panel === "");
  });

  await t.test("filter by several namespaces and labels", async () => {
    const goTo = (query) =>
      both((page) => openLive(page, `${dashboards[pages.indexOf(page)].url}r/${group}/v1/things?${query}`));
    await goTo(`ns=${ns},${other}&q=other-`);
    await same("the rows of two namespaces", (s) => s.count === "3 of 1,203" && has("other-2", other)(s));
    await patch(`${where(other)}/other-2`, { metadata: { labels: { app: "db" } } });
    // Wait for both servers, because a page that opens too early would receive and highlight the label as a live
    // change.
    await until("both servers to receive the change", async () => {
      const answers = await Promise.all(
        dashboards.map((d) => fetch(`${d.url}api/v1/snapshot/${group}/v1/things?ns=${other}&labels=app%3Ddb`)),
      );
      return (await Promise.all(answers.map((a) => a.json()))).every((a) => a.total === 1);
    });
    await goTo(`ns=${ns},${other}&labels=app%3Ddb`);
    await same("the rows that match a label selector", (s) => s.count === "1");
    await goTo(`ns=${ns},${other}&labels=app%3Dweb&sort=-name`);
    await same("the rows that match another label selector", (s) => s.count === "1,202" && has(name(1199))(s));
    await both((page) => page.mouse.move(700, 20));
    await patch(`${where()}/${name(1199)}`, { metadata: { labels: { app: "db" } } });
    await struck(name(1199));
    await same(
      "the row whose labels no longer match to disappear",
      (s) => s.count === "1,201" && s.activity.includes(`${name(1199)}deleted`),
    );
    await goTo(`ns=${ns}`);
  });

  await t.test("reconnect after a server restart, and match the digest", async () => {
    await same("all rows", (s) => s.count === "1,200" && has("a-first")(s));
    await scroll(0.5);
    await same("the middle of the list", (s) => has(name(600))(s) && s.count === "1,200");
    assert.deepEqual(await reloadCounts(), ["", ""], "no list is reloaded");
    for (const d of dashboards) await d.stop();
    await same(
      "both pages to be disconnected",
      (s) => s.status.startsWith("Connection lost") && s.banner !== "" && has(name(600))(s),
    );
    await change(600, { phase: "Meanwhile" });
    await remove(`${where()}/${name(601)}`);
    for (const d of dashboards) await d.run(d.user, d.port);
    await same(
      "both pages to be live again",
      (s) => s.status === "Live" && has(name(600), "Meanwhile")(s) && !has(name(601))(s) && s.count === "1,199",
      40_000,
    );
    await change(600, { phase: "Again" });
    await same("a live change after the restart", has(name(600), "Again"));
    const reloadsAfterRestart = await reloadCounts(); // A restarted server cannot replay changes, so lists reload.
    const digests = (page) => page.wire.filter((f) => f.includes('"type":"digest"')).length;
    const before = pages.map(digests);
    await until("a digest from both servers", () => pages.every((p, i) => digests(p) > before[i]), 90_000);
    await same("both pages to be live after the digests", (s) => s.status === "Live");
    assert.deepEqual(await reloadCounts(), reloadsAfterRestart, "the digests match");
  });
});
