// The help dialog, which lists the keyboard shortcuts of the current page.

import { isApple } from "./keys.ts";
import { withBase } from "../net/base-path.ts";
import { keyLabel, type Command } from "./commands.ts";
import { h } from "../ui/dom.ts";
import { isCharacterKey, setSingleKeysEnabled, singleKeysEnabled } from "../ui/single-key.ts";

export function openHelp(commands: readonly Command[]): void {
  const groups = new Map<string, HTMLElement[]>();
  for (const c of commands) {
    if (c.keys.length === 0) continue;
    const keys = c.keys.flatMap((k, i) => [
      ...(i > 0 ? [" "] : []),
      h("kbd", { "data-single-key": isCharacterKey(k) ? true : null }, keyLabel(k, isApple)),
    ]);
    const line = h("div", {}, h("dt", {}, ...keys), h("dd", {}, c.label));
    groups.set(c.group, [...(groups.get(c.group) ?? []), line]);
  }
  const close = h("button", { type: "button", class: "icon", "aria-label": "Close", title: "Close (Esc)" }, "×");
  const singleKeyCheckbox = h("input", { type: "checkbox" });
  const sections = [...groups].map(([name, lines]) => h("section", {}, h("h3", {}, name), h("dl", {}, ...lines)));
  const dialog = h("dialog", { class: "help", id: "keys", "aria-labelledby": "keys-title" },
    h("div", { class: "help-head" },
      h("h2", { id: "keys-title" }, "Keyboard shortcuts"), h("span", { class: "spring" }), close),
    h("div", { class: "help-body", tabindex: "0", autofocus: true, role: "region", "aria-label": "Keyboard shortcuts" },
      ...sections),
    h("div", { class: "help-foot" },
      h("label", {}, singleKeyCheckbox, "Enable single-key shortcuts"),
      h("p", {}, "Glasshouse is read-only. Shortcuts never change the cluster."),
      h("a", { href: withBase("/third-party-notices") }, "Third-party notices")));
  const updateLetters = (): void => void dialog.toggleAttribute("data-single-keys-off", !singleKeysEnabled());
  singleKeyCheckbox.checked = singleKeysEnabled();
  singleKeyCheckbox.addEventListener("change", () => {
    setSingleKeysEnabled(singleKeyCheckbox.checked);
    updateLetters();
  });
  updateLetters();
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (e) => {
    if (e.target === dialog) dialog.close();
  });
  dialog.addEventListener("keydown", (e) => {
    if (e.key !== "?" || !singleKeysEnabled()) return;
    e.preventDefault();
    dialog.close();
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
