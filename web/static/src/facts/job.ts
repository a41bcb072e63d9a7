import { images } from "./container.ts";
import { fact, few, link, none, piece, section, since, type Section } from "./fact.ts";
import { at, number, scalar, text, time, trees } from "./read.ts";
import { selector, share } from "./workload.ts";

export function job(o: unknown): (Section | null)[] {
  const [spec, status] = [at(o, "spec"), at(o, "status")];
  const [active, failed] = [number(at(status, "active")), number(at(status, "failed"))];
  const started = time(at(status, "startTime"));
  const count = number(at(status, "succeeded")) ?? (started === "" ? null : 0);
  return [section("", [
    share("Succeeded", count, number(at(spec, "completions"))),
    fact("Active", active === null ? null : String(active)),
    fact("Failed", failed === null ? null : piece(String(failed), { tone: failed > 0 ? "bad" : "quiet" })),
    at(spec, "suspend") === true ? fact("Suspended", { text: "no pods are created", tone: "warn" }) : null,
    fact("Parallelism", scalar(at(spec, "parallelism"))),
    fact("Retries", after(at(spec, "backoffLimit"), "at most ")),
    fact("Deadline", after(at(spec, "activeDeadlineSeconds"), "", " s")),
    fact("Started", since(started) ?? none("not yet")),
    fact("Completed", since(time(at(status, "completionTime")))),
    fact("TTL after finished", after(at(spec, "ttlSecondsAfterFinished"), "", " s")),
    fact("Selector", ...selector(at(spec, "selector"))),
    images(at(spec, "template", "spec")),
  ])];
}

export function cronJob(o: unknown): (Section | null)[] {
  const [spec, status] = [at(o, "spec"), at(o, "status")];
  const ns = text(at(o, "metadata", "namespace"));
  const active = trees(at(status, "active")).map((j) =>
    link("batch/v1", "Job", text(j["namespace"]) || ns, text(j["name"])),
  );
  const limits = [
    after(at(spec, "successfulJobsHistoryLimit"), "", " successful"),
    after(at(spec, "failedJobsHistoryLimit"), "", " failed"),
  ];
  return [
    section("", [
      fact("Schedule", text(at(spec, "schedule")), text(at(spec, "timeZone"))),
      at(spec, "suspend") === true ? fact("Suspended", { text: "no jobs are created", tone: "warn" }) : null,
      fact("Last scheduled", since(time(at(status, "lastScheduleTime"))) ?? none("not yet")),
      fact("Last success", since(time(at(status, "lastSuccessfulTime"))) ?? none("not yet")),
      fact("Active", ...(active.length === 0 ? [none()] : few(active))),
      fact("Concurrency", text(at(spec, "concurrencyPolicy"))),
      fact("History limits", ...limits),
      images(at(spec, "jobTemplate", "spec", "template", "spec")),
    ]),
  ];
}

const after = (v: unknown, before: string, behind = ""): string =>
  (number(v) === null ? "" : `${before}${scalar(v)}${behind}`);
