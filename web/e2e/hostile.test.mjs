// Text from the cluster never becomes markup, script or a link.
//
// Invariant: I34.
import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { text } from "node:stream/consumers";
import { CORE_SCHEMA, load } from "js-yaml";
import { browse, newPage, openLive, row, tabIds, table } from "./browser.mjs";
import { create, kubeconfig, namespace, patch, read } from "./cluster.mjs";
import { hostile, kinds, print, schemasOf, texts, combined } from "./hostile-corpus.mjs";
import { Dashboard } from "./dashboard.mjs";
import { until } from "./wait.mjs";

// Runs in the page. Finds foreign elements, links to other hosts, unmarked invisible characters, and a changed
// layout.
function findViolations() {
  const found = [
    ...document.querySelectorAll(
      "img, iframe, object, embed, b:not(.labels b), i, style, base, math, video, " +
        "svg:not(.lines, :has(> use:only-child[href^='/static/icons.svg'])), use:not([href^='/static/icons.svg']), " +
        "script:not([src^='/static/'])",
    ),
  ].map((e) => e.outerHTML.slice(0, 200));
  for (const e of document.querySelectorAll("*")) {
    for (const a of e.attributes)
      if (/^on|^style$/i.test(a.name) && (a.name !== "style" || e.getAttribute("style").includes("e2e")))
        found.push(`${e.tagName} ${a.name}`);
    for (const name of ["href", "src", "action", "formaction", "xlink:href"]) {
      const to = e.getAttribute(name);
      if (to !== null && new URL(to, location.href).origin !== location.origin && !to.startsWith("blob:"))
        found.push(`${e.tagName} links to ${to}`);
    }
  }
  const invisible =
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the page must not show control characters
    /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n = texts.nextNode(); n !== null; n = texts.nextNode())
    if (invisible.test(n.data) && n.parentElement.closest(".invisible-char, datalist, option") === null)
      found.push(`unmarked invisible character in ${n.parentElement.outerHTML.slice(0, 120)}`);
  for (const e of document.querySelectorAll(".invisible-char"))
    if (getComputedStyle(e).unicodeBidi !== "isolate")
      found.push("an invisible character is not isolated from its surrounding text");
  // The page itself puts bidi isolates (U+2068 to U+2069) around values in titles.
  const within = (text) => (text ?? "").replace(/\u2068([^\u2066-\u2069]*)\u2069/g, "$1");
  for (const e of document.querySelectorAll("[title], [aria-label]"))
    if (invisible.test(within(e.title) + e.ariaLabel))
      found.push(`invisible character in the title of ${e.outerHTML.slice(0, 120)}`);
  if (invisible.test(document.title)) found.push("invisible character in the title of the page");
  if (window.e2e?.hit) found.push("a script ran");
  const wide = (e) => e !== null && e.scrollWidth > e.clientWidth + 1;
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page itself scrolls sideways");
  if (wide(document.getElementById("panel"))) found.push("the panel scrolls sideways");
  const top = document.querySelector("header.top");
  if (top.getBoundingClientRect().height !== 44 || top.scrollWidth > innerWidth)
    found.push("the header is too high or too wide");
  for (const tr of document.querySelectorAll("#tbody tr[data-name]"))
    if (tr.getBoundingClientRect().height !== 24)
      found.push(`a row is ${tr.getBoundingClientRect().height} pixels high instead of 24`);
  return found;
}

// Checks that the server's HTML contains only known elements and attributes. Returns the object's YAML text, if any.
async function served(page, address) {
  const { unexpected, yaml } = await page.evaluate(
    async ([address, own]) => {
      const answer = await fetch(address, { headers: { accept: "text/html" } });
      const all = [...new DOMParser().parseFromString(await answer.text(), "text/html").querySelectorAll("*")];
      // Browsers read both "//host" and "/\host" as the address of another host.
      const isOwn = (to) =>
        /^(?:#|\/(?!\/))/.test(to) &&
        URL.canParse(to, location.href) &&
        new URL(to, location.href).origin === location.origin;
      const isUnsafe = (a) =>
        /^(on|style|srcdoc)/i.test(a.name) || (/^(href|src|action|formaction)$/.test(a.name) && !isOwn(a.value));
      const icon = "use[href^='/static/icons.svg']";
      const isIcon = (e) => e.matches(`svg:has(> ${icon}:only-child), svg > ${icon}`);
      return {
        unexpected: all
          .filter((e) => !(own.includes(e.localName) || isIcon(e)) || [...e.attributes].some(isUnsafe))
          .map((e) => e.outerHTML.slice(0, 200)),
        yaml: all.find((e) => e.matches("pre.yaml"))?.textContent,
      };
    },
    [address, elements],
  );
  assert.deepEqual(unexpected, [], address);
  return yaml;
}
const elements = (
  "html head meta title link script body a header button span div nav input details summary p ul li main aside " +
  "section h1 h2 form label table thead tbody tr th td footer dl dt dd datalist option kbd pre noscript"
).split(" ");

const cells = (csv) =>
  [...csv.matchAll(/(?:^|,|\n)(?:"((?:[^"]|"")*)"|([^",\n]*))/g)].map((m) =>
    (m[1] ?? m[2] ?? "").replaceAll('""', '"'),
  );

await test("hostile text", { timeout: 1_200_000 }, async (t) => {
  const browser = await browse(t);
  const dashboard = await Dashboard.start(t);
  const ns = await namespace(t);
  const allow = [/status of 40[034]/];
  const harmless = async (page, what) => assert.deepEqual(await page.evaluate(findViolations), [], what);
  const json = async (path) => (await fetch(dashboard.url + path)).json();
  const startTime = Date.now();
  const logTime = (what) => t.diagnostic(`${what} at ${Math.round((Date.now() - startTime) / 100) / 10} s`);

  const list = await kinds();
  const schemas = await schemasOf(list);
  const made = [];
  const queue = [...list];
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      for (let kind = queue.shift(); kind !== undefined; kind = queue.shift())
        made.push(await hostile(t, kind, ns, schemas));
    }),
  );
  const strings = made.reduce((n, m) => n + m.paths.length, 0);
  logTime(`${strings} strings of ${made.length} kinds contain the hostile texts`);
  // Smaller numbers mean that hostile-corpus.mjs did not fill in enough fields.
  assert.ok(strings > 800 && made.length > 50, `${strings} strings of ${made.length} kinds`);
  const scripts = {
    ...list.find((k) => k.resource === "customresourcedefinitions"),
    ref: "hostile.example.com/v1/scripts",
  };
  const script = `/apis/hostile.example.com/v1/namespaces/${ns}/scripts`;
  const free = { [print]: combined, text: combined, list: [texts.formula, texts.link] };
  await until(
    "the API server to accept the custom resource",
    async () =>
      (
        await create(
          script,
          {
            apiVersion: "hostile.example.com/v1",
            kind: "Script",
            metadata: { name: "hostile", annotations: { "e2e.example.com/a": combined } },
            spec: free,
          },
          { allowed: [404] },
        )
      ).kind === "Script",
  );
  await patch(`${script}/hostile/status`, {
    status: {
      conditions: [
        { type: print, status: combined, reason: texts.link, message: combined, lastTransitionTime: texts.control },
      ],
      phase: texts.attribute,
    },
  });
  made.push({
    ...scripts,
    kind: "Script",
    resource: "scripts",
    namespaced: true,
    name: "hostile",
    at: `${script}/hostile`,
    paths: ["metadata.annotations"],
  });

  await t.test("in the list, and in each tab, of every kind", async (t) => {
    const page = await newPage(t, browser, { allow });
    const panel = page.locator("#panel");
    const there = {
      yaml: "#panel .line",
      changes: "#panel .timeline .foot",
      events: "#panel .events :is(li, .note p):visible",
      related: "#panel :is(.card, .note h2)",
    };
    // A controller can change an annotation during the check, so retry.
    const annotated = async (m) => {
      const object = `api/v1/object/${m.ref}/${m.namespaced ? ns : "_"}/${encodeURIComponent(m.name)}`;
      await until(`the panel shows the annotations of ${m.resource}`, async () => {
        const { annotations = {} } = (await json(object)).metadata;
        const annotationTexts = await panel.locator(".annotations :is(pre, dd)").allTextContents();
        for (const value of Object.values(annotations))
          assert.ok(annotationTexts.includes(value), JSON.stringify({ value, annotationTexts }));
        return true;
      });
    };
    for (const m of made) {
      const key = `${m.namespaced ? ns : "_"}/${m.name}`;
      await openLive(
        page,
        `${dashboard.url}r/${m.ref}?` +
          `${new URLSearchParams({ ...(m.namespaced ? { ns } : {}), q: m.name, cols: "wide", open: key })}`,
      );
      await page.locator('#panel .status[data-state="live"]').waitFor({ state: "attached" });
      await panel.locator(".overview .pairs:visible").first().waitFor();
      await until(`the row of the object of ${m.resource}`, async () => (await table(page)).rows.length > 0);
      await harmless(page, `${m.resource}: list and overview`);
      await annotated(m);
      const snapshot = await json(
        `api/v1/snapshot/${m.ref}?${new URLSearchParams({ ...(m.namespaced ? { ns } : {}), q: m.name })}`,
      );
      const drawn = (await table(page)).rows;
      snapshot.columns.forEach((c, i) => {
        const text = String(snapshot.rows.find((r) => r.name === m.name).cells[i] ?? "");
        if (/img|javascript:/.test(text) && !c.relative)
          assert.ok(
            drawn.some((r) => Object.values(r).includes(text)),
            `${m.resource}: the column ${c.name} has ${JSON.stringify(text)}, drawn are ${JSON.stringify(drawn)}`,
          );
      });
      // The overview was checked above. A check below covers logs, because the pods of this check do not run.
      for (const tab of (await tabIds(page)).filter((id) => id !== "overview" && id !== "logs")) {
        await page.locator(`#tab-${tab}`).click();
        await page.locator(there[tab]).first().waitFor();
        if (tab === "changes") {
          const to = {
            metadata: {
              annotations: { "e2e.example.com": `${combined}${combined}`, "e2e.example.com/new": texts.attribute },
            },
          };
          // A ControllerRevision is immutable, so its patch fails with 422.
          if ((await patch(m.at, to, { manager: print, allowed: [422] })).code === 422) continue;
          await panel.locator(".change-entry .by", { hasText: "<img src=x" }).first().waitFor();
          // The dashboard masks the annotations of Secrets, so the hostile text must not appear.
          const masked = m.resource === "secrets";
          assert.equal(
            (await panel.locator(".timeline").textContent()).includes("</td></script><svg/onload="),
            !masked,
            `${m.resource}: the change shows the text, unless the value is masked`,
          );
          if (masked) continue;
        }
        await harmless(page, `${m.resource}: ${tab}`);
        if (tab === "changes") {
          await page.locator("#tab-overview").click();
          await panel.locator(".annotations", { hasText: texts.attribute }).waitFor();
          await annotated(m);
          await harmless(page, `${m.resource}: overview of a change`);
        }
        if (tab !== "yaml") continue;
        const want = await json(`api/v1/object/${m.ref}/${m.namespaced ? ns : "_"}/${encodeURIComponent(m.name)}`);
        const yaml = (await panel.locator(".line").evaluateAll((lines) => lines.map((l) => l.textContent))).join("\n");
        const got = load(yaml, { schema: CORE_SCHEMA });
        assert.deepEqual(strip(got), strip(want), `${m.resource}: the YAML equals the object`);
      }
    }
    logTime("the lists and tabs of all kinds");
  });

  await t.test("texts of 10 KB", async (t) => {
    const page = await newPage(t, browser, { allow });
    for (const kind of list.filter((k) =>
      ["configmaps", "pods", "events", "persistentvolumes", "horizontalpodautoscalers"].includes(k.resource),
    )) {
      const only = made.find((m) => m.ref === kind.ref).paths.slice(0, 80);
      const m = await hostile(t, kind, ns, schemas, { called: "long", values: [texts.long], only });
      assert.ok(m.paths.length > 1, `${m.paths.length} strings of ${m.resource}`);
      await openLive(
        page,
        `${dashboard.url}r/${m.ref}?${new URLSearchParams({
          ...(m.namespaced ? { ns } : {}),
          q: "long",
          cols: "wide",
          open: `${m.namespaced ? ns : "_"}/${m.name}`,
        })}`,
      );
      await page.locator('#panel .status[data-state="live"]').waitFor({ state: "attached" });
      await page.locator("#panel .overview .pairs").first().waitFor();
      await harmless(page, `long ${m.resource}: list and overview`);
      await page.locator("#tab-yaml").click();
      await page.locator("#panel .line").first().waitFor();
      await harmless(page, `long ${m.resource}: yaml`);
    }
  });

  await t.test(
    "each text in columns is shown as text, stays in its cell, and is exported without formulas",
    async (t) => {
      const now = new Date().toISOString().replace(/\.\d+/, "");
      const formulas = ["=1+1", "+1", "-1", "@SUM(A1)", "＝1"];
      let n = 0;
      for (const text of [...Object.values(texts), ...formulas]) {
        await create(`/api/v1/namespaces/${ns}/events`, {
          metadata: { name: `e${n++}` },
          type: "Warning",
          reason: text.slice(0, 100),
          message: text,
          involvedObject: { kind: "Pod", namespace: ns, name: "none" },
          lastTimestamp: now,
        });
      }
      const page = await newPage(t, browser, { allow: [/^download/] });
      await openLive(page, `${dashboard.url}r/core/v1/events?ns=${ns}`);
      const shown = await until("the rows of all events", async () => {
        const { rows } = await table(page);
        return rows.length >= n && rows;
      });
      for (const text of [...Object.values(texts), ...formulas])
        assert.ok(
          shown.some((r) => r.Message === text && r.Reason === text.slice(0, 100)),
          JSON.stringify(text.slice(0, 80)),
        );
      await harmless(page, "events");
      const places = await page.locator("#tbody td:has(.invisible-char)").evaluateAll((all) =>
        all.map((td) => {
          const range = document.createRange();
          return [...td.childNodes].map((node) => {
            range.selectNode(node);
            return range.getBoundingClientRect().left;
          });
        }),
      );
      assert.ok(places.length > 0);
      for (const lefts of places)
        assert.deepEqual(
          lefts,
          [...lefts].sort((a, b) => a - b),
        );
      for (const td of [
        page.locator("#tbody td:has(.invisible-char)").first(),
        page.locator("#tbody td", { hasText: "<i>0123" }).first(),
      ]) {
        await td.hover();
        await until("the title of the cell", () => td.getAttribute("title"));
      }
      await harmless(page, "titles");
      await page.keyboard.press("x");
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.locator('#export a[data-format="csv"][data-view="rows"]').first().click(),
      ]);
      const csv = cells(await text(await download.createReadStream()));
      assert.ok(csv.includes(`'${texts.formula}`) && csv.includes(texts.markup));
      assert.deepEqual(
        csv.filter((c) => /^[=+\-@\t\r\n＝＋－＠]/.test(c)),
        [],
      );
    },
  );

  await t.test("in object names, which are part of URLs", async (t) => {
    const names = [
      texts.markup.replace(/[/%]/g, ""),
      texts.link.replaceAll("/", ""),
      `a?b=c&d#e"'+ é\u202ef`,
      "system:e2e:x",
    ];
    const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles`;
    for (const name of names)
      await create(roles, {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "Role",
        metadata: { name, labels: { e2e: "names" } },
        rules: [],
      });
    const page = await newPage(t, browser);
    await openLive(page, `${dashboard.url}r/rbac.authorization.k8s.io/v1/roles?ns=${ns}&labels=e2e=names`);
    await until("the rows of all roles", async () => (await table(page)).rows.length === names.length);
    assert.deepEqual((await table(page)).rows.map((r) => r.Name).sort(), [...names].sort());
    await harmless(page, "roles");
    for (const name of names) {
      await page
        .locator("#tbody tr[data-name]")
        .nth((await table(page)).rows.findIndex((r) => r.Name === name))
        .locator("td")
        .last()
        .click();
      assert.equal(new URL(page.url()).searchParams.get("open"), `${ns}/${name}`);
      await page.locator('#panel .status[data-state="live"]').waitFor({ state: "attached" });
      assert.equal(await page.locator("#panel h2").textContent(), `${ns}/${name}`);
      await page.locator("#panel .overview", { hasText: ns }).waitFor();
      await harmless(page, name);
      await page.locator("#panel .page-link").click();
      await page.locator('#status[data-state="live"]').waitFor();
      assert.equal(await page.locator("h1").textContent(), name);
      await harmless(page, `the page of ${name}`);
      await page.goBack();
      await page.locator('#panel .status[data-state="live"]').waitFor({ state: "attached" });
    }
  });

  await t.test("in the palette, the choosers, the activity, the status page, a comparison and a log", async (t) => {
    const page = await newPage(t, browser, { allow: [...allow, /\/api\/v1\/search/] });
    await openLive(page, `${dashboard.url}r/${scripts.ref}?ns=${ns}&cols=wide`);
    await until("the row of the custom resource", () => row(page, "hostile"));
    await page.keyboard.press("v");
    await page.locator("#columns-pop .pop-list li").first().waitFor();
    const columns = (await json(`api/v1/snapshot/${scripts.ref}?ns=${ns}`)).columns.map((c) => c.name);
    for (const name of columns)
      assert.ok((await page.locator("#columns-pop .name").allTextContents()).includes(name), name);
    await harmless(page, "columns");
    await page.keyboard.press("Escape");
    await page.keyboard.press("a");
    await page.locator(".feed .foot").waitFor();
    await patch(`${script}/hostile`, { spec: { text: `${combined}!` } }, { manager: print });
    await page.locator(".feed .activity-entry .by", { hasText: "<img" }).first().waitFor();
    await until(
      "the title of the changed cell",
      async () => (await page.locator("#tbody td[title*='Changed']").count()) > 0,
    );
    await harmless(page, "activity");
    await page.locator(".activity-line").click();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("onerror=window");
    await page.locator("#palette [role=option] .label", { hasText: "<img src=x" }).first().waitFor();
    await harmless(page, "palette");
    await page.keyboard.press("Escape");
    await page.locator("#picker-filter").fill("scripts");
    await page.locator("#picker a", { hasText: "Scripts" }).waitFor();
    await harmless(page, "picker");
    await page.goto(`${dashboard.url}status`);
    await page.locator("#scopes a", { hasText: "scripts" }).waitFor();
    await harmless(page, "status");
    await page.goto(`${dashboard.url}compare?a=${scripts.ref}/${ns}/hostile&b=core/v1/pods/${ns}/hostile`);
    await page.locator("#difference[data-live] .line", { hasText: "onerror=" }).first().waitFor();
    await harmless(page, "compare");
    // All containers of the demo have the same log file, so use any running pod.
    const pod = (await read("/api/v1/namespaces/shop/pods")).items.find((p) => p.status.phase === "Running").metadata
      .name;
    await page.goto(`${dashboard.url}o/core/v1/pods/shop/${pod}?tab=logs`);
    await page.locator(".log-line").first().waitFor();
    const all = Object.values(texts).map((text) => text.replaceAll(/[\r\n]+/g, " "));
    appendFileSync(
      join(dirname(kubeconfig()), "pod-logs", "current.log"),
      [...all, "end of the hostile"].map((l) => `${new Date().toISOString()} stdout F ${l}\n`).join(""),
    );
    await page.locator(".log-line", { hasText: "end of the hostile" }).waitFor();
    const lines = await page.locator(".log-line").allTextContents();
    for (const text of [texts.markup, texts.attribute, texts.link]) assert.ok(lines.includes(text), text);
    await page.getByLabel("Find in the log").fill("img");
    await page.locator("mark").first().waitFor();
    await harmless(page, "log");
  });

  await t.test("in crafted URLs", async (t) => {
    const page = await newPage(t, browser, { allow });
    for (const text of [combined, texts.attribute]) {
      const e = encodeURIComponent(text);
      const addresses = [
        ...["ns", "labels", "from"].map((p) => `r/core/v1/configmaps?${p}=${e}`),
        `r/core/v1/configmaps?ns=${ns}&q=${e}&sort=${e}&cols=${e}&cols=name&tab=${e}&at=${e}`,
        `r/core/v1/configmaps?open=${ns}/${e}&tab=${e}`,
        `r/${e}/v1/pods`,
        `r/core/v1/${e}`,
        `o/core/v1/pods/${ns}/${e}`,
        `o/core/v1/configmaps/${ns}/hostile?tab=${e}`,
        `compare?a=${e}&b=${e}&hide=${e}`,
        `compare?a=core/v1/configmaps/${ns}/hostile&b=${e}`,
        e,
      ];
      for (const address of addresses) {
        await page.goto(dashboard.url + address);
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        await harmless(page, address);
        await served(page, dashboard.url + address);
      }
    }
    logTime("crafted URLs");
  });

  await t.test("in the server's HTML", async (t) => {
    const page = await newPage(t, browser);
    await page.goto(`${dashboard.url}status`);
    for (const m of made) {
      await served(
        page,
        `/r/${m.ref}?${new URLSearchParams({ ...(m.namespaced ? { ns } : {}), q: m.name, cols: "wide" })}`,
      );
      const yaml = await served(page, `/o/${m.ref}/${m.namespaced ? ns : "_"}/${encodeURIComponent(m.name)}`);
      assert.ok(yaml.includes("window.e2e.hit=1"), m.ref);
    }
    logTime("the server's HTML");
  });
});

// Removes resourceVersion, because it changes during the test.
function strip(o) {
  const {
    metadata: { resourceVersion: _, ...metadata },
    ...rest
  } = o;
  return { ...rest, metadata };
}
