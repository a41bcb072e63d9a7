import { useHighlight } from "../../ui/view.tsx";
import type { Health, Severity, Verdict } from "../../net/wire.ts";

const labels: Readonly<Record<Severity | "deleted", string>> = {
  deleted: "Deleted",
  none: "",
  ok: "OK",
  progressing: "In progress",
  degraded: "Degraded",
  failed: "Failed",
};

interface Props {
  readonly health: Health | null;
  readonly verdict: Verdict | null;
  readonly isDeleted: boolean;
}

/**
 * Shows the verdict on an object and its details. Without a verdict, it shows nothing, because that is no sign of
 * health.
 */
export function HealthView({ health, verdict, isDeleted }: Props) {
  const severity = isDeleted ? "deleted" : (verdict?.severity ?? "none");
  const reason = isDeleted ? "Showing its last state" : verdict?.sentence || (health?.summary ?? "");
  const details = isDeleted ? [] : (health?.details ?? []);
  const summary = useHighlight<HTMLParagraphElement>(isDeleted ? null : `${severity} ${reason}`);
  if (severity === "none") return null;
  return (
    <div class="health" data-health={severity} title={verdict?.reason || undefined}>
      <span class="mark" aria-hidden="true" />
      <p ref={summary}>
        <strong aria-live="polite">{labels[severity]}</strong> <span class="why">{reason}</span>
      </p>
      <ul hidden={details.length === 0}>
        {details.map((text) => (
          <li>{text}</li>
        ))}
      </ul>
    </div>
  );
}
