// Which build of the page the server has. Another one than this page is, as after
// an upgrade, is told, and the page goes on: who looks at it reloads it when that
// suits. One that nobody has looked at for a while, and that holds nothing beside
// its address, reloads itself where that brings the other build, and once for
// each: what comes may be an old page all the same, as where a proxy keeps it.

import { under } from "./base.ts";
import { h, setText } from "./dom.ts";

const pause = 60_000; // ms that nobody looks at it; up to twice as long, lest all pages come at once
const longest = 30_000; // ms that the page of the other build may take

/** What it needs of the browser and the page, so that tests can stand in for them. */
export interface Host {
  hidden(): boolean;
  /** Nothing is held that the address does not say, and what is shown is live. */
  spare(): boolean;
  /** Whether the server answers the address with a page of that build. */
  served(build: string): Promise<boolean>;
  after(ms: number, run: () => void): unknown;
  cancel(timer: unknown): void;
  random(): number;
  /** Remembers a build for as long as the tab is there; false where it was remembered before, or cannot be. */
  first(build: string): boolean;
  reload(): void;
  /** The page is, or is no more, of another build than the server has. */
  told(other: boolean): void;
}

export class Build {
  private other = ""; // what the server has where that is not ours
  private timer: unknown = null;
  private looks = 0;

  /** own is empty where it is not known. */
  constructor(private readonly own: string, private readonly host: Host) {}

  /** The server says what it has; empty where it does not. */
  heard(build: string): void {
    const other = this.own === "" || build === this.own ? "" : build;
    if (other === this.other) return;
    this.other = other;
    this.host.told(other !== "");
    this.looked();
  }

  /** The page is hidden now, or seen. */
  looked(): void {
    this.looks++;
    this.host.cancel(this.timer);
    if (this.other !== "" && this.host.hidden()) this.timer = this.host.after(pause * (1 + this.host.random()), () => void this.renew());
  }

  private async renew(): Promise<void> {
    const { looks } = this;
    const served = this.host.spare() && await this.host.served(this.other);
    if (looks !== this.looks) return; // It was looked at meanwhile.
    if (!served || !this.host.spare()) this.looked();
    else if (this.host.first(this.other)) this.host.reload();
  }
}

/** Whether a build's page is served, as Host has it. */
export async function servedAs(build: string): Promise<boolean> {
  try {
    const answer = await fetch(location.href, { cache: "no-store", headers: { accept: "text/html" }, signal: AbortSignal.timeout(longest) });
    // Text of the cluster has no quotes of its own there.
    return answer.ok && (await answer.text()).includes(`src="${under(`/static/app.js?v=${build}`)}"`);
  } catch {
    return false;
  }
}

const key = "glasshouse.builds";

/** Remembers a build, as Host has it. */
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

/** Says below the header that the server has another build, or no more. */
export function sayBuild(other: boolean, reload: () => void): void {
  document.getElementById("build")?.remove();
  if (!other) return;
  const button = h("button", { type: "button" }, "Reload");
  button.addEventListener("click", reload);
  const place = h("p", { role: "status" });
  document.querySelector("header.top")?.after(h("section", { id: "build", class: "build", "aria-label": "Update" }, place, button));
  setText(place, "Glasshouse was updated.");
  place.append(h("span", {}, " This page is from before: it goes on, but not all of it may work until it is reloaded."));
}
