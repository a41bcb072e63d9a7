import { countedSeverities, type CountedSeverity } from "../model/severity.ts";
import { clockTime } from "../text/age.ts";
import { formatInteger } from "../text/format.ts";
import { TimedText } from "./view.tsx";

interface TotalsProps {
  count: (severity: CountedSeverity) => number;
  cluster: string;
}

/** Large counts of objects by severity, and a clock, for a wall display. kiosk.css has their style. */
export function Totals({ count, cluster }: TotalsProps) {
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
      <p class="clock">
        <span class="number">
          <TimedText format={(now) => clockTime(new Date(now).toISOString(), now).slice(0, 5)} />
        </span>{" "}
        {cluster}
      </p>
    </div>
  );
}
