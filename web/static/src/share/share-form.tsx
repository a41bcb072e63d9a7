// The form of the share dialog, with which the user creates a link.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { withBase } from "../net/base-path.ts";
import { problemOf } from "../net/problem.ts";
import type { ListedKind } from "../net/kinds.ts";
import type { PageContent, ShareHost } from "./share-host.ts";
import { choiceOf, ShareKinds, type KindSelection } from "./share-kinds.tsx";
import {
  clusterEventsNamespace,
  hasEvents,
  hasLogs,
  homeResources,
  linkLifetimes,
  maxNoteLength,
  partsOf,
  partsText,
  readCreated,
  requestBody,
  unmaskedText,
  visibilityText,
  type NewLink,
  type ShareChoice,
} from "./share-text.ts";

type ShareTarget = ShareChoice["what"];

const targetLabels: Readonly<Record<ShareTarget, string>> = {
  home: "This page",
  view: "This view",
  object: "This object",
  kinds: "Resources and namespaces",
};

interface Extras {
  readonly logs: boolean;
  readonly events: boolean;
}

// Returns the choice to share the home page, list view or object (`target`). null if the page has no such content.
function pageChoice(
  content: PageContent | null,
  target: ShareTarget,
  extras: Extras,
  kinds: readonly ListedKind[],
): ShareChoice | null {
  if (content === null) return null;
  if ("home" in content) {
    const { home: view, watched } = content;
    const resources = homeResources(view.ns, watched, kinds);
    return target === "home" && resources.length > 0 ? { what: target, view, resources, ...extras } : null;
  }
  const { kind, view, object, tab } = content;
  if (target === "object") return object === null ? null : { what: target, kind, name: object, tab, ...extras };
  return target === "view" && view !== null ? { what: target, kind, view, ...extras } : null;
}

// Returns the namespaces that are selected at first.
function initialNamespaces(content: PageContent | null): readonly string[] {
  if (content !== null && "home" in content) return content.home.ns;
  const ofView = content?.view?.ns ?? [];
  return ofView.length > 0 || content?.object == null || content.object.ns === "" ? ofView : [content.object.ns];
}

export function ShareForm({ host, onCreated }: { host: ShareHost; onCreated: (created: NewLink) => void }) {
  const [content] = useState(() => host.pageContent());
  const listedKinds = host.kinds(); // empty until the page has received the catalog
  const plainChoice = (option: ShareTarget): ShareChoice | null =>
    pageChoice(content, option, { logs: false, events: false }, listedKinds);
  const [chosenTarget, setTarget] = useState<ShareTarget | null>(null);
  const target =
    chosenTarget ?? (["object", "view", "home"] as const).find((option) => plainChoice(option) !== null) ?? "kinds";
  const current = content !== null && "kind" in content ? content : null;
  const [selection, setSelection] = useState<KindSelection>({
    kinds: current === null ? [] : [current.kind.ref],
    ns: initialNamespaces(content),
    allNamespaces: false,
  });
  const [extras, setExtras] = useState<Extras>({ logs: current?.tab === "logs", events: current?.tab === "events" });
  const [seconds, setSeconds] = useState<number>(linkLifetimes[1].seconds);
  const [note, setNote] = useState("");
  const [error, setError] = useState("");
  const [isBusy, setBusy] = useState(false);
  const selected = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => selected.current?.focus(), []);

  const choice =
    target === "kinds" ? choiceOf(selection, listedKinds) : pageChoice(content, target, extras, listedKinds);
  const parts = choice === null ? [] : partsOf(choice);
  const submit = (e: Event): void => {
    e.preventDefault();
    if (choice === null || parts.length === 0 || isBusy) return;
    setBusy(true);
    setError("");
    createLink(choice, seconds, note).then(onCreated, (err: unknown) => {
      setError(err instanceof Error ? err.message : String(err));
      setBusy(false);
    });
  };
  return (
    <form class="share-form" onSubmit={submit}>
      <fieldset>
        <legend>What to share</legend>
        {(["home", "view", "object", "kinds"] as const).map((option) => {
          const plain = plainChoice(option);
          if (plain === null && option !== "kinds") return null;
          return (
            <>
              <label class="share-what">
                <input
                  type="radio"
                  name="what"
                  value={option}
                  checked={option === target}
                  ref={option === target ? selected : null}
                  onChange={() => setTarget(option)}
                />
                <span class="name">{targetLabels[option]}</span>
                <span class="words">
                  {plain === null ? "you select what the link shares" : partsText(partsOf(plain), listedKinds)}
                </span>
              </label>
              {option === target && plain !== null && (
                <ExtraParts choice={plain} extras={extras} onChange={setExtras} />
              )}
            </>
          );
        })}
        <ShareKinds
          live={host.live}
          listedKinds={listedKinds}
          selection={selection}
          onChange={setSelection}
          hidden={target !== "kinds"}
        />
      </fieldset>
      <fieldset class="share-times">
        <legend>Expires after</legend>
        <div class="segments">
          {linkLifetimes.map((lifetime) => (
            <label key={lifetime.seconds}>
              <input
                type="radio"
                name="seconds"
                value={lifetime.seconds}
                checked={lifetime.seconds === seconds}
                onChange={() => setSeconds(lifetime.seconds)}
              />
              <span>{lifetime.words}</span>
            </label>
          ))}
        </div>
      </fieldset>
      <div class="share-note">
        <label for="share-note">Note</label>
        <input
          type="text"
          id="share-note"
          name="note"
          maxLength={maxNoteLength}
          placeholder="Purpose (viewers see this)"
          autocomplete="off"
          value={note}
          onInput={(e) => setNote(e.currentTarget.value)}
        />
      </div>
      <div class="share-explanation">
        <p class="share-visible" role="status">
          {visibilityText(parts, listedKinds, document.documentElement.dataset["open"] !== undefined)}
        </p>
        <p>
          Anyone with the link can view this, without logging in, until the link expires or is revoked. The link uses
          your current permissions: if you lose access, viewers lose it too. Values of Secrets, ConfigMaps and
          environment variables are always masked for viewers. <strong>{unmaskedText(parts)}</strong>
        </p>
      </div>
      <p class="share-failed" role="alert" hidden={error === ""}>
        {error}
      </p>
      <div class="share-foot">
        <button type="submit" class="primary" disabled={parts.length === 0 || isBusy}>
          Create link
        </button>
      </div>
    </form>
  );
}

interface ExtraPartsProps {
  choice: ShareChoice;
  extras: Extras;
  onChange: (extras: Extras) => void;
}

function ExtraParts({ choice, extras, onChange }: ExtraPartsProps) {
  const eventsLabel =
    choice.what === "object"
      ? "Include events about this object"
      : choice.what === "view" && !choice.kind.namespaced
        ? `Include all events in namespace ${clusterEventsNamespace}`
        : "Include all events in the same namespaces";
  return (
    <div class="share-extras">
      <label hidden={!hasLogs(choice)}>
        <input
          type="checkbox"
          id="share-logs"
          name="logs"
          checked={extras.logs}
          onChange={(e) => onChange({ ...extras, logs: e.currentTarget.checked })}
        />
        Include logs
      </label>
      <label hidden={!hasEvents(choice)}>
        <input
          type="checkbox"
          id="share-events"
          name="events"
          checked={extras.events}
          onChange={(e) => onChange({ ...extras, events: e.currentTarget.checked })}
        />
        <span>{eventsLabel}</span>
      </label>
    </div>
  );
}

async function createLink(choice: ShareChoice, seconds: number, note: string): Promise<NewLink> {
  const base = document.documentElement.dataset["base"] ?? "";
  let response: Response;
  try {
    response = await fetch(withBase("/api/v1/shares"), {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify(requestBody(choice, base, seconds, note)),
      signal: AbortSignal.timeout(20_000),
    });
  } catch {
    throw new Error("Glasshouse did not respond. The link may have been created: check the list under Links.");
  }
  if (!response.ok) {
    const { title, detail } = await problemOf(response);
    throw new Error(`${title}. ${detail}`);
  }
  const created = readCreated(await response.json().catch(() => null));
  if (created === null)
    throw new Error("Glasshouse sent an invalid response. The link may have been created: check the list under Links.");
  return created;
}
