// Drives Firefox by the WebDriver BiDi protocol, because playwright-core cannot drive the Firefox of a distribution.
// Errors in the console fail the test.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { atEnd } from "./cleanup.mjs";
import { until, within } from "./wait.mjs";

const preferences = {
  "app.update.disabledForTesting": true,
  "browser.shell.checkDefaultBrowser": false,
  "browser.startup.homepage_override.mstone": "ignore",
  "datareporting.policy.dataSubmissionEnabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "toolkit.telemetry.enabled": false,
};

/** Starts Firefox with one tab of 1440 x 900 pixels, and ends it at the end of test t. */
export async function startFirefox(t, { allow = [] } = {}) {
  const profile = mkdtempSync(join(tmpdir(), "glasshouse-firefox-"));
  const lines = Object.entries(preferences).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});`);
  writeFileSync(join(profile, "user.js"), lines.join("\n"));
  const child = spawn(
    process.env["FIREFOX"] || "firefox-esr",
    ["--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", profile, "about:blank"],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const ended = new Promise((resolve) => child.once("close", resolve));
  atEnd(t, async () => {
    child.kill("SIGTERM");
    await within("ending Firefox", 15_000, ended);
    rmSync(profile, { recursive: true, force: true });
  });
  const address = new Promise((resolve, reject) => {
    child.once("error", reject);
    createInterface({ input: child.stderr }).on("line", (line) => {
      const url = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(line)?.[1];
      if (url !== undefined) resolve(`${url}/session`);
    });
  });
  const firefox = new Firefox(await within("starting Firefox", 60_000, address));
  await firefox.start();
  atEnd(t, () => {
    assert.deepEqual(
      firefox.errors.filter((line) => !allow.some((p) => p.test(line))),
      [],
      "the console of Firefox contains errors",
    );
  });
  return firefox;
}

class Firefox {
  errors = [];
  pending = new Map();
  next = 1;

  constructor(address) {
    this.socket = new WebSocket(address);
    this.socket.addEventListener("message", ({ data }) => this.receive(JSON.parse(data)));
  }

  async start() {
    await within(
      "connecting to Firefox",
      15_000,
      new Promise((resolve, reject) => {
        this.socket.addEventListener("open", resolve);
        this.socket.addEventListener("error", () => reject(new Error("Firefox refuses the connection")));
      }),
    );
    await this.send("session.new", { capabilities: {} });
    const { contexts } = await this.send("browsingContext.getTree", {});
    this.context = contexts[0].context;
    await this.send("session.subscribe", { events: ["log.entryAdded"] });
    await this.send("browsingContext.setViewport", { context: this.context, viewport: { width: 1440, height: 900 } });
  }

  receive({ id, type, method, params, result, error, message }) {
    if (method === "log.entryAdded" && params.level === "error")
      this.errors.push(params.text ?? "an error without text");
    const waiting = this.pending.get(id);
    this.pending.delete(id);
    if (type === "success") waiting?.resolve(result);
    if (type === "error") waiting?.reject(new Error(`${error}: ${message}`));
  }

  send(method, params) {
    const id = this.next++;
    const answer = new Promise((resolve, reject) => this.pending.set(id, { resolve, reject }));
    this.socket.send(JSON.stringify({ id, method, params }));
    return within(method, 20_000, answer);
  }

  open(url) {
    return this.send("browsingContext.navigate", { context: this.context, url, wait: "complete" });
  }

  /** Calls a function in the page. Its arguments and its result must be JSON. */
  async evaluate(run, ...args) {
    const { result, exceptionDetails } = await this.send("script.evaluate", {
      expression: `(async () => JSON.stringify(await (${run})(...${JSON.stringify(args)})) ?? "null")()`,
      target: { context: this.context },
      awaitPromise: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.text);
    return JSON.parse(result.value);
  }

  /** Returns the texts of the visible elements that match the selector. */
  texts(selector) {
    return this.evaluate(
      (s) => [...document.querySelectorAll(s)].filter((e) => e.checkVisibility()).map((e) => e.innerText.trim()),
      selector,
    );
  }

  shows(selector, text = /./) {
    return until(`${text} in ${selector}`, async () => (await this.texts(selector)).some((one) => text.test(one)));
  }

  /** Moves the pointer to the first visible element that contains the text, and performs the actions `then`. */
  async point(selector, text = "", ...then) {
    const at = await until(`an element ${selector}`, () =>
      this.evaluate(
        (s, text) => {
          const all = [...document.querySelectorAll(s)];
          const e = all.find((e) => e.checkVisibility() && e.innerText.includes(text));
          if (e === undefined) return null;
          e.scrollIntoView({ block: "nearest" });
          const { left, top, width, height } = e.getBoundingClientRect();
          return { x: Math.floor(left + width / 2), y: Math.floor(top + height / 2) };
        },
        selector,
        text,
      ),
    );
    const actions = [{ type: "pointerMove", ...at }, ...then];
    await this.send("input.performActions", {
      context: this.context,
      actions: [{ type: "pointer", id: "mouse", actions }],
    });
  }

  click(selector, text = "", button = 0) {
    return this.point(selector, text, { type: "pointerDown", button }, { type: "pointerUp", button });
  }

  /** Types keys. The characters of one argument are pressed together, such as "\uE009k" for Ctrl+K. */
  async press(...keys) {
    const actions = keys.flatMap((key) => [
      ...[...key].map((value) => ({ type: "keyDown", value })),
      ...[...key].reverse().map((value) => ({ type: "keyUp", value })),
    ]);
    await this.send("input.performActions", { context: this.context, actions: [{ type: "key", id: "keys", actions }] });
  }
}

/** The characters that mean the keys Ctrl, Escape and Enter in the WebDriver protocol. */
export const controlKey = "\uE009";
export const escapeKey = "\uE00C";
export const enterKey = "\uE007";
