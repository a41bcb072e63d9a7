// The script of the page that opens a share link. It first removes the secret token from the URL.

const token = location.hash.slice(1);
// The secret token in the fragment must not stay in the browser's history.
history.replaceState(null, "", location.pathname + location.search);

const base = document.documentElement.dataset["base"] ?? "";
const elementOf = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;

function showState(state: "opening" | "over" | "ended" | "failed", why = ""): void {
  for (const id of ["opening", "over", "ended", "failed"]) elementOf(id).hidden = id !== state;
  elementOf("why").textContent = why;
}

async function open(): Promise<void> {
  showState("opening");
  if (token === "ended") return showState("over"); // endShare opens this page after a share has ended
  if (token === "") return showState("ended");
  const response = await fetch(`${base}/share`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ token }),
    signal: AbortSignal.timeout(20_000),
  });
  const body: unknown = await response.json().catch(() => null);
  const field = (name: string): string => {
    const value =
      typeof body === "object" && body !== null ? (body as Readonly<Record<string, unknown>>)[name] : undefined;
    return typeof value === "string" ? value : "";
  };
  if (response.status === 404) return showState("ended");
  const to = field("to");
  if (!response.ok || !to.startsWith("/"))
    return showState(
      "failed",
      field("detail") ||
        (response.ok ? "Glasshouse sent an invalid response." : `Glasshouse responded with status ${response.status}.`),
    );
  location.replace(withKiosk(base + to));
}

// Adds the parameter for kiosk mode to the URL, if the share link is for a wall display.
function withKiosk(to: string): string {
  const url = new URL(to, location.origin);
  if (new URLSearchParams(location.search).has("kiosk")) url.searchParams.set("kiosk", "1");
  return url.origin === location.origin ? url.pathname + url.search : `${base}/`;
}

const start = (): void => void open().catch(() => showState("failed", "Glasshouse did not respond."));
elementOf("again").addEventListener("click", start);
// If the user opens another share link in this tab, only the fragment of the URL changes, and the browser loads no
// page.
addEventListener("hashchange", () => location.reload());
document.documentElement.dataset["started"] = "";
start();
