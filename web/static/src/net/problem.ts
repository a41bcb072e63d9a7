// The problem document of a response (RFC 9457).

import type { Problem } from "./wire.ts";

/** Returns the problem that a response reports. A body that is not a problem document results in a general problem. */
export async function problemOf(response: Response): Promise<Problem> {
  const body: unknown = await response.json().catch(() => null);
  const fields = typeof body === "object" && body !== null ? (body as Readonly<Record<string, unknown>>) : {};
  const text = (name: string): string => (typeof fields[name] === "string" ? fields[name] : "");
  return {
    title: text("title") || "The request failed",
    status: response.status,
    detail: text("detail") || `The server responded with status ${response.status}.`,
  };
}
