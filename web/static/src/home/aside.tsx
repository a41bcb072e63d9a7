// The parts next to and below the problems: recent changes by people, warnings, and the watched resources.

import { bytesText } from "../text/bytes.ts";
import { formatInteger } from "../text/format.ts";
import type { SpecChange, Warning, Watched } from "../net/overview.ts";
import { sharedParts } from "../model/guest.ts";
import { fieldText, hasEvents, plural, pluralOfWatched, stateWord } from "./home-text.ts";
import { listHref } from "./links.ts";
import { Ago, keyOf, ObjectLink } from "./problems.tsx";

export function Changes({ changes }: { changes: readonly SpecChange[] }) {
  return (
    <section class="rail" aria-labelledby="changes-heading">
      <h2 id="changes-heading">Recent changes</h2>
      {changes.length === 0 && (
        <p class="none">
          {sharedParts() === null
            ? "No changes by people were observed in the last hour."
            : "The share link does not include recent changes."}
        </p>
      )}
      <ul>
        {changes.map((c) => {
          return (
            <li key={`${keyOf(c)} ${c.at} ${c.what} ${c.isDeletion}`}>
              <p class="line">
                <ObjectLink of={c} exists={!c.isDeletion} tab="changes" />
                <span class="since">
                  <Ago at={c.at} />
                </span>
              </p>
              <p class="of" title={c.what}>
                {`${c.kind}: ${c.isDeletion ? "deleted" : `${c.isCreation ? "created" : fieldText(c.what)} by `}`}
                {!c.isDeletion && <span class="by">{c.by || "an unknown author"}</span>}
              </p>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

export function Warnings({ warnings, watched }: { warnings: readonly Warning[]; watched: readonly Watched[] }) {
  return (
    <section class="rail" aria-labelledby="warnings-heading">
      <h2 id="warnings-heading">Warnings</h2>
      {warnings.length === 0 && (
        <p class="none">
          {hasEvents(watched) ? "No warning events in the last hour." : "Warning events have not been loaded."}
        </p>
      )}
      <ul>
        {warnings.map((w) => (
          <li key={w.reason}>
            <p class="line">
              <span class="reason">{w.reason}</span>
              <span class="times">{`×${formatInteger(w.count)}`}</span>
              <span class="since">
                <Ago at={w.last} />
              </span>
            </p>
            <p class="of message" title={w.message}>
              {w.message}
            </p>
            <WarningObjects warning={w} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function WarningObjects({ warning: { objects } }: { warning: Warning }) {
  const [first] = objects;
  if (first === undefined) return null;
  if (objects.length === 1)
    return (
      <p class="of">
        <ObjectLink of={first} kind />
      </p>
    );
  return (
    <details class="members">
      <summary>{plural(objects.length, "object")}</summary>
      <ul>
        {objects.map((o) => (
          <li key={keyOf(o)}>
            <ObjectLink of={o} kind />
          </li>
        ))}
      </ul>
    </details>
  );
}

export function WatchedResources({ watched }: { watched: readonly Watched[] }) {
  // The server sends no counts to a viewer who sees only some objects, such as those of one namespace. `objects` is
  // then 0.
  const objects = watched.reduce((n, w) => n + w.objects, 0);
  const bytes = watched.reduce((n, w) => n + w.bytes, 0);
  // Guests (viewers of a share link) do not see the memory use.
  const showsBytes = sharedParts() === null && objects > 0;
  return (
    <section class="watched" aria-labelledby="watched-heading">
      <h2 id="watched-heading">
        Watched resources{" "}
        <span
          class="count"
          title={showsBytes ? "Memory for the cached objects, without the history of changes" : undefined}
        >
          {[
            plural(watched.length, "type"),
            ...(objects > 0 ? [plural(objects, "object")] : []),
            ...(showsBytes ? [bytesText(bytes)] : []),
          ].join(", ")}
        </span>
      </h2>
      <ul>
        {watched.map((w) => (
          <WatchedItem key={w.resource} watched={w} isCounted={objects > 0} showsBytes={showsBytes} />
        ))}
      </ul>
    </section>
  );
}

interface WatchedItemProps {
  watched: Watched;
  isCounted: boolean;
  showsBytes: boolean;
}

function WatchedItem({ watched: w, isCounted, showsBytes }: WatchedItemProps) {
  const href = listHref(w.resource, []);
  const isKnown = w.state === "live" || w.state === "stale";
  const name = pluralOfWatched(w);
  const state = stateWord(w);
  const scope = w.namespaces.length === 0 ? "" : ` in ${plural(w.namespaces.length, "namespace")}`;
  return (
    <li data-state={w.state} title={`${name}${scope}: ${state}${w.reason === "" ? "" : `. ${w.reason}`}`}>
      {href === null ? (
        <span class="kind">{name}</span>
      ) : (
        <a class="kind" href={href}>
          {name}
        </a>
      )}
      {w.state !== "live" && <span class="state">{state}</span>}
      <span class="objects">{(isKnown && isCounted) || w.objects > 0 ? formatInteger(w.objects) : "–"}</span>
      {showsBytes && <span class="bytes">{isKnown ? bytesText(w.bytes) : "–"}</span>}
    </li>
  );
}
