import { fact, firstPieces, item, link, absentPiece, piece, section, since, type Fact, type Section } from "./fact.ts";
import { valueAt, number, scalar, text, texts, time, trees } from "./read.ts";
import { shareFact } from "./workload.ts";

export function namespace(o: unknown): (Section | null)[] {
  const phase = text(valueAt(o, "status", "phase"));
  return [
    section("", [
      fact("Phase", piece(phase, { level: phase === "Active" ? "good" : "warn" })),
      fact("Namespace finalizers", ...texts(valueAt(o, "spec", "finalizers")).filter((f) => f !== "kubernetes")),
      fact("Pod security", text(valueAt(o, "metadata", "labels", "pod-security.kubernetes.io/enforce"))),
    ]),
  ];
}

export function definition(o: unknown): (Section | null)[] {
  const [spec, names] = [valueAt(o, "spec"), valueAt(o, "spec", "names")];
  const versions = trees(valueAt(spec, "versions")).map((v) =>
    item(
      text(v["name"]) || "version",
      [
        v["served"] === true ? { text: "served", level: "good" as const } : absentPiece("not served"),
        v["storage"] === true ? { text: "storage version" } : null,
        v["deprecated"] === true ? { text: "deprecated", level: "warn" as const } : null,
      ],
      [
        fact("Warning", text(v["deprecationWarning"])),
        fact(
          "Columns",
          ...firstPieces(
            trees(v["additionalPrinterColumns"]).map((c) => piece(text(c["name"]), { title: text(c["jsonPath"]) })),
          ),
        ),
        fact("Subresources", ...Object.keys((valueAt(v, "subresources") ?? {}) as object)),
      ],
    ),
  );
  return [
    section("", [
      fact("Kind", text(valueAt(names, "kind"))),
      fact("Group", text(valueAt(spec, "group"))),
      fact(
        "Names",
        text(valueAt(names, "plural")),
        text(valueAt(names, "singular")),
        ...texts(valueAt(names, "shortNames")),
      ),
      fact("Categories", ...texts(valueAt(names, "categories"))),
      fact("Scope", text(valueAt(spec, "scope"))),
      fact("Conversion", text(valueAt(spec, "conversion", "strategy"))),
      fact("Stored versions", ...texts(valueAt(o, "status", "storedVersions"))),
    ]),
    section("Versions", [], versions),
  ];
}

export function autoscaler(o: unknown): (Section | null)[] {
  const [spec, status] = [valueAt(o, "spec"), valueAt(o, "status")];
  const target = valueAt(spec, "scaleTargetRef");
  const [kind, name] = [text(valueAt(target, "kind")), text(valueAt(target, "name"))];
  return [
    section("", [
      fact(
        "Scale target",
        link(
          text(valueAt(target, "apiVersion")),
          kind,
          text(valueAt(o, "metadata", "namespace")),
          name,
          `${kind} ${name}`.trim(),
        ),
      ),
      // desiredReplicas is 0 until the autoscaler computes it, so 0 means unknown.
      shareFact(
        "Replicas",
        number(valueAt(status, "currentReplicas")),
        number(valueAt(status, "desiredReplicas")) || null,
      ),
      fact(
        "Min/max replicas",
        `${scalar(valueAt(spec, "minReplicas")) || "1"}-${scalar(valueAt(spec, "maxReplicas")) || "unknown"}`,
      ),
      fact("Last scaled", since(time(valueAt(status, "lastScaleTime"))) ?? absentPiece("not yet")),
    ]),
    section(
      "Metrics",
      trees(valueAt(spec, "metrics")).map((m) => metric(m, trees(valueAt(status, "currentMetrics")))),
    ),
  ];
}

// The Kubernetes API stores the values of a metric in a field named after its type, such as "resource".
function metric(m: unknown, current: readonly unknown[]): Fact | null {
  const type = text(valueAt(m, "type"));
  const member = type.charAt(0).toLowerCase() + type.slice(1);
  const nameOf = (v: unknown): string => text(valueAt(v, member, "name")) || text(valueAt(v, member, "metric", "name"));
  const value = (v: unknown): string => {
    const percent = scalar(valueAt(v, "averageUtilization"));
    return percent === "" ? scalar(valueAt(v, "averageValue")) || scalar(valueAt(v, "value")) : `${percent}%`;
  };
  const currentMetric = current.find((c) => text(valueAt(c, "type")) === type && nameOf(c) === nameOf(m));
  const measured = value(valueAt(currentMetric, member, "current"));
  return fact(
    nameOf(m) || type,
    measured === "" ? absentPiece("current unknown") : piece(measured),
    piece(`target ${value(valueAt(m, member, "target")) || "unknown"}`, { level: "quiet" }),
  );
}
