// Detects that the server serves another build of the page, as after an upgrade. The page then shows a notice and keeps
// working; the user reloads it at a convenient time. A page that has been hidden for a while, and has no state in
// addition to its URL, reloads itself. It does so only if the server responds with the other build, and once for each
// build. The reload may still return an old page, for example from a caching proxy.

import { withBase } from "../net/base-path.ts";
import { h, setText } from "./dom.ts";

// ms that the page must be hidden before it reloads. A random delay of up to the same length is added, so that many
// pages do not reload at once.
const hiddenDelay = 60_000;
const requestTimeout = 30_000; // ms, the timeout of the request for the page of the other build

/** The functions of the browser and the page that Build calls. Tests replace them. */
export interface BuildHost {
  hidden(): boolean;
  /** Whether the page can reload without loss, because it is live and its URL contains its complete state. */
  canReload(): boolean;
  /** Whether the server responds to the page's URL with a page of that build. */
  isServed(build: string): Promise<boolean>;
  after(ms: number, run: () => void): unknown;
  cancel(timer: unknown): void;
  random(): number;
  /** Records that the browser tab reloads for a build. Returns false if it has before, or if recording fails. */
  recordReload(build: string): boolean;
  reload(): void;
  /** Reports whether the server has another build than the page. */
  updateChanged(other: boolean): void;
}

export class BuildMonitor {
  private otherBuild = ""; // the server's build if it differs from the page's, else empty
  private timer: unknown = null;
  private generation = 0;

  /** pageBuild is the page's build, empty if not known. */
  constructor(private readonly pageBuild: string, private readonly host: BuildHost) {}

  /** Takes the build that the server reports; empty if it reports none. */
  setServerBuild(build: string): void {
    const reported = this.pageBuild === "" || build === this.pageBuild ? "" : build;
    if (reported === this.otherBuild) return;
    this.otherBuild = reported;
    this.host.updateChanged(reported !== "");
    this.visibilityChanged();
  }

  /** Called when the page has become visible or hidden. */
  visibilityChanged(): void {
    this.generation++;
    this.host.cancel(this.timer);
    if (this.otherBuild !== "" && this.host.hidden())
      this.timer = this.host.after(hiddenDelay * (1 + this.host.random()), () => void this.reloadIfPossible());
  }

  private async reloadIfPossible(): Promise<void> {
    const { generation } = this;
    const isServed = this.host.canReload() && await this.host.isServed(this.otherBuild);
    // Stop, because the visibility or the build has changed in the meantime.
    if (generation !== this.generation) return;
    if (!isServed || !this.host.canReload()) this.visibilityChanged();
    else if (this.host.recordReload(this.otherBuild)) this.host.reload();
  }
}

/** Implements Host.served: whether the server serves the page of that build. */
export async function isBuildServed(build: string): Promise<boolean> {
  try {
    const response = await fetch(location.href, {
      cache: "no-store",
      headers: { accept: "text/html" },
      signal: AbortSignal.timeout(requestTimeout),
    });
    // Only the page's script tag can match. Text from the cluster cannot, because its quotes are escaped.
    return response.ok && (await response.text()).includes(`src="${withBase(`/static/app.js?v=${build}`)}"`);
  } catch {
    return false;
  }
}

const storageKey = "glasshouse.builds";

/** Implements Host.first: stores a build in the session storage. */
export function recordReloadFor(build: string): boolean {
  try {
    const recorded = (sessionStorage.getItem(storageKey) ?? "").split(" ");
    if (recorded.includes(build)) return false;
    sessionStorage.setItem(storageKey, [...recorded, build].join(" ").trim());
    return true;
  } catch {
    return false;
  }
}

/** Shows a notice below the header if the server has another build, or removes it. */
export function showUpdateNotice(other: boolean, reload: () => void): void {
  document.getElementById("build")?.remove();
  if (!other) return;
  const button = h("button", { type: "button" }, "Reload");
  button.addEventListener("click", reload);
  const place = h("p", { role: "status" });
  document
    .querySelector("header.top")
    ?.after(h("section", { id: "build", class: "build", "aria-label": "Update" }, place, button));
  setText(place, "Glasshouse was updated.");
  place.append(
    h("span", {}, " This page is from the previous version. Some features may not work until you reload it."),
  );
}
