// What is copied, where the browser lets it.

/** Puts a text onto the clipboard; false if the browser does not let it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Where pages may not, a person's own command may.
    const put = (e: ClipboardEvent): void => {
      e.clipboardData?.setData("text/plain", text);
      e.preventDefault();
    };
    document.addEventListener("copy", put, { once: true, capture: true });
    try {
      return document.execCommand("copy");
    } finally {
      document.removeEventListener("copy", put, { capture: true });
    }
  }
}
