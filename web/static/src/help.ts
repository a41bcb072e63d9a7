// The help dialog: the keys of this page, from the table of commands.

import { apple } from "./keys.ts";
import { under } from "./base.ts";
import { keyWords, type Command } from "./commands.ts";
import { h } from "./dom.ts";
import { isSign, letLettersAct, lettersAct } from "./letters.ts";

export function openHelp(commands: readonly Command[]): void {
  const groups = new Map<string, HTMLElement[]>();
  for (const c of commands) {
    if (c.keys.length === 0) continue;
    const keys = c.keys.flatMap((k, i) => [
      ...(i > 0 ? [" "] : []),
      h("kbd", { "data-sign": isSign(k) ? true : null }, keyWords(k, apple)),
    ]);
    const line = h("div", {}, h("dt", {}, ...keys), h("dd", {}, c.words));
    groups.set(c.group, [...(groups.get(c.group) ?? []), line]);
  }
  const close = h("button", { type: "button", class: "icon", "aria-label": "Close", title: "Close (Esc)" }, "×");
  const letters = h("input", { type: "checkbox" });
  const sections = [...groups].map(([name, lines]) => h("section", {}, h("h3", {}, name), h("dl", {}, ...lines)));
  const dialog = h("dialog", { class: "help", id: "keys", "aria-labelledby": "keys-title" },
    h("div", { class: "help-head" },
      h("h2", { id: "keys-title" }, "Keyboard shortcuts"), h("span", { class: "spring" }), close),
    h("div", { class: "help-body", tabindex: "0", autofocus: true, role: "region", "aria-label": "Keyboard shortcuts" },
      ...sections),
    h("div", { class: "help-foot" },
      h("label", {}, letters, "Enable single-key shortcuts"),
      h("p", {}, "Glasshouse is read-only. Shortcuts never change the cluster."),
      h("a", { href: under("/third-party-notices") }, "Third-party notices")));
  const tell = (): void => void dialog.toggleAttribute("data-letters-off", !lettersAct());
  letters.checked = lettersAct();
  letters.addEventListener("change", () => {
    letLettersAct(letters.checked);
    tell();
  });
  tell();
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (e) => {
    if (e.target === dialog) dialog.close();
  });
  dialog.addEventListener("keydown", (e) => {
    if (e.key !== "?" || !lettersAct()) return;
    e.preventDefault();
    dialog.close();
  });
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
