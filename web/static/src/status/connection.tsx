// The content of the popover of the connection status, in the header.

import "../core-code.ts";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { ListPage } from "../list/list.ts";
import { withBase } from "../net/base-path.ts";
import { plural } from "../net/kinds.ts";
import type { Latency } from "../net/latency.ts";
import { sharedParts } from "../model/guest.ts";
import { clockTime } from "../text/age.ts";
import { byId } from "../ui/dom.ts";
import type { Content } from "../ui/popover.ts";
import { popoverContent, useRedraw } from "../ui/view.tsx";
import { EventRate } from "./event-rate.ts";

type Measurement = Pick<Latency, "ms" | "at">;
type List = Pick<ListPage, "eventCount" | "kind">;

/** The content shows the latency, and on the page of a list, how often rows change. It is updated every second. */
export const connectionDetails = (latency: Measurement, now: () => number, list: () => List | null): Content =>
  popoverContent(<ConnectionDetails latency={latency} now={now} list={list} />);

/** Formats a round-trip time, such as "12 ms". */
export const roundTripText = (ms: number): string => (ms < 1 ? "<1 ms" : `${Math.round(ms)} ms`);

interface Props {
  readonly latency: Measurement;
  readonly now: () => number;
  readonly list: () => List | null;
}

function ConnectionDetails({ latency: { ms, at }, now, list }: Props) {
  const redraw = useRedraw();
  const rate = useRef(new EventRate(list()?.eventCount));
  useLayoutEffect(() => {
    const timer = setInterval(() => {
      const current = list();
      if (current !== null) rate.current.tick(current.eventCount);
      redraw();
    }, 1000);
    return () => clearInterval(timer);
  }, []);
  const shown = list();
  const isLive = byId("status").dataset["state"] === "live";
  return (
    <>
      <dl class="connection-details">
        <dt>Browser to Glasshouse</dt>
        <dd>{ms === null ? "Unknown" : roundTripText(ms)}</dd>
        {shown !== null && isLive && (
          <>
            <dt>Changes to {plural(shown.kind)}</dt>
            <dd>{rate.current.text || "Measuring…"}</dd>
          </>
        )}
      </dl>
      <p class="pop-note">
        {ms !== null && `Round trip, measured at ${clockTime(new Date(at).toISOString(), now())}. `}
        This is not the latency of the API server.
        {sharedParts() === null && (
          <>
            {" "}
            <a href={withBase("/status")}>Watch status</a>
          </>
        )}
      </p>
    </>
  );
}
