import { useContext } from "preact/hooks";
import { useHighlight } from "../../ui/view.tsx";
import type { Health, Severity, Verdict } from "../../net/wire.ts";
import type { Cause } from "./cause.ts";
import { Chain } from "./explanation-view.tsx";
import type { Hop } from "./explanation.ts";
import { Overview } from "./fact-view.tsx";

const labels: Readonly<Record<Severity | "deleted" | "unknown", string>> = {
  deleted: "Deleted",
  unknown: "Unknown",
  none: "",
  ok: "OK",
  progressing: "Progressing",
  degraded: "Degraded",
  failed: "Failed",
};

interface Props {
  readonly health: Health | null;
  readonly verdict: Verdict | null;
  readonly isDeleted: boolean;
  readonly cause?: Cause | null;
  /** The path to the cause; empty if it is unknown. */
  readonly chain?: readonly Hop[];
  /** The URL of the log of the crashed container's previous instance. null if no container crashed. */
  readonly previousLog?: string | null;
}

/**
 * Shows the verdict on an object (its health), with the cause and details. If the health script failed, shows its
 * error. If an object without a verdict was not deleted, shows nothing, because any text, such as "OK", could be wrong.
 */
export function HealthView({ health, verdict, isDeleted, cause = null, chain = [], previousLog = null }: Props) {
  const severity = isDeleted ? "deleted" : isUnknown(verdict) ? "unknown" : (verdict?.severity ?? "none");
  const reason = isDeleted ? "Showing its last state" : verdict?.sentence || (health?.summary ?? "");
  const details = isDeleted ? [] : (health?.details ?? []);
  const summary = useHighlight<HTMLParagraphElement>(isDeleted ? null : `${severity} ${reason}`);
  if (severity === "none") return null;
  const hasChain = !isDeleted && chain.length > 1;
  // Omit the cause if the path already shows the object of the cause, and the reason already contains its sentence.
  const namedCause = hasChain && cause !== null && reason.includes(cause.sentence) ? null : cause;
  return (
    <div class="health" data-health={severity} title={verdict?.reason || undefined}>
      <span class="mark" aria-hidden="true" />
      <p ref={summary}>
        <strong aria-live="polite">{labels[severity]}</strong>{" "}
        <span class="why">{withoutPrefix(reason, `${labels[severity]}: `)}</span>
      </p>
      {hasChain && <Chain hops={chain} />}
      {!isDeleted && (namedCause !== null || previousLog !== null) && (
        <CauseView cause={namedCause} previousLog={previousLog} reason={reason} />
      )}
      <ul hidden={details.length === 0}>
        {details.map((text) => (
          <li>{text}</li>
        ))}
      </ul>
    </div>
  );
}

const isUnknown = (verdict: Verdict | null): boolean =>
  verdict !== null && verdict.severity === "none" && verdict.reason === "Unknown";

// Some sentences begin with the severity, such as "Failed: Evicted".
const withoutPrefix = (s: string, prefix: string): string => (s.startsWith(prefix) ? s.slice(prefix.length) : s);

interface CauseProps {
  cause: Cause | null;
  previousLog: string | null;
  reason: string; // the sentence of the verdict; CauseView does not repeat it
}

function CauseView({ cause, previousLog, reason }: CauseProps) {
  const { hrefOf } = useContext(Overview);
  const address = cause === null || cause.isMissing ? null : hrefOf(cause.resource, cause);
  const name = cause === null ? "" : `${cause.kind} ${cause.name}`.trim();
  return (
    <p class="cause">
      {cause !== null && (
        <>
          <span class="kind">Cause</span>{" "}
          {name !== "" &&
            (address === null ? (
              <strong>{name}</strong>
            ) : (
              <a href={address} data-address="">
                {name}
              </a>
            ))}
          {cause.isMissing && " (does not exist)"}
          {cause.sentence !== "" && cause.sentence !== reason && `${name === "" ? "" : ": "}${cause.sentence}`}
        </>
      )}
      {previousLog !== null && (
        <>
          {" "}
          <a class="previous-log" href={previousLog} data-address="">
            View previous log
          </a>
        </>
      )}
    </p>
  );
}
