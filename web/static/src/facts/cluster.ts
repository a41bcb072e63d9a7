// Facts of Namespaces, CustomResourceDefinitions and HorizontalPodAutoscalers.

import { fact, few, item, link, none, piece, section, since, type Fact, type Section } from "./fact.ts";
import { at, number, scalar, text, texts, time, trees } from "./read.ts";
import { share } from "./workload.ts";

export function namespace(o: unknown): (Section | null)[] {
  const phase = text(at(o, "status", "phase"));
  return [section("", [
    fact("Phase", piece(phase, { tone: phase === "Active" ? "good" : "warn" })),
    fact("Namespace finalizers", ...texts(at(o, "spec", "finalizers")).filter((f) => f !== "kubernetes")),
    fact("Pod security", text(at(o, "metadata", "labels", "pod-security.kubernetes.io/enforce"))),
  ])];
}

export function definition(o: unknown): (Section | null)[] {
  const [spec, names] = [at(o, "spec"), at(o, "spec", "names")];
  const versions = trees(at(spec, "versions")).map((v) =>
    item(
      text(v["name"]) || "version",
      [
        v["served"] === true ? { text: "served", tone: "good" as const } : none("not served"),
        v["storage"] === true ? { text: "storage version" } : null,
        v["deprecated"] === true ? { text: "deprecated", tone: "warn" as const } : null,
      ],
      [
        fact("Warning", text(v["deprecationWarning"])),
        fact(
          "Columns",
          ...few(
            trees(v["additionalPrinterColumns"]).map((c) => piece(text(c["name"]), { title: text(c["jsonPath"]) })),
          ),
        ),
        fact("Subresources", ...Object.keys((at(v, "subresources") ?? {}) as object)),
      ],
    ),
  );
  return [
    section("", [
      fact("Kind", text(at(names, "kind"))),
      fact("Group", text(at(spec, "group"))),
      fact("Names", text(at(names, "plural")), text(at(names, "singular")), ...texts(at(names, "shortNames"))),
      fact("Categories", ...texts(at(names, "categories"))),
      fact("Scope", text(at(spec, "scope"))),
      fact("Conversion", text(at(spec, "conversion", "strategy"))),
      fact("Stored versions", ...texts(at(o, "status", "storedVersions"))),
    ]),
    section("Versions", [], versions),
  ];
}

export function autoscaler(o: unknown): (Section | null)[] {
  const [spec, status] = [at(o, "spec"), at(o, "status")];
  const target = at(spec, "scaleTargetRef");
  const [kind, name] = [text(at(target, "kind")), text(at(target, "name"))];
  return [
    section("", [
      fact(
        "Scale target",
        link(
          text(at(target, "apiVersion")),
          kind,
          text(at(o, "metadata", "namespace")),
          name,
          `${kind} ${name}`.trim(),
        ),
      ),
      // desiredReplicas is 0 until the autoscaler first computes it, so 0 counts as unknown.
      share("Replicas", number(at(status, "currentReplicas")), number(at(status, "desiredReplicas")) || null),
      fact(
        "Min/max replicas",
        `${scalar(at(spec, "minReplicas")) || "1"}-${scalar(at(spec, "maxReplicas")) || "unknown"}`,
      ),
      fact("Last scaled", since(time(at(status, "lastScaleTime"))) ?? none("not yet")),
    ]),
    section("Metrics", trees(at(spec, "metrics")).map((m) => metric(m, trees(at(status, "currentMetrics"))))),
  ];
}

// The values of a metric are in a member that is named after its type.
function metric(m: unknown, current: readonly unknown[]): Fact | null {
  const type = text(at(m, "type"));
  const member = type.charAt(0).toLowerCase() + type.slice(1);
  const nameOf = (v: unknown): string => text(at(v, member, "name")) || text(at(v, member, "metric", "name"));
  const value = (v: unknown): string => {
    const percent = scalar(at(v, "averageUtilization"));
    return percent === "" ? scalar(at(v, "averageValue")) || scalar(at(v, "value")) : `${percent}%`;
  };
  const now = current.find((c) => text(at(c, "type")) === type && nameOf(c) === nameOf(m));
  const measured = value(at(now, member, "current"));
  return fact(
    nameOf(m) || type,
    measured === "" ? none("current unknown") : piece(measured),
    piece(`target ${value(at(m, member, "target")) || "unknown"}`, { tone: "quiet" }),
  );
}
