import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mock, test } from "node:test";
import { frame, page, Part } from "../fake-page.ts";
import { browser, connect, element, openPage } from "../fake-app.ts";
import { PageServices } from "../../static/src/page-services.ts";
import { startHome } from "../../static/src/home/home.tsx";

const { overview } = JSON.parse(readFileSync("../internal/web/testdata/overview.json", "utf8")) as {
  overview: { problems: { resource: string; ns: string; name: string }[]; watched: object[] };
};

function start(address = "/") {
  const section = openPage(address, { page: "home", name: "Home", clusterName: "prod" });
  const body = new Part("div");
  body.id = "overview";
  page.body.append(body);
  const services = new PageServices("one");
  const controller = startHome(section, services);
  services.page = controller;
  const send = connect(services);
  return {
    controller,
    services,
    send: (message: object) => {
      send("", message);
      frame();
    },
    request: () => browser.socket.sent.findLast((m) => m["view"] === "overview"),
    names: () => body.querySelectorAll(".finding").map((li) => li.querySelector(".what .name")?.textContent),
    body,
  };
}

void test("the page subscribes to the overview of its namespaces, and shows each message", () => {
  const p = start("/ns/shop");
  assert.deepEqual(p.request()?.["ns"], ["shop"]);
  assert.equal(p.request()?.["resource"], undefined);
  p.send({ type: "overview", ...overview });
  assert.equal(p.names().length, 11);
  assert.equal(page.title, "(32) Home - prod");
  assert.equal(element("count").textContent, "11 problems");
  p.send({ type: "overview", ...overview, problems: overview.problems.slice(6), total: 5, counts: { degraded: 5 } });
  assert.equal(p.names()[0], "price-feed");
  assert.equal(page.title, "Home - prod");
});

void test("a wall display shows when the problems last changed", async () => {
  const p = start();
  page.documentElement.dataset["kiosk"] = "";
  const { now } = Date;
  const change = (): string | null | undefined => p.body.querySelector(".last-change")?.textContent?.trim();
  try {
    p.send({ type: "overview", ...overview });
    assert.equal(change(), undefined, "the first message is no change");
    p.send({ type: "overview", ...overview, total: 12 });
    assert.equal(change(), "last change 0s ago");
    Date.now = () => now() + 4000;
    mock.timers.tick(1000);
    for (let microtask = 0; microtask < 20; microtask++) await Promise.resolve();
    assert.equal(change(), "last change 4s ago");
  } finally {
    Date.now = now;
    page.documentElement.removeAttribute("data-kiosk");
  }
});

void test("several namespaces are selected in the query", () => {
  assert.deepEqual(start("/?ns=a&ns=b").request()?.["ns"], ["a", "b"]);
  assert.equal(start("/?ns=").request()?.["ns"], undefined);
});

void test("the filter is in the URL, and back and forward restore it", () => {
  const p = start("/?q=is:degraded");
  p.send({ type: "overview", ...overview });
  assert.equal(p.names().length, 5);
  const q = element("q");
  q.value = "recommender ";
  q.fire("input");
  assert.deepEqual(p.names(), ["recommender"]);
  assert.deepEqual(browser.history, ["replace /?q=recommender"]);
  assert.equal(element("count").textContent, "1 of 11 problems");
  browser.url = new URL("/?q=zzz", browser.url);
  browser.fire("popstate");
  assert.match(p.body.textContent ?? "", /No problems match “zzz”/);
  assert.equal(q.value, "zzz");
  p.controller
    .commands()
    .find((c) => c.keys.includes("Escape") && c.scope === "page")
    ?.run("Escape");
  assert.equal(p.names().length, 11);
});

void test("the share dialog gets the page with its namespaces and its filter", () => {
  const p = start("/ns/shop?q=is:failed");
  assert.equal(p.controller.content(), null, "there is nothing to share before the overview arrives");
  p.send({ type: "overview", ...overview });
  const content = p.controller.content();
  assert.ok(content !== null && "home" in content);
  assert.deepEqual(content.home, { ns: ["shop"], q: "is:failed" });
  assert.equal(content.watched.length, overview.watched.length);
});

void test("the shortcuts of lists act on the focused problem", async () => {
  const p = start();
  p.send({ type: "overview", ...overview });
  const press = (key: string): void => {
    const command = p.controller.commands().find((c) => c.keys.includes(key) && c.scope !== "filter");
    assert.ok(command !== undefined, `no command for ${key}`);
    command.run(key);
  };
  const toast = (): string => page.getElementById("toast")?.textContent ?? "";
  const [first, second] = overview.problems.map((o) => `${o.resource}/${o.ns === "" ? "_" : o.ns}/${o.name}`);
  press("y");
  assert.match(toast(), /^Select a problem first/);
  press("j");
  press("o");
  press("j");
  press("y");
  press("e");
  assert.deepEqual(browser.loads, [`/o/${first}`, `/o/${second}?tab=yaml`, `/o/${second}?tab=events`]);
  const log = p.body.querySelectorAll(".finding").findIndex((li) => li.querySelector("a.log") !== null);
  press("g");
  for (let n = 0; n < log; n++) press("j");
  press("P");
  assert.match(browser.loads[3] ?? "", /tab=logs.*&previous=true$/);
  const copied: string[] = [];
  Object.assign(navigator, { clipboard: { writeText: (text: string) => Promise.resolve(void copied.push(text)) } });
  press("PageDown");
  press("Y");
  for (let microtask = 0; microtask < 20; microtask++) await Promise.resolve();
  const last = overview.problems.at(-1);
  assert.deepEqual(copied, [`${last?.ns}/${last?.name}`]);
  press("PageUp");
  press("o");
  assert.equal(browser.loads[4], `/o/${first}`);
});

void test("two objects can be marked and compared, also objects of different resources", async () => {
  const p = start();
  p.send({ type: "overview", ...overview });
  const command = (key: string) => p.controller.commands().find((c) => c.keys.includes(key) && c.scope !== "filter");
  const press = (key: string): void => command(key)?.run(key);
  const toast = (): string => page.getElementById("toast")?.textContent ?? "";
  const marked = (): (string | null)[] =>
    p.body
      .querySelectorAll(".finding")
      .flatMap((li) => (li.hasAttribute("data-marked") ? [li.getAttribute("data-key")] : []));
  const [first, second, third] = overview.problems.map(
    (o) => `${o.resource}/${o.ns === "" ? "" : `${o.ns}/`}${o.name}`,
  );
  press("=");
  assert.match(toast(), /^Mark two objects first/);
  press(" ");
  assert.match(toast(), /^Select a problem first/);
  press("j");
  press(" ");
  assert.match(toast(), / marked\. Mark another object to compare both\.$/);
  press("j");
  press(" ");
  assert.deepEqual(marked(), [first, second]);
  press("j");
  press(" ");
  assert.deepEqual(marked(), [second, third], "a third mark replaces the oldest one");
  p.send({ type: "overview", ...overview, problems: overview.problems.slice(3) });
  p.send({ type: "overview", ...overview });
  assert.deepEqual(marked(), [second, third], "new elements of marked objects show the marks, too");
  press("=");
  for (let microtask = 0; microtask < 50; microtask++) await Promise.resolve();
  const named = (key: string | undefined): string => (key ?? "").replace("core/v1/nodes/", "core/v1/nodes/_/");
  assert.deepEqual(browser.loads, [`/compare?a=${named(second)}&b=${named(third)}`]);
  for (const key of ["g", "j", " "]) press(key);
  assert.match(toast(), /is no longer marked$/);
  page.documentElement.dataset["shared"] = "[]";
  assert.deepEqual([command(" "), command("=")], [undefined, undefined], "guests cannot compare");
});

void test("the keys of objects step through the objects of a problem", () => {
  const p = start();
  p.send({ type: "overview", ...overview });
  const press = (key: string): void =>
    p.controller
      .commands()
      .find((c) => c.keys.includes(key) && c.scope !== "filter")
      ?.run(key);
  const focused = (): string | null | undefined =>
    (page.activeElement as Part | null)?.closest("[data-key]")?.getAttribute("data-key");
  press("]");
  assert.match(page.getElementById("toast")?.textContent ?? "", /^Select a problem first/);
  press("j");
  const [finding] = p.body.querySelectorAll(".finding");
  const members = finding?.querySelectorAll(".members [data-key]").map((li) => li.getAttribute("data-key")) ?? [];
  assert.ok(members.length > 2);
  press("]");
  assert.equal(finding?.querySelector("details")?.open, true);
  assert.equal(focused(), members[0]);
  press("]");
  assert.equal(focused(), members[1]);
  press("[");
  press("[");
  assert.equal(focused(), finding?.getAttribute("data-key"));
  press("[");
  assert.equal(focused(), finding?.getAttribute("data-key"), "the problem is before its first object");
  for (let n = 0; n < 99; n++) press("]");
  assert.equal(focused(), members.at(-1));
});

void test("the shown problems are exported as JSON, and the namespace is selected in the palette", async () => {
  const p = start("/ns/shop?q=is:degraded");
  const press = (key: string): void =>
    p.controller
      .commands()
      .find((c) => c.keys.includes(key))
      ?.run(key);
  press("x");
  assert.match(page.getElementById("toast")?.textContent ?? "", /^The problems are not loaded yet/);
  p.send({ type: "overview", ...overview });
  const saved: Blob[] = [];
  URL.createObjectURL = (blob: Blob) => `blob:${saved.push(blob)}`;
  URL.revokeObjectURL = () => undefined;
  press("x");
  for (let microtask = 0; microtask < 50; microtask++) await Promise.resolve();
  const [file] = saved;
  assert.ok(file !== undefined);
  const { problems } = JSON.parse(await file.text()) as { problems: { name: string }[] };
  assert.deepEqual(
    problems.map((o) => o.name),
    p.names(),
  );
  assert.deepEqual(
    problems[0],
    overview.problems.find((o) => o.name === problems[0]?.name),
    "as the server sent it",
  );
  const typed: string[] = [];
  p.services.openPalette = (text) => void typed.push(text);
  press("n");
  assert.deepEqual(typed, [":ns "]);
});

void test("the logs shortcut shows a message for an object without logs", () => {
  const p = start();
  const [problem] = overview.problems;
  p.send({
    type: "overview",
    ...overview,
    problems: [{ ...problem, resource: "core/v1/nodes", kind: "Node", ns: "", name: "node-1" }],
  });
  for (const key of ["j", "l"])
    p.controller
      .commands()
      .find((c) => c.keys.includes(key))
      ?.run(key);
  assert.equal(page.getElementById("toast")?.textContent, "This object has no Logs tab.");
  assert.deepEqual(browser.loads, []);
});

void test("an invalid message requests a new overview, and an error is shown", () => {
  const p = start();
  p.send({ type: "overview", ...overview });
  const first = p.request()?.["id"];
  p.send({ type: "overview", problems: 7 });
  page.title = "";
  assert.equal(p.names().length, 11, "the last valid overview stays");
  assert.equal(p.services.live.reloadCount, 1);
  assert.ok(first !== undefined);
  const q = start();
  q.send({ type: "error", problem: { title: "Unknown namespace", status: 404, detail: "No namespace." } });
  assert.match(element("banner").textContent ?? "", /Unknown namespace/);
  assert.equal(q.controller.retryable?.isRefused, true);
});

void test("a guest gets links only to shared objects", () => {
  const p = start();
  page.documentElement.dataset["shared"] = JSON.stringify([
    { resource: "apps/v1/deployments", namespaces: ["shop"] },
    { resource: "core/v1/pods", namespaces: ["shop"] },
  ]);
  p.send({ type: "overview", ...overview });
  const hrefs = p.body.querySelectorAll("a").map((a) => a.getAttribute("href") ?? "");
  assert.ok(hrefs.length > 5);
  for (const href of hrefs) assert.match(href, /^\/(o|r)\/(apps\/v1\/deployments|core\/v1\/pods)(\/shop\/|\?|$)/);
  assert.ok(!hrefs.some((href) => href.includes("tab=logs")), "logs are not shared");
  assert.doesNotMatch(p.body.textContent ?? "", /MiB|KiB/, "the memory use is not shared");
});

void test("the strip shows quotas in readable units", () => {
  const p = start();
  const quota = { name: "small", resource: "requests.cpu", used: "11580m", hard: "80", percent: 14 };
  p.send({ type: "overview", ...overview, summary: { quotas: [quota], apiServer: {} } });
  const fact = p.body.querySelectorAll("div").find((e) => e.getAttribute("title")?.startsWith("ResourceQuota small"));
  assert.equal(fact?.textContent?.trim(), "Quota: requests.cpu 11.6 of 80 cores (14%)");
  assert.equal(fact?.getAttribute("title"), "ResourceQuota small: 11580m of 80 used");
});

void test("the page shows the numbers of objects in progress, with links to them", () => {
  const p = start();
  const progressing = [
    { resource: "core/v1/pods", kind: "Pod", count: 12 },
    { resource: "apps/v1/deployments", kind: "Deployment", count: 1 },
  ];
  p.send({ type: "overview", ...overview, progressing });
  const links = p.body.querySelector(".progressing")?.querySelectorAll("a") ?? [];
  assert.deepEqual(
    links.map((a) => [a.textContent?.trim(), a.getAttribute("href")]),
    [
      ["12 Pods", "/r/core/v1/pods?q=is%3Aprogressing"],
      ["1 Deployment", "/r/apps/v1/deployments?q=is%3Aprogressing"],
    ],
  );
  p.send({ type: "overview", ...overview, progressing: [] });
  assert.equal(p.body.querySelector(".progressing"), null);
});

void test("the strip shows requested amounts, also to viewers who may not read nodes", () => {
  const p = start();
  const shown = (allocatable: number): (string | undefined)[] => {
    const cpu = { requested: 11.58, allocatable };
    const memory = { requested: 27.3 * 2 ** 30, allocatable: allocatable * 2 ** 30 };
    p.send({ type: "overview", ...overview, summary: { cpu, memory, apiServer: {} } });
    return p.body
      .querySelectorAll(".strip div")
      .slice(1, 3)
      .map((e) => e.textContent?.trim());
  };
  assert.deepEqual(shown(96), ["CPU requested 11.6 of 96 cores (12%)", "Memory requested 27.3 of 96 GiB (28%)"]);
  assert.deepEqual(shown(0), ["CPU requested 11.6 cores", "Memory requested 27.3 GiB"]);
});

void test("the strip shows the version of the API server, and whether it responds", () => {
  const p = start();
  const shown = (apiServer: object): (string | null | undefined)[] => {
    p.send({ type: "overview", ...overview, summary: { apiServer } });
    const fact = p.body.querySelector(".strip div");
    return [fact?.textContent, fact?.getAttribute("data-level"), fact?.getAttribute("title")];
  };
  assert.deepEqual(shown({ version: "v1.34.1", state: "live", latencyMs: 20 }), [
    "API server v1.34.1 Responds in 20 ms",
    "good",
    "The last API discovery took at most 20 ms.",
  ]);
  const reason = "Discovery has failed since 2026-11-27T10:00:00Z";
  assert.deepEqual(shown({ version: "v1.34.1", state: "stale", reason }), [
    "API server v1.34.1 Unavailable",
    "bad",
    reason,
  ]);
  assert.deepEqual(shown({ version: "", state: "live" }).slice(0, 2), ["API server Responds", "good"]);
  assert.deepEqual(shown({}).slice(0, 1), ["API server unknown"]);
});

void test("the recent changes name new and deleted objects, and have no link to deleted objects", () => {
  const p = start();
  const change = (name: string, by: string, members: object) => {
    return {
      resource: "core/v1/configmaps",
      kind: "ConfigMap",
      ns: "shop",
      name,
      at: "2026-11-27T09:00:00Z",
      by,
      ...members,
    };
  };
  p.send({
    type: "overview",
    ...overview,
    changes: [
      change("a", "", { deleted: true }),
      change("a", "helm", { created: true }),
      change("a", "kubectl-edit", { what: "data" }),
    ],
  });
  const shown = p.body
    .querySelectorAll(".rails section")
    .filter((section) => section.getAttribute("aria-labelledby") === "changes-heading")
    .flatMap((section) => section.querySelectorAll("li"))
    .map((li) => [li.querySelector(".of")?.textContent?.replace(/ +/g, " "), li.querySelectorAll("a").length]);
  assert.deepEqual(shown, [
    ["ConfigMap: deleted", 0],
    ["ConfigMap: created by helm", 1],
    ["ConfigMap: data by kubectl-edit", 1],
  ]);
});
