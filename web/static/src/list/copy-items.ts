// The names and the copy actions of objects, which lists, the home page and the menu of an object share.

import "../core-code.ts";
import type { ObjectName } from "../model/view.ts";
import { objectWord, shellWord } from "../text/shell-word.ts";
import { copyText } from "../ui/clipboard.ts";
import { showToast } from "../ui/toast.ts";
import type { MenuItem } from "./row-menu.tsx";

/** Returns the name of an object in the form that the page uses everywhere, such as "shop/web-1". */
export const textOf = (o: ObjectName): string => (o.ns === "" ? o.name : `${o.ns}/${o.name}`);

export const copyName = (o: ObjectName): Promise<void> => copy(textOf(o));

async function copy(text: string): Promise<void> {
  showToast((await copyText(text)) ? `Copied ${text}` : "Could not copy: the browser denied access.");
}

/** Returns a command that prints the object with kubectl. */
export function kubectlCommand(ref: string, o: ObjectName): string {
  const [group = "", version = "", resource = ""] = ref.split("/");
  const type = group === "core" ? resource : `${resource}.${version}.${group}`;
  return `kubectl get ${objectWord(type, o.name)}${o.ns === "" ? "" : ` -n ${shellWord(o.ns)}`} -o yaml`;
}

export const copyItems = (ref: string, o: ObjectName): MenuItem[] => [
  { label: "Copy name", key: "Y", run: () => void copyName(o) },
  { label: "Copy kubectl command", run: () => void copy(kubectlCommand(ref, o)) },
];
