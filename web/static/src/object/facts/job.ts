import { images } from "./container.ts";
import { fact, firstPieces, link, absentPiece, piece, section, since, type Section } from "./fact.ts";
import { podTemplate } from "./pod.ts";
import { valueAt, number, scalar, text, time, trees } from "./read.ts";
import { selectorPieces, shareFact } from "./workload.ts";

export function job(o: unknown): (Section | null)[] {
  const [spec, status] = [valueAt(o, "spec"), valueAt(o, "status")];
  const [active, failed] = [number(valueAt(status, "active")), number(valueAt(status, "failed"))];
  const started = time(valueAt(status, "startTime"));
  const count = number(valueAt(status, "succeeded")) ?? (started === "" ? null : 0);
  return [
    section("", [
      shareFact("Succeeded", count, number(valueAt(spec, "completions"))),
      fact("Active", active === null ? null : String(active)),
      fact("Failed", failed === null ? null : piece(String(failed), { level: failed > 0 ? "bad" : "quiet" })),
      valueAt(spec, "suspend") === true ? fact("Suspended", { text: "no pods are created", level: "warn" }) : null,
      fact("Parallelism", scalar(valueAt(spec, "parallelism"))),
      fact("Retries", withUnit(valueAt(spec, "backoffLimit"), "at most ")),
      fact("Deadline", withUnit(valueAt(spec, "activeDeadlineSeconds"), "", " s")),
      fact("Started", since(started) ?? absentPiece("not yet")),
      fact("Completed", since(time(valueAt(status, "completionTime")))),
      fact("TTL after finished", withUnit(valueAt(spec, "ttlSecondsAfterFinished"), "", " s")),
      fact("Selector", ...selectorPieces(valueAt(spec, "selector"))),
      images(valueAt(spec, "template", "spec")),
    ]),
    podTemplate(valueAt(spec, "template", "spec"), text(valueAt(o, "metadata", "namespace"))),
  ];
}

export function cronJob(o: unknown): (Section | null)[] {
  const [spec, status] = [valueAt(o, "spec"), valueAt(o, "status")];
  const ns = text(valueAt(o, "metadata", "namespace"));
  const active = trees(valueAt(status, "active")).map((j) =>
    link("batch/v1", "Job", text(j["namespace"]) || ns, text(j["name"])),
  );
  const limits = [
    withUnit(valueAt(spec, "successfulJobsHistoryLimit"), "", " successful"),
    withUnit(valueAt(spec, "failedJobsHistoryLimit"), "", " failed"),
  ];
  return [
    section("", [
      fact("Schedule", text(valueAt(spec, "schedule")), text(valueAt(spec, "timeZone"))),
      valueAt(spec, "suspend") === true ? fact("Suspended", { text: "no new Jobs are created", level: "warn" }) : null,
      fact("Last scheduled", since(time(valueAt(status, "lastScheduleTime"))) ?? absentPiece("not yet")),
      fact("Last success", since(time(valueAt(status, "lastSuccessfulTime"))) ?? absentPiece("not yet")),
      fact("Active", ...(active.length === 0 ? [absentPiece()] : firstPieces(active))),
      fact("Concurrency", text(valueAt(spec, "concurrencyPolicy"))),
      fact("History limits", ...limits),
      images(valueAt(spec, "jobTemplate", "spec", "template", "spec")),
    ]),
    podTemplate(valueAt(spec, "jobTemplate", "spec", "template", "spec"), ns),
  ];
}

const withUnit = (v: unknown, before: string, suffix = ""): string =>
  number(v) === null ? "" : `${before}${scalar(v)}${suffix}`;
