// Buttons that copy the names of an object, and buttons that copy the kubectl commands that read it.

import { useState } from "preact/hooks";
import { copyText } from "../../ui/clipboard.ts";
import type { CopyItem } from "./kubectl.ts";

const confirmationTime = 2000; // ms for which the result of a copy is shown

interface Props {
  readonly items: readonly CopyItem[];
  readonly commands: readonly CopyItem[];
}

export function CopyBar({ items, commands }: Props) {
  const [result, setResult] = useState({ label: "", text: "" });
  const copy = async (item: CopyItem): Promise<void> => {
    const shown = { label: item.label, text: (await copyText(item.text)) ? "Copied" : "Copy failed" };
    setResult(shown);
    setTimeout(() => setResult((now) => (now === shown ? { label: "", text: "" } : now)), confirmationTime);
  };
  const labelOf = (item: CopyItem): string => (result.label === item.label ? result.text : item.label);
  return (
    <div class="copy-bar">
      <div class="copy-buttons" role="group" aria-label="Copy">
        <span class="copy-label" aria-hidden="true">
          Copy
        </span>
        {items.map((item) => (
          <button
            key={item.label}
            type="button"
            aria-label={result.label === item.label ? undefined : `Copy ${item.label}`}
            title={item.text}
            onClick={() => void copy(item)}
          >
            {labelOf(item)}
          </button>
        ))}
      </div>
      <details class="kubectl">
        <summary>kubectl</summary>
        <ul>
          {commands.map((command) => (
            <li key={command.label}>
              <code>{command.text}</code>
              <button
                type="button"
                aria-label={result.label === command.label ? undefined : `Copy the kubectl command: ${command.label}`}
                onClick={() => void copy(command)}
              >
                {result.label === command.label ? result.text : "Copy"}
              </button>
            </li>
          ))}
        </ul>
      </details>
      <span class="announcement" role="status">
        {result.text !== "" && `${result.label}: ${result.text}`}
      </span>
    </div>
  );
}
