// The form of the list: the text filter, the namespaces and the labels.

import { isKiosk } from "../net/base-path.ts";
import { columnsLabel } from "../model/column-set.ts";
import { sharedNamespaces } from "../model/guest.ts";
import { namespacesLabel } from "../model/namespaces.ts";
import { namespaces, type View } from "../model/view.ts";
import type { Kind } from "../net/kinds.ts";
import { byId, input, setText } from "../ui/dom.ts";

/** Copies the view (the settings in the URL) into the fields and buttons. */
export function fillForm(view: View, kind: Kind): void {
  const setInput = (id: string, value: string): void => {
    const box = input(id);
    // While the user types, the text can end with a space, which is not part of the filter in the URL. Do not overwrite
    // such a text.
    if (box !== null && box.value.trim() !== value) box.value = value;
  };
  setInput("q", view.q);
  setInput("ns", view.ns.join(","));
  setInput("labels", view.labels);
  const ns = input("ns");
  // If the share link includes only one namespace, hide the choice of namespaces.
  const allowed = sharedNamespaces(kind.ref) ?? [];
  const choice = kind.namespaced && allowed.length !== 1;
  if (ns !== null) ns.hidden = !choice;
  const button = byId("namespace-button");
  // In kiosk mode (a wall display), show the button even if there is nothing to choose: it displays the namespaces.
  button.hidden = !choice && !(kind.namespaced && isKiosk());
  setText(button, namespacesLabel(isKiosk() && view.ns.length === 0 ? allowed : view.ns));
  button.toggleAttribute("data-chosen", view.ns.length > 0);
  setText(byId("columns"), columnsLabel(view.cols));
}

/** Returns the view, changed by the values in the fields of the form. */
export function readForm(view: View, kind: Kind): View {
  const value = (id: string): string => input(id)?.value.trim() ?? "";
  return {
    ...view,
    q: value("q"),
    ns: kind.namespaced ? namespaces(value("ns")) : [],
    labels: value("labels"),
  };
}
