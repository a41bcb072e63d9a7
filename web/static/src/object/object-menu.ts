// The menu "⋯" in the title of an object: copy, download and compare.

import "../core-code.ts";
import { copyItems, textOf } from "../list/copy-items.ts";
import { openRowMenu, type MenuItem } from "../list/row-menu.tsx";
import { sharedParts } from "../model/guest.ts";
import { compareHref } from "../model/view.ts";
import type { JsonObject } from "../net/wire.ts";
import { copyText } from "../ui/clipboard.ts";
import { showToast } from "../ui/toast.ts";
import { yamlLines } from "../yaml/writer.ts";
import { saveFile } from "./save-file.ts";
import type { TabHost } from "./tab.ts";

/** Opens the menu below its button. `object` returns the shown version of the object, or null if none is known. */
export const openObjectMenu = (host: TabHost, object: () => JsonObject | null, button: HTMLElement): Promise<void> =>
  openRowMenu(textOf(host.name), itemsOf(host, object), button.getBoundingClientRect(), button, button);

/** The items of the menu. Guests cannot compare objects. */
export function itemsOf({ kind, name }: Pick<TabHost, "kind" | "name">, object: () => JsonObject | null): MenuItem[] {
  const withYaml = (use: (yaml: string) => void) => (): void => {
    const shown = object();
    if (shown === null) showToast("The object is not loaded yet.");
    else
      use(
        yamlLines(shown)
          .map((line) => `${line}\n`)
          .join(""),
      );
  };
  return [
    // The keys of these items apply to rows, so this menu omits the keys.
    ...copyItems(kind.ref, name).map((item) => ({ ...item, key: undefined })),
    { label: "Copy YAML", run: withYaml((yaml) => void copyYaml(yaml)) },
    { label: "Download YAML", run: withYaml((yaml) => saveFile(fileName(kind.resource, textOf(name)), yaml)) },
    ...(sharedParts() === null
      ? [{ label: "Compare with…", run: () => location.assign(compareHref(kind.ref, name)) }]
      : []),
  ];
}

async function copyYaml(yaml: string): Promise<void> {
  showToast((await copyText(yaml)) ? "Copied the YAML" : "Could not copy: the browser denied access.");
}

// Names of RBAC objects can contain colons, which Windows does not allow in file names.
const fileName = (resource: string, name: string): string => `${resource}-${name.replace(/[/:]/g, "-")}.yaml`;
