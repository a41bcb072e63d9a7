import { useHighlight } from "../../ui/view.tsx";
import type { Health, HealthStatus } from "../../net/wire.ts";

const statusLabels: Readonly<Record<HealthStatus | "Deleted", string>> = {
  Deleted: "Deleted",
  Current: "OK",
  InProgress: "In progress",
  Failed: "Failed",
  Terminating: "Terminating",
  Unknown: "Unknown",
};

/** Shows the health that the server reported. A deleted object has none. */
export function HealthView({ reported, isDeleted }: { reported: Health | null; isDeleted: boolean }) {
  const health = isDeleted ? null : reported;
  const status = isDeleted ? "Deleted" : (health?.status ?? "Unknown");
  const reason = isDeleted ? "Showing its last state" : health === null ? "Health unknown" : health.summary;
  const details = health?.details ?? [];
  const summary = useHighlight<HTMLParagraphElement>(isDeleted ? null : `${status} ${reason}`);
  return (
    <div class="health" data-health={status} title={health === null ? undefined : `kstatus: ${status}`}>
      <span class="mark" aria-hidden="true" />
      <p ref={summary}>
        <strong aria-live="polite">{statusLabels[status]}</strong> <span class="why">{reason}</span>
      </p>
      <ul hidden={details.length === 0}>
        {details.map((text) => (
          <li>{text}</li>
        ))}
      </ul>
    </div>
  );
}
