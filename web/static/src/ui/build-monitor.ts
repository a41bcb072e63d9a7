// Detects that the server serves another build of this page. A hidden page then reloads if nothing would be lost.

import { withBase } from "../net/base-path.ts";
import { h, setText } from "./dom.ts";

// ms until an outdated hidden page reloads itself. A random time is added, so that not all pages reload together.
const hiddenDelay = 60_000;
const requestTimeout = 30_000; // ms

/** The functions of the browser and the page. Tests replace them. */
interface BuildHost {
  hidden(): boolean;
  /** Reports whether a reload would show the same: the page is live, and its URL contains all choices of the user. */
  canReload(): boolean;
  /** Checks with a request that the server now returns this page with the given build. */
  isServed(build: string): Promise<boolean>;
  after(ms: number, run: () => void): unknown;
  cancel(timer: unknown): void;
  random(): number;
  /**
   * Records that this tab reloads for a build. Returns false if the tab already reloaded for this build, or if the
   * reload cannot be recorded.
   */
  recordReload(build: string): boolean;
  reload(): void;
  updateChanged(other: boolean): void;
}

export class BuildMonitor {
  private otherBuild = ""; // build of the server if it differs from the page's build; otherwise empty
  private timer: unknown = null;
  private generation = 0;

  /** The parameter pageBuild is the build of the page's scripts; empty if unknown. */
  constructor(
    private readonly pageBuild: string,
    private readonly host: BuildHost,
  ) {}

  /** The parameter `build` is the build that the server reports; empty if it reports none. */
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
    const isServed = this.host.canReload() && (await this.host.isServed(this.otherBuild));
    if (generation !== this.generation) return;
    if (!isServed || !this.host.canReload()) this.visibilityChanged();
    // Reload only once per build (see recordReload). If a proxy returned the old page, the tab would reload forever.
    else if (this.host.recordReload(this.otherBuild)) this.host.reload();
  }
}

export async function isBuildServed(build: string): Promise<boolean> {
  try {
    const response = await fetch(location.href, {
      cache: "no-store",
      headers: { accept: "text/html" },
      signal: AbortSignal.timeout(requestTimeout),
    });
    // Text from the cluster cannot imitate this script tag, because quotes in such text are escaped.
    return response.ok && (await response.text()).includes(`src="${withBase(`/static/app.js?v=${build}`)}"`);
  } catch {
    return false;
  }
}

const storageKey = "glasshouse.builds";

/** Implements BuildHost.recordReload with the session storage of the browser tab. */
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

/** Shows a notice below the page header if the server has another build (`other`). Otherwise, removes the notice. */
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
  place.append(h("span", {}, " This page is from another version. Some features may not work until you reload it."));
}
