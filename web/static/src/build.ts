// Detects that the server serves another build of the page, as after an upgrade. The page then shows a notice and keeps
// working; the user reloads it at a convenient time. A page that has been hidden for a while, and has no state in
// addition to its URL, reloads itself. It does so only if the server responds with the other build, and once for each
// build. The reload may still return an old page, for example from a caching proxy.

import { under } from "./base.ts";
import { h, setText } from "./dom.ts";

// ms that the page must be hidden before it reloads. A random delay of up to the same length is added, so that many
// pages do not reload at once.
const pause = 60_000;
const longest = 30_000; // ms, the timeout of the request for the page of the other build

/** The functions of the browser and the page that Build calls. Tests replace them. */
export interface Host {
  hidden(): boolean;
  /** Whether the page can reload without loss, because it is live and its URL contains its complete state. */
  spare(): boolean;
  /** Whether the server responds to the page's URL with a page of that build. */
  served(build: string): Promise<boolean>;
  after(ms: number, run: () => void): unknown;
  cancel(timer: unknown): void;
  random(): number;
  /** Records that the browser tab reloads for a build. Returns false if it has before, or if recording fails. */
  first(build: string): boolean;
  reload(): void;
  /** Reports whether the server has another build than the page. */
  told(other: boolean): void;
}

export class Build {
  private other = ""; // the server's build if it differs from the page's, else empty
  private timer: unknown = null;
  private looks = 0;

  /** own is the page's build, empty if not known. */
  constructor(private readonly own: string, private readonly host: Host) {}

  /** Takes the build that the server reports; empty if it reports none. */
  heard(build: string): void {
    const other = this.own === "" || build === this.own ? "" : build;
    if (other === this.other) return;
    this.other = other;
    this.host.told(other !== "");
    this.looked();
  }

  /** Called when the page has become visible or hidden. */
  looked(): void {
    this.looks++;
    this.host.cancel(this.timer);
    if (this.other !== "" && this.host.hidden())
      this.timer = this.host.after(pause * (1 + this.host.random()), () => void this.renew());
  }

  private async renew(): Promise<void> {
    const { looks } = this;
    const served = this.host.spare() && await this.host.served(this.other);
    if (looks !== this.looks) return; // Stop, because the visibility or the build has changed in the meantime.
    if (!served || !this.host.spare()) this.looked();
    else if (this.host.first(this.other)) this.host.reload();
  }
}

/** Implements Host.served: whether the server serves the page of that build. */
export async function servedAs(build: string): Promise<boolean> {
  try {
    const answer = await fetch(location.href, {
      cache: "no-store",
      headers: { accept: "text/html" },
      signal: AbortSignal.timeout(longest),
    });
    // Only the page's script tag can match. Text from the cluster cannot, because its quotes are escaped.
    return answer.ok && (await answer.text()).includes(`src="${under(`/static/app.js?v=${build}`)}"`);
  } catch {
    return false;
  }
}

const key = "glasshouse.builds";

/** Implements Host.first: stores a build in the session storage. */
export function firstOf(build: string): boolean {
  try {
    const known = (sessionStorage.getItem(key) ?? "").split(" ");
    if (known.includes(build)) return false;
    sessionStorage.setItem(key, [...known, build].join(" ").trim());
    return true;
  } catch {
    return false;
  }
}

/** Shows a notice below the header if the server has another build, or removes it. */
export function sayBuild(other: boolean, reload: () => void): void {
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
