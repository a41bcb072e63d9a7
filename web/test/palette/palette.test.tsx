// Invariant: I32.

import assert from "node:assert/strict";
import { test } from "node:test";
import { clearPage, frame, page, Part } from "../fake-page.ts";
import { Upstream } from "../fake-log-server.ts";
import { tableOf } from "../table-encoding.ts";
import { formatView } from "../../static/src/model/view.ts";
import type { ListedKind } from "../../static/src/net/kinds.ts";
import type { Command } from "../../static/src/palette/commands.ts";
import { Palette } from "../../static/src/palette/palette.tsx";

const kind = (resource: string, name: string): ListedKind => ({
  ref: `core/v1/${resource}`,
  group: "core",
  kind: name,
  resource,
  namespaced: true,
  short: [],
  categories: [],
  isRare: false,
  section: "",
  searchText: "",
  state: "",
  reason: "",
  count: null,
  namespaces: 0,
});
const kinds = [
  kind("pods", "Pod"),
  kind("podtemplates", "PodTemplate"),
  kind("services", "Service"),
  kind("secrets", "Secret"),
];

const namespaceRow = { ns: "", name: "team-a", uid: "u", rv: "1", created: "", cells: ["team-a"] };

let respond: (q: string) => Promise<unknown>;
const tabs: string[] = [];
Object.assign(globalThis, {
  fetch: async (url: string) => {
    const body = await respond(new URL(url, "http://x").searchParams.get("q") ?? "");
    return { ok: true, status: 200, json: () => Promise.resolve(body) };
  },
  window: { open: (href: string) => tabs.push(href) },
});
const afterDebounce = (): Promise<void> => new Promise((done) => setTimeout(done, 160));

function start() {
  clearPage();
  respond = () => Promise.resolve({});
  const upstream = new Upstream();
  const opener = new Part("button");
  page.body.append(opener);
  opener.focus();
  const happened: string[] = [];
  let moreData = (): void => undefined;
  const theme: Command = {
    label: "Toggle theme",
    group: "Page",
    keys: ["t"],
    scope: "page",
    run: () => happened.push(`theme, ${page.activeElement === opener ? "focus is back" : "no focus"}`),
  };
  const context = {
    kinds,
    pins: kinds.map((k) => k.ref),
    recent: [] as string[],
    commands: [theme],
    contexts: null,
    view: null,
    rows: null,
    windowTotal: null,
    rowNamespaces: () => ["from-rows"],
  };
  const palette = new Palette({
    live: upstream.live,
    context: () => context,
    go: (view) => happened.push(`list ${formatView(view)}, ${page.activeElement === opener ? "focus is back" : ""}`),
    open: (ref, { ns, name }) => happened.push(`object ${ref} ${ns}/${name}`),
    opened: (then) => {
      moreData = then;
    },
  });
  const dialog = palette.dialog as unknown as Part;
  const box = (): Part => dialog.querySelector("#palette-box") as Part;
  const options = (): Part[] => dialog.querySelectorAll("[role=option]");
  return {
    palette,
    upstream,
    opener,
    happened,
    context,
    theme,
    dialog,
    options,
    moreData: () => moreData(),
    text: () => box().value,
    labels: () => options().map((o) => o.querySelector(".label")?.title),
    selected: () => {
      const marked = options().filter((o) => o.getAttribute("aria-selected") === "true");
      assert.equal(box().getAttribute("aria-activedescendant"), marked[0]?.id ?? null);
      return marked.map((o) => options().indexOf(o)).join();
    },
    type: (text: string) => {
      const input = box();
      input.value = text;
      input.fire("input", { type: "input", target: input, currentTarget: input });
    },
    press: (key: string, more: object = {}) => box().dispatch("keydown", { key, ...more }).defaultPrevented,
    hasFocus: () => page.activeElement === box(),
  };
}

void test("the palette opens with the focus in its text field, and lists pinned resources and commands", () => {
  const p = start();
  p.palette.open("", false);
  assert.deepEqual([p.dialog.open, p.hasFocus(), p.text()], [true, true, ""]);
  assert.deepEqual(p.labels().slice(-1), ["Toggle theme"]);
  assert.ok(p.labels().includes("Pods"));
  assert.equal(p.selected(), "0");
});

void test("typing shows matching results, and selects the first one", () => {
  const p = start();
  p.palette.open("", false);
  p.press("ArrowDown");
  assert.equal(p.selected(), "1");
  p.type("secret");
  assert.deepEqual([p.labels()[0], p.selected()], ["Secrets", "0"]);
  p.type("po");
  p.press("ArrowDown");
  assert.deepEqual([p.labels()[1], p.selected()], ["PodTemplates", "1"]);
  p.type("pod");
  assert.deepEqual([p.labels()[1], p.selected()], ["PodTemplates", "0"]);
  p.type("no-such-thing");
  assert.match(p.dialog.querySelector(".palette-words")?.textContent ?? "", /^Searching for “no-such-thing”…$/);
  assert.deepEqual([p.labels(), p.selected()], [[], ""]);
  assert.equal(p.press("ArrowDown"), true);
  assert.equal(p.press("Enter"), false, "Enter does nothing without results");
});

void test("arrow keys and Ctrl+N or Ctrl+P move the selection around the list", () => {
  const p = start();
  p.palette.open("", false);
  const last = p.options().length - 1;
  assert.ok(last >= 4);
  for (const [key, more, want] of [
    ["ArrowUp", {}, last],
    ["ArrowDown", {}, 0],
    ["n", { ctrlKey: true }, 1],
    ["ArrowDown", {}, 2],
    ["p", { ctrlKey: true }, 1],
    ["PageDown", {}, Math.min(last, 9)],
    ["PageDown", {}, last],
    ["PageUp", {}, Math.max(0, last - 8)],
    ["PageUp", {}, 0],
  ] as const) {
    assert.equal(p.press(key, more), true);
    assert.equal(p.selected(), String(want), key);
  }
  assert.equal(p.press("n"), false, "the key n without Ctrl types a letter");
  assert.equal(p.press("ArrowDown", { isComposing: true }), false, "an input method uses the arrow keys");
});

void test("Enter closes the palette, returns the focus, and shows the selected list", () => {
  const p = start();
  p.palette.open("", false);
  p.type("services");
  p.press("Enter");
  assert.deepEqual(p.happened, ["list /r/core/v1/services, focus is back"]);
  assert.deepEqual([p.dialog.open, page.activeElement === p.opener], [false, true]);
});

void test("Ctrl+Enter opens the result in another tab, and the palette stays open", () => {
  const p = start();
  tabs.length = 0;
  p.palette.open("", false);
  p.type("services");
  p.press("Enter", { ctrlKey: true });
  assert.deepEqual([tabs, p.happened, p.dialog.open], [["/r/core/v1/services"], [], true]);
});

void test("a command runs after the palette has returned the focus", async () => {
  const p = start();
  p.palette.open("", false);
  p.type("theme");
  p.press("Enter");
  assert.deepEqual([p.happened, p.dialog.open], [[], false]);
  await Promise.resolve();
  assert.deepEqual(p.happened, ["theme, focus is back"]);
});

void test("the pointer selects a result when it moves, and a click opens it", () => {
  const p = start();
  p.palette.open("", false);
  const services = p.labels().indexOf("Services");
  p.options()[services]?.fire("pointermove", { type: "pointermove" });
  assert.equal(p.selected(), String(services));
  p.options()[services]?.fire("click", { type: "click", ctrlKey: false, metaKey: false });
  assert.deepEqual([p.happened, p.dialog.open], [["list /r/core/v1/services, focus is back"], false]);
});

void test("a click outside the palette closes it, a click inside does not", () => {
  const p = start();
  p.palette.open("", false);
  p.dialog.querySelector(".palette-head")?.dispatch("click");
  assert.equal(p.dialog.open, true);
  p.dialog.dispatch("click");
  assert.equal(p.dialog.open, false);
});

void test("Tab completes the text from the selected result", () => {
  const p = start();
  p.palette.open("", false);
  p.type("serv");
  assert.equal(p.press("Tab"), true);
  assert.equal(p.text(), ":services ");
  p.type("no-such-thing");
  assert.equal(p.press("Tab"), true, "Tab keeps the focus in the text field");
  assert.equal(p.text(), "no-such-thing");
});

void test("opening an open palette closes it, and opening it with a text replaces the text", () => {
  const p = start();
  p.palette.open("", false);
  p.type("secret");
  p.palette.open(":", false);
  assert.deepEqual([p.dialog.open, p.text()], [true, ":"]);
  p.palette.open("", false);
  assert.equal(p.dialog.open, false);
  p.palette.open("", false);
  assert.deepEqual([p.dialog.open, p.text()], [true, ""]);
});

void test("namespaces are those of the rows until the complete list arrives, and closing ends the subscription", () => {
  const p = start();
  p.palette.open("", false);
  p.type("from-rows");
  assert.deepEqual(p.labels()[0], "from-rows");
  assert.deepEqual(
    p.upstream.requests.map((r) => r["resource"]),
    ["core/v1/namespaces"],
  );
  p.upstream.browser.socket.receive({
    id: p.upstream.requests[0]?.["id"],
    type: "snapshot",
    cursor: "c",
    columns: [{ name: "Name", type: "string" }],
    table: tableOf([namespaceRow]),
    last: true,
  });
  frame();
  assert.ok(!p.labels().includes("from-rows"));
  p.type("team");
  assert.equal(p.labels()[0], "team-a");
  assert.equal(p.upstream.unsubscribes, 0);
  p.dialog.close();
  assert.equal(p.upstream.unsubscribes, 1);
});

void test("a guest requests no namespaces", () => {
  const p = start();
  page.documentElement.dataset["shared"] = "[]";
  try {
    p.palette.open("", false);
    assert.equal(p.upstream.requests.length, 0);
  } finally {
    page.documentElement.removeAttribute("data-shared");
  }
});

void test("results of the server's search are added, and the selected result stays selected", async () => {
  const p = start();
  let finish = (_: unknown): void => undefined;
  respond = () =>
    new Promise((done) => {
      finish = done;
    });
  p.context.commands.push({ ...p.theme, label: "Use system theme" });
  p.palette.open("", false);
  p.type("theme");
  const before = p.labels();
  assert.equal(before.length, 2);
  p.press("ArrowDown");
  await afterDebounce();
  finish({ objects: [{ ref: "core/v1/services", kind: "Service", ns: "shop", name: "theme" }], searched: [] });
  await afterDebounce();
  const after = p.labels();
  assert.deepEqual([after, p.selected()], [["shop/theme", ...before], "2"]);
  p.options()[0]?.fire("click", { type: "click" });
  assert.deepEqual(p.happened, ["object core/v1/services shop/theme"]);
});

void test("a search is repeated while the server reads resources, until the palette is closed", async () => {
  const p = start();
  const requests: string[] = [];
  const found = { ref: "core/v1/secrets", kind: "Secret", ns: "shop", name: "key" };
  const searched = (count: number | null): unknown => [
    { ref: "core/v1/secrets", state: count === null ? "syncing" : "live", count },
  ];
  respond = (q) => {
    requests.push(q);
    return Promise.resolve(
      requests.length === 1
        ? { objects: [], searched: searched(null), notSearched: [] }
        : { objects: [found], searched: searched(1), notSearched: [{ ref: "core/v1/pods", reason: "forbidden" }] },
    );
  };
  const coverage = (): Part => p.dialog.querySelector(".palette-coverage") as Part;
  p.palette.open("", false);
  p.type("key");
  await afterDebounce();
  assert.match(coverage().textContent, /^Searched 0 objects of 0 of 1 resource type so far/);
  await new Promise((done) => setTimeout(done, 500));
  assert.deepEqual([requests, p.labels()[0]], [["key", "key"], "shop/key"]);
  assert.match(coverage().textContent, /^Searched 1 object of 1 resource type\. .* Forbidden: Pods\.$/);
  assert.match(coverage().title, /^Searched: 1 Secrets\nForbidden: Pods$/);
  respond = () => Promise.resolve({ objects: [], searched: searched(null), notSearched: [] });
  p.type("other");
  await afterDebounce();
  respond = (q) => {
    requests.push(q);
    return Promise.resolve({});
  };
  p.dialog.close();
  await new Promise((done) => setTimeout(done, 500));
  assert.equal(requests.length, 2);
});

void test("a response to an earlier text is ignored", async () => {
  const p = start();
  const finish: ((body: unknown) => void)[] = [];
  respond = () => new Promise((done) => finish.push(done));
  p.palette.open("", false);
  p.type("ser");
  await afterDebounce();
  p.type("serv");
  finish[0]?.({ objects: [{ ref: "core/v1/pods", kind: "Pod", ns: "shop", name: "server-0" }], searched: [] });
  await afterDebounce();
  assert.ok(!p.labels().includes("shop/server-0"));
});

void test("data that arrives later is drawn while the palette is open", () => {
  const p = start();
  p.palette.open("", false);
  const before = p.labels();
  p.context.kinds = [...kinds, kind("endpoints", "Endpoints")];
  p.context.pins.push("core/v1/endpoints");
  p.moreData();
  p.moreData();
  frame();
  assert.deepEqual(
    p.labels().filter((l) => !before.includes(l)),
    ["Endpoints"],
  );
  p.dialog.close();
  p.context.kinds = kinds;
  p.moreData();
  frame();
  assert.deepEqual(p.labels(), [], "a closed palette is empty, and is not updated");
});
