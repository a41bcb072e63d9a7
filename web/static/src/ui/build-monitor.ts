// Detects that the server now serves another build of this page, for example after an upgrade. The page then shows a
// notice and keeps working until the user reloads it. It reloads itself only if it has been hidden for a while, would
// lose nothing, and the server already serves the other build. It does so only once for each build, because a caching
// proxy could return the old page again.

import { withBase } from "../net/base-path.ts";
import { h, setText } from "./dom.ts";

// The time in ms that the page must be hidden before it reloads itself. A random delay of up to the same length is
// added, so that not all pages reload at the same time.
const hiddenDelay = 60_000;
const requestTimeout = 30_000; // ms; timeout of the request that checks for the other build

/** The functions of the browser and the page that BuildMonitor calls. Tests replace them. */
export interface BuildHost {
  hidden(): boolean;
  /**
   * Reports whether the page can be reloaded without loss: it is live, and its URL contains everything that the user
   * has chosen.
   */
  canReload(): boolean;
  /** Reports whether the server would answer a request for this page with the given build. */
  isServed(build: string): Promise<boolean>;
  after(ms: number, run: () => void): unknown;
  cancel(timer: unknown): void;
  random(): number;
  /**
   * Records that this browser tab reloads for a build. Returns false if it was already recorded, or if it cannot be
   * recorded.
   */
  recordReload(build: string): boolean;
  reload(): void;
  updateChanged(other: boolean): void;
}

export class BuildMonitor {
  private otherBuild = ""; // build of the server if it differs from the page's build; otherwise empty
  private timer: unknown = null;
  private generation = 0;

  /** pageBuild is the build of this page. It is empty if unknown. */
  constructor(private readonly pageBuild: string, private readonly host: BuildHost) {}

  /** Sets the build that the server reports. It is empty if the server reports none. */
  setServerBuild(build: string): void {
    const reported = this.pageBuild === "" || build === this.pageBuild ? "" : build;
    if (reported === this.otherBuild) return;
    this.otherBuild = reported;
    this.host.updateChanged(reported !== "");
    this.visibilityChanged();
  }

  visibilityChanged(): void {
    this.generation++;
    this.host.cancel(this.timer);
    if (this.otherBuild !== "" && this.host.hidden())
      this.timer = this.host.after(hiddenDelay * (1 + this.host.random()), () => void this.reloadIfPossible());
  }

  private async reloadIfPossible(): Promise<void> {
    const { generation } = this;
    const isServed = this.host.canReload() && await this.host.isServed(this.otherBuild);
    // Stop if the visibility of the page or the server's build has changed meanwhile.
    if (generation !== this.generation) return;
    if (!isServed || !this.host.canReload()) this.visibilityChanged();
    else if (this.host.recordReload(this.otherBuild)) this.host.reload();
  }
}

/** Implements BuildHost.isServed by a request for the current URL. */
export async function isBuildServed(build: string): Promise<boolean> {
  try {
    const response = await fetch(location.href, {
      cache: "no-store",
      headers: { accept: "text/html" },
      signal: AbortSignal.timeout(requestTimeout),
    });
    // Only the script tag of the page can match. Text from the cluster cannot match, because its quotes are escaped.
    return response.ok && (await response.text()).includes(`src="${withBase(`/static/app.js?v=${build}`)}"`);
  } catch {
    return false;
  }
}

const storageKey = "glasshouse.builds";

/** Implements BuildHost.recordReload. It stores the build in the session storage of the browser tab. */
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

/** Shows a notice below the page header if the server has another build. Otherwise, it removes the notice. */
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
