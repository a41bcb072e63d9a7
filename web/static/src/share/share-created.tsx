// The part of the share dialog that shows a new link. The URL cannot be shown again later.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { copyText } from "../ui/clipboard.ts";
import { expiryText } from "../model/guest.ts";
import type { Kind } from "../net/kinds.ts";
import { RestartNote } from "./share-list.tsx";
import { isLoopback, kioskUrl, partsText, type NewLink } from "./share-text.ts";

interface CreatedLinkProps {
  created: NewLink;
  kinds: readonly Kind[];
  now: number;
  another: () => void;
  done: () => void;
}

export function CreatedLink({ created: { url, persistent, link }, kinds, now, another, done }: CreatedLinkProps) {
  const [isKiosk, setKiosk] = useState(false);
  const [isCopied, setCopied] = useState(false);
  const [status, setStatus] = useState("Link created");
  const address = useRef<HTMLInputElement>(null);
  const copyButton = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => copyButton.current?.focus(), []);
  const current = isKiosk ? kioskUrl(url) : url;
  const { hostname } = new URL(url, location.href);
  const copy = async (): Promise<void> => {
    const copied = await copyText(current);
    setCopied(copied);
    setStatus(copied ? "Link copied" : "Could not copy the link. It is selected: press Ctrl+C or ⌘C.");
    if (!copied) address.current?.select();
  };
  return (
    <div class="share-made">
      <p class="share-status" role="status">
        {status}
      </p>
      <div class="share-line">
        <input
          type="text"
          readOnly
          class="share-url"
          aria-label="Share link"
          spellcheck={false}
          value={current}
          ref={address}
          onFocus={(e) => e.currentTarget.select()}
        />
        <button type="button" class="primary" ref={copyButton} onClick={() => void copy()}>
          {isCopied ? "Copied" : "Copy"}
        </button>
      </div>
      {isLoopback(hostname) && (
        <p class="share-loopback">
          {`${hostname} is a loopback address: this link only works on your machine. To share it, serve ` +
            "Glasshouse on a reachable address, for example through an Ingress."}
        </p>
      )}
      <div class="share-columns">
        <QrCode text={current} />
        <div class="share-notes">
          <p>{`Viewers see ${partsText(link.parts, kinds)} until ${expiryText(link.expires, now)}.`}</p>
          <p>
            Copy the link now: only its hash is stored, so it is not shown again. You can revoke the link under Links.
          </p>
          {!persistent && (
            <p>
              <RestartNote />
            </p>
          )}
          <label>
            <input
              type="checkbox"
              name="kiosk"
              checked={isKiosk}
              onChange={(e) => {
                setKiosk(e.currentTarget.checked);
                setCopied(false);
              }}
            />
            <span>
              <span class="name">Kiosk mode</span>
              {" large type, no controls"}
            </span>
          </label>
          {isKiosk && (
            <p class="share-rotation">
              {"To rotate through several views, open the link on the display. Add "}
              <code>#rotate=30&amp;view=/PATH&amp;view=/PATH</code>
              {" to the URL, and reload the page. Each view is shown for 30 s."}
            </p>
          )}
        </div>
      </div>
      <div class="share-foot">
        <button type="button" onClick={another}>
          Create another link
        </button>
        <button type="button" onClick={done}>
          Done
        </button>
      </div>
    </div>
  );
}

// Preact only creates the container. qr.ts draws the code as one large SVG path, and is loaded on demand.
function QrCode({ text }: { text: string }) {
  const element = useRef<HTMLDivElement>(null);
  const [isFailed, setFailed] = useState(false);
  useLayoutEffect(() => {
    import("./qr.ts").then(
      ({ drawQrCode }) => element.current?.replaceChildren(drawQrCode(text, "QR code of the link")),
      () => setFailed(true),
    );
  }, [text]);
  return isFailed ? (
    <div class="share-code">
      <p>The QR code could not be loaded. Copy the link instead.</p>
    </div>
  ) : (
    <div key="code" class="share-code" ref={element} />
  );
}
