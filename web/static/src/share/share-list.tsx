// The list of existing share links in the share dialog. The user can revoke each link.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { clockTime } from "../text/age.ts";
import { asSentence } from "../model/status.ts";
import type { Kind } from "../net/kinds.ts";
import { withBase } from "../net/base-path.ts";
import { problemOf } from "../net/problem.ts";
import { TimedText, useRedraw } from "../ui/view.tsx";
import { linkText, partsText, readLinks, type Link } from "./share-text.ts";

const pollInterval = 3000; // ms between two requests for the list of links

/** A note that share links expire when Glasshouse restarts. */
export const RestartNote = () => (
  <>
    Links expire when Glasshouse restarts, because it runs without <code>--data-dir</code>.
  </>
);

// Reads the links from the server, and revokes them.
class LinkReader {
  links: readonly Link[] = [];
  status = "Loading links…";
  persistent = true; // whether the links remain valid after a restart of the program
  private lastSuccess: string | null = null; // time of the last successful response
  private timer: ReturnType<typeof setTimeout> | undefined;
  private open = true;
  private requestNumber = 0;

  constructor(
    private readonly now: () => number,
    private readonly onChange: () => void,
  ) {
    void this.poll();
  }

  close(): void {
    this.open = false;
    clearTimeout(this.timer);
  }

  /**
   * Revokes a link, and returns the index that it had in the list. A failure rejects the promise with the reason.
   */
  async revoke(id: string): Promise<number> {
    let response: Response;
    try {
      response = await fetch(withBase(`/api/v1/shares/${encodeURIComponent(id)}`), {
        method: "DELETE",
        headers: { accept: "application/json" },
        signal: AbortSignal.timeout(10_000),
      });
    } catch {
      throw new Error("Glasshouse did not respond. The link may still be active.");
    }
    if (!response.ok && response.status !== 404) {
      const { title, detail } = await problemOf(response);
      throw new Error(`${title}. ${detail}`);
    }
    const index = this.links.findIndex((l) => l.id === id);
    this.links = this.links.filter((l) => l.id !== id);
    this.status = "Link revoked. Viewers no longer have access.";
    return index;
  }

  private async poll(): Promise<void> {
    clearTimeout(this.timer);
    const ownRequest = ++this.requestNumber;
    let error = "Glasshouse did not respond.";
    let listing: ReturnType<typeof readLinks> = null;
    try {
      const response = await fetch(withBase("/api/v1/shares"), {
        cache: "no-store",
        headers: { accept: "application/json" },
        signal: AbortSignal.timeout(10_000),
      });
      if (response.ok) {
        error = "Glasshouse sent an invalid response.";
        listing = readLinks(await response.json());
      } else {
        const { title, detail } = await problemOf(response);
        error = asSentence(`${title}. ${detail}`);
      }
    } catch {
      // `error` keeps its initial text, which is shown below.
    }
    if (!this.open || ownRequest !== this.requestNumber) return;
    if (listing !== null) {
      this.links = listing.links;
      this.persistent = listing.persistent;
      this.lastSuccess = new Date(this.now()).toISOString();
      this.status = listing.links.length === 0 ? "No active links. New links appear here until they expire." : "";
    } else {
      this.status =
        error +
        (this.lastSuccess === null ? "" : ` Showing links as of ${clockTime(this.lastSuccess, this.now())}.`) +
        " Retrying automatically.";
    }
    this.onChange();
    this.timer = setTimeout(() => void this.poll(), pollInterval);
  }
}

export function ShareLinks({ kinds, now }: { kinds: readonly Kind[]; now: () => number }) {
  const redraw = useRedraw();
  const [reader] = useState(() => new LinkReader(now, redraw));
  const list = useRef<HTMLUListElement>(null);
  const revokedIndex = useRef(-1); // index of the link that has just been revoked
  useLayoutEffect(() => () => reader.close(), []);
  // Moves the keyboard focus from a revoked link to the next link, or to the tab if no link is left.
  useLayoutEffect(() => {
    if (revokedIndex.current < 0) return;
    const next = list.current?.children[Math.min(revokedIndex.current, reader.links.length - 1)];
    (next?.querySelector("button") ?? document.getElementById("share-tab-links"))?.focus();
    revokedIndex.current = -1;
  });
  const revoke = async (id: string): Promise<void> => {
    revokedIndex.current = await reader.revoke(id);
    redraw();
  };
  return (
    <div class="share-all">
      <p class="share-words" role="status">
        {reader.status}
      </p>
      <ul class="share-links" ref={list}>
        {reader.links.map((link) => (
          <LinkItem key={link.id} link={link} kinds={kinds} revoke={revoke} />
        ))}
      </ul>
      <p class="share-restart-note">{!reader.persistent && <RestartNote />}</p>
    </div>
  );
}

interface LinkItemProps {
  link: Link;
  kinds: readonly Kind[];
  revoke: (id: string) => Promise<void>;
}

function LinkItem({ link, kinds, revoke }: LinkItemProps) {
  const [error, setError] = useState("");
  return (
    <li>
      <div class="share-link">
        <p class="share-contents">{partsText(link.parts, kinds)}</p>
        <p class="share-link-note">{link.note}</p>
        <p class="share-details">
          <TimedText format={(now) => linkText(link, now)} />
        </p>
      </div>
      <p class="share-failed" role="alert">
        {error}
      </p>
      <RevokeControls revoke={() => revoke(link.id)} onError={setError} />
    </li>
  );
}

// The revoke button. After a click on it, the buttons for the confirmation are shown instead.
function RevokeControls({ revoke, onError }: { revoke: () => Promise<void>; onError: (error: string) => void }) {
  const [isConfirming, setConfirming] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const controls = useRef<HTMLDivElement>(null);
  const hadFocus = useRef(false); // whether the button that is being replaced had the focus; if so, the new one gets it
  useLayoutEffect(() => {
    if (hadFocus.current) controls.current?.querySelector("button")?.focus();
  }, [isConfirming]);
  const confirm = (on: boolean): void => {
    hadFocus.current = controls.current?.contains(document.activeElement) === true;
    setConfirming(on);
  };
  const run = async (): Promise<void> => {
    setBusy(true);
    try {
      await revoke();
    } catch (err) {
      setBusy(false);
      onError(err instanceof Error ? err.message : String(err));
    }
  };
  return (
    <div class="share-revoke" data-confirming={isConfirming ? "" : undefined} ref={controls}>
      {isConfirming ? (
        <>
          <span>Viewers lose access immediately.</span>
          <button type="button" class="danger" disabled={isBusy} onClick={() => void run()}>
            Revoke
          </button>
          <button type="button" disabled={isBusy} onClick={() => confirm(false)}>
            Cancel
          </button>
        </>
      ) : (
        <button type="button" onClick={() => confirm(true)}>
          Revoke
        </button>
      )}
    </div>
  );
}
