// The content of the popover where the user selects the active context of the kubeconfig.

import "../shared-code.ts";
import type { TargetedKeyboardEvent } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { contextText, type Contexts } from "../net/contexts.ts";
import type { Content } from "../ui/popover.ts";
import { popoverContent, useRedraw } from "../ui/view.tsx";

export const contextChooser = (contexts: Contexts): Content => popoverContent(<ContextChooser contexts={contexts} />);

function ContextChooser({ contexts }: { contexts: Contexts }) {
  const redraw = useRedraw();
  const [typed, setTyped] = useState("");
  const filter = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => void contexts.read().then(redraw), []);
  const terms = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((w) => w !== "");
  const found = contexts.all.filter((c) => terms.every((w) => `${c.name} ${contextText(c)}`.toLowerCase().includes(w)));
  const choose = async (name: string): Promise<void> => {
    const chosen = contexts.choose(name);
    redraw();
    await chosen;
    redraw();
  };
  const handleKey = (e: TargetedKeyboardEvent<HTMLElement>): void => {
    const buttons = [...(list.current?.querySelectorAll("button") ?? [])];
    const at = buttons.findIndex((button) => button === e.target);
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) (buttons[at + step] ?? (step < 0 ? filter.current : null))?.focus();
    else if (e.key === "Enter" && e.target === filter.current) buttons[0]?.click();
    else return;
    e.preventDefault();
  };
  return (
    <>
      <div class="pop-head" onKeyDown={handleKey}>
        <input
          type="text"
          placeholder="Filter contexts"
          aria-label="Filter contexts"
          autocomplete="off"
          spellcheck={false}
          autofocus
          ref={filter}
          value={typed}
          onInput={(e) => setTyped(e.currentTarget.value)}
        />
      </div>
      <div class="pop-body" onKeyDown={handleKey}>
        <ul class="pop-list" ref={list}>
          {found.map((c) => (
            <li key={c.name}>
              <button
                type="button"
                class="context"
                data-name={c.name}
                aria-current={c.name === contexts.present ? "true" : undefined}
                onClick={() => void choose(c.name)}
              >
                <span class="name">{c.name}</span>
                <span class="of">{contextText(c)}</span>
              </button>
            </li>
          ))}
        </ul>
      </div>
      <p class="pop-note" role="status">
        {noteText(contexts, found.length)}
      </p>
    </>
  );
}

function noteText({ switchingTo, error, all }: Contexts, found: number): string {
  if (switchingTo !== "") return `Switching to ${switchingTo}…`;
  if (error !== "") return error;
  if (all.length === 0) return "Loading contexts…";
  return found === 0 ? "No contexts match." : "Switching changes the cluster for all viewers and all open tabs.";
}
