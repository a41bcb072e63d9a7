// The share dialog, in which the user selects what to share, gets the link, and manages existing links.

import "../shared-code.ts";
import type { TargetedKeyboardEvent } from "preact";
import { useState } from "preact/hooks";
import { addDialog, mount, ViewState } from "../ui/view.tsx";
import { CreatedLink } from "./share-created.tsx";
import { ShareForm } from "./share-form.tsx";
import type { ShareHost } from "./share-host.ts";
import { ShareLinks } from "./share-list.tsx";
import type { NewLink } from "./share-text.ts";

export class ShareDialog {
  readonly dialog = addDialog({ id: "sharing", class: "sharing", "aria-labelledby": "sharing-title" }, () =>
    clearInterval(this.ticker),
  );
  private ticker: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly host: ShareHost) {}

  open(): void {
    if (this.dialog.open) return;
    this.dialog.showModal();
    const state = new ViewState(this.host.now);
    // Rendering again each second shows the kinds as soon as the page has received them.
    const update = (): void => {
      mount(this.dialog, <Share host={this.host} close={() => this.dialog.close()} />, state);
      state.tick();
    };
    update();
    this.ticker = setInterval(update, 1000);
  }
}

const tabs = [
  { id: "new", label: "New link" },
  { id: "links", label: "Links" },
] as const;

type TabId = (typeof tabs)[number]["id"];

function Share({ host, close }: { host: ShareHost; close: () => void }) {
  // Each click on a tab increases `number`. The key of the content contains it, so Preact creates the content again.
  const [{ tab, number }, setTab] = useState<{ tab: TabId; number: number }>({ tab: "new", number: 0 });
  const [created, setCreated] = useState<NewLink | null>(null);
  const show = (id: TabId): void => {
    setCreated(null);
    setTab({ tab: id, number: number + 1 });
  };
  return (
    <>
      <div class="share-head">
        <h2 id="sharing-title">Share</h2>
        <div role="tablist" class="share-tabs" aria-label="Share" onKeyDown={moveToOtherTab}>
          {tabs.map(({ id, label }) => (
            <button
              key={id}
              type="button"
              role="tab"
              id={`share-tab-${id}`}
              aria-controls="share-panel"
              aria-selected={id === tab}
              tabIndex={id === tab ? 0 : -1}
              onClick={() => show(id)}
            >
              {label}
            </button>
          ))}
        </div>
        <span class="spring" />
        <button type="button" class="icon" aria-label="Close" title="Close (Esc)" onClick={close}>
          ×
        </button>
      </div>
      <div class="share-body" id="share-panel" role="tabpanel" aria-labelledby={`share-tab-${tab}`}>
        {created !== null ? (
          <CreatedLink
            created={created}
            kinds={host.kinds()}
            now={host.now()}
            another={() => show("new")}
            done={close}
          />
        ) : tab === "new" ? (
          <ShareForm key={number} host={host} onCreated={setCreated} />
        ) : (
          <ShareLinks key={number} kinds={host.kinds()} now={host.now} />
        )}
      </div>
    </>
  );
}

function moveToOtherTab(e: TargetedKeyboardEvent<HTMLElement>): void {
  if (e.key !== "ArrowLeft" && e.key !== "ArrowRight") return;
  const other = [...e.currentTarget.querySelectorAll("button")].find((tab) => tab !== document.activeElement);
  other?.focus();
  other?.click();
}
