// The help dialog, which lists the keyboard shortcuts of the current page.

import "../shared-code.ts";
import { useState } from "preact/hooks";
import { isApple } from "./keys.ts";
import { withBase } from "../net/base-path.ts";
import { keyLabel, type Command } from "./commands.ts";
import { isCharacterKey, setSingleKeysEnabled, singleKeysEnabled } from "../ui/single-key.ts";
import { addDialog, mount } from "../ui/view.tsx";

export function openHelp(commands: readonly Command[]): void {
  const dialog = addDialog({ class: "help", id: "keys", "aria-labelledby": "keys-title" }, () => dialog.remove());
  const showSingleKeys = (on: boolean): void => void dialog.toggleAttribute("data-single-keys-off", !on);
  showSingleKeys(singleKeysEnabled());
  dialog.addEventListener("keydown", (e) => {
    if (e.key !== "?" || !singleKeysEnabled()) return;
    e.preventDefault();
    dialog.close();
  });
  mount(dialog, <Help commands={commands} close={() => dialog.close()} onSingleKeys={showSingleKeys} />);
  dialog.showModal();
}

function Help({
  commands,
  close,
  onSingleKeys,
}: {
  commands: readonly Command[];
  close: () => void;
  onSingleKeys: (on: boolean) => void;
}) {
  const shown = commands.filter((c) => c.keys.length > 0);
  const groups = [...new Set(shown.map((c) => c.group))];
  return (
    <>
      <div class="help-head">
        <h2 id="keys-title">Keyboard shortcuts</h2>
        <span class="spring" />
        <button type="button" class="icon" aria-label="Close" title="Close (Esc)" onClick={close}>
          ×
        </button>
      </div>
      <div class="help-body" tabIndex={0} autofocus role="region" aria-label="Keyboard shortcuts">
        {groups.map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {shown
                .filter((c) => c.group === group)
                .map((c) => (
                  <Shortcut key={c.label} command={c} />
                ))}
            </dl>
          </section>
        ))}
      </div>
      <div class="help-foot">
        <SingleKeys onChange={onSingleKeys} />
        <p>Glasshouse is read-only. Shortcuts never change the cluster.</p>
        <a href={withBase("/third-party-notices")}>Third-party notices</a>
      </div>
    </>
  );
}

const Shortcut = ({ command }: { command: Command }) => (
  <div>
    <dt>
      {command.keys.map((key, i) => (
        <>
          {i > 0 && " "}
          <kbd data-single-key={isCharacterKey(key) ? "" : undefined}>{keyLabel(key, isApple)}</kbd>
        </>
      ))}
    </dt>
    <dd>{command.label}</dd>
  </div>
);

function SingleKeys({ onChange }: { onChange: (on: boolean) => void }) {
  const [on, setOn] = useState(singleKeysEnabled);
  const change = (enabled: boolean): void => {
    setSingleKeysEnabled(enabled);
    setOn(enabled);
    onChange(enabled);
  };
  return (
    <label>
      <input type="checkbox" checked={on} onChange={(e) => change(e.currentTarget.checked)} />
      Enable single-key shortcuts
    </label>
  );
}
