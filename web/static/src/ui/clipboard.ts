/** Copies a text to the clipboard. Returns false if the browser refuses. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // If the clipboard API is missing or not permitted, try the old command "copy", which can work after a click.
    const onCopy = (e: ClipboardEvent): void => {
      e.clipboardData?.setData("text/plain", text);
      e.preventDefault();
    };
    document.addEventListener("copy", onCopy, { once: true, capture: true });
    try {
      return document.execCommand("copy");
    } finally {
      document.removeEventListener("copy", onCopy, { capture: true });
    }
  }
}
