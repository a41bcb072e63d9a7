// Suggests object names for an input while the user types.

import { under } from "./base.ts";
import { h } from "./dom.ts";

const most = 20;
const pause = 150; // ms after the last key

/** Offers names of objects in the datalist of an input. The resource is the typed ref, or else ref(). */
export function suggest(box: HTMLInputElement, list: HTMLElement, ref: () => string): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = 0;
  const ask = async (): Promise<void> => {
    const mine = ++asked;
    const parts = box.value.trim().split("/");
    const full = parts.length > 2;
    const of = full ? parts.slice(0, 3).join("/") : ref();
    if (of === "") return;
    const words = (full ? parts.slice(3) : parts).filter((w) => w !== "" && w !== "_").join(" ");
    const answer = await fetch(
      under(
        `/api/v1/snapshot/${of.split("/").map(encodeURIComponent).join("/")}?` +
          `${new URLSearchParams({ q: words, limit: String(most), wait: "1s" })}`,
      ),
      { headers: { accept: "application/json" } },
    );
    const body: unknown = answer.ok ? await answer.json() : null;
    if (mine !== asked) return;
    list.replaceChildren(
      ...namesOf(body).map(([ns, name]) =>
        h("option", { value: full ? `${of}/${ns === "" ? "_" : ns}/${name}` : ns === "" ? name : `${ns}/${name}` }),
      ),
    );
  };
  const later = (): void => {
    clearTimeout(timer);
    // Without suggestions, the user can still type a name.
    timer = setTimeout(() => void ask().catch(() => undefined), pause);
  };
  box.addEventListener("input", later);
  box.addEventListener("focus", later);
  if (document.activeElement === box) later(); // The input had the focus before the script ran.
}

// Returns the namespaces and names of a snapshot's rows; empty if the body is not a snapshot.
function namesOf(body: unknown): [string, string][] {
  const rows: unknown = typeof body === "object" && body !== null ? (body as { rows?: unknown }).rows : null;
  if (!Array.isArray(rows)) return [];
  return rows.flatMap((row: unknown): [string, string][] => {
    const { ns, name } = (row ?? {}) as { ns?: unknown; name?: unknown };
    return typeof name === "string" ? [[typeof ns === "string" ? ns : "", name]] : [];
  });
}
