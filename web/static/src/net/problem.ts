// Reads the error document of an HTTP response (problem details, RFC 9457).

import type { Problem } from "./wire.ts";

/**
 * Returns the problem that a response reports. If its body is not a problem document, a general problem is returned.
 */
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
