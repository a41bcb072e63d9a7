import { countedSeverities, type CountedSeverity } from "../model/severity.ts";
import { clockTime, humanDuration } from "../text/age.ts";
import { formatInteger } from "../text/format.ts";
import { TimedText } from "./view.tsx";

interface TotalsProps {
  count: (severity: CountedSeverity) => number;
  cluster: string;
  /** When the data last changed, in ms since 1970. null if it has not changed since the page was opened. */
  changedAt: number | null;
}

/** Large counts of objects by severity, the last change and a clock, for a wall display. kiosk.css has their style. */
export function Totals({ count, cluster, changedAt }: TotalsProps) {
  return (
    <div class="totals">
      {countedSeverities.map((severity) => {
        const n = count(severity);
        return (
          <p key={severity} data-severity={n > 0 ? severity : null}>
            <span class="number">{formatInteger(n)}</span> {severity}
          </p>
        );
      })}
      {changedAt !== null && (
        <p class="last-change">
          <TimedText format={(now) => `last change ${humanDuration(Math.max(0, now - changedAt))} ago`} />
        </p>
      )}
      <p class="clock">
        <span class="number">
          <TimedText format={(now) => clockTime(new Date(now).toISOString(), now).slice(0, 5)} />
        </span>{" "}
        {cluster}
      </p>
    </div>
  );
}
