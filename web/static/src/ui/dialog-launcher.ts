import { showToast } from "./toast.ts";

/**
 * Returns a function that opens a dialog. The code of the dialog is loaded when it opens for the first time. After a
 * failure, the next call loads it again.
 */
export function dialogLauncher(load: () => Promise<{ open(): void }>): () => void {
  let dialog: ReturnType<typeof load> | null = null;
  return () => {
    dialog ??= load();
    dialog.then(
      (loaded) => loaded.open(),
      () => {
        dialog = null;
        showToast("The dialog could not be loaded. Reload the page to try again.");
      },
    );
  };
}
