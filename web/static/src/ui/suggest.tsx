import { withBase } from "../net/base-path.ts";
import { mount } from "./view.tsx";

const maxSuggestions = 20;
const debounceDelay = 150; // ms between the last key press and the request for names

/**
 * Fills a datalist with the names of objects that match the typed text. A resource (group/version/resource/) at the
 * start of the text selects whose objects are suggested. Otherwise, the function ref returns the resource.
 */
export function suggestNames(input: HTMLInputElement, list: HTMLElement, ref: () => string): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let requestNumber = 0;
  const request = async (): Promise<void> => {
    const ownRequest = ++requestNumber;
    const parts = input.value.trim().split("/");
    const hasRef = parts.length > 2;
    const resource = hasRef ? parts.slice(0, 3).join("/") : ref();
    if (resource === "") return;
    const words = (hasRef ? parts.slice(3) : parts).filter((w) => w !== "" && w !== "_").join(" ");
    const response = await fetch(
      withBase(
        `/api/v1/snapshot/${resource.split("/").map(encodeURIComponent).join("/")}?` +
          `${new URLSearchParams({ q: words, limit: String(maxSuggestions), wait: "1s" })}`,
      ),
      { headers: { accept: "application/json" } },
    );
    const body: unknown = response.ok ? await response.json() : null;
    if (ownRequest !== requestNumber) return;
    mount(
      list,
      namesOf(body).map(([ns, name]) => {
        const value = hasRef ? `${resource}/${ns === "" ? "_" : ns}/${name}` : ns === "" ? name : `${ns}/${name}`;
        return <option key={value} value={value} />;
      }),
    );
  };
  const scheduleRequest = (): void => {
    clearTimeout(timer);
    // Ignore errors. The user can still type a name without suggestions.
    timer = setTimeout(() => void request().catch(() => undefined), debounceDelay);
  };
  input.addEventListener("input", scheduleRequest);
  input.addEventListener("focus", scheduleRequest);
  if (document.activeElement === input) scheduleRequest(); // the text box got the focus before this script ran
}

function namesOf(body: unknown): [string, string][] {
  const rows: unknown = typeof body === "object" && body !== null ? (body as { rows?: unknown }).rows : null;
  if (!Array.isArray(rows)) return [];
  return rows.flatMap((row: unknown): [string, string][] => {
    const { ns, name } = (row ?? {}) as { ns?: unknown; name?: unknown };
    return typeof name === "string" ? [[typeof ns === "string" ? ns : "", name]] : [];
  });
}
