import { fact, firstPieces, link, absentPiece, piece, section, type Fact, type Piece, type Section } from "./fact.ts";
import { valueAt, list, scalar, text, texts, trees } from "./read.ts";

export function role(o: unknown): (Section | null)[] {
  const rules = trees(valueAt(o, "rules"));
  return [
    section("", [
      fact(
        "Aggregates",
        ...trees(valueAt(o, "aggregationRule", "clusterRoleSelectors")).map((s) =>
          Object.entries((valueAt(s, "matchLabels") ?? {}) as object)
            .map(([k, v]) => `${k}=${scalar(v)}`)
            .join(", "),
        ),
      ),
      rules.length === 0 ? fact("Rules", absentPiece("none (no permissions)")) : null,
    ]),
    section("Allows", rules.map(rule)),
  ];
}

export function binding(o: unknown): (Section | null)[] {
  const ref = valueAt(o, "roleRef");
  const ns = text(valueAt(o, "metadata", "namespace"));
  const subjects = trees(valueAt(o, "subjects")).map((s): Piece | null => {
    const [kind, name, subjectNamespace] = [text(s["kind"]), text(s["name"]), text(s["namespace"])];
    return kind === "ServiceAccount"
      ? link(
          "v1",
          kind,
          subjectNamespace || ns,
          name,
          `${kind} ${subjectNamespace === "" ? "" : `${subjectNamespace}/`}${name}`,
        )
      : piece(`${kind} ${name}`.trim());
  });
  return [
    section("", [
      fact(
        "Role",
        link(
          `${text(valueAt(ref, "apiGroup"))}/v1`,
          text(valueAt(ref, "kind")),
          ns,
          text(valueAt(ref, "name")),
          `${text(valueAt(ref, "kind"))} ${text(valueAt(ref, "name"))}`,
        ),
      ),
      fact("Subjects", ...(subjects.length === 0 ? [absentPiece()] : firstPieces(subjects, 50))),
    ]),
  ];
}

// Returns an RBAC rule as a fact. Its name consists of the resources or non-resource URLs, and its value lists the
// verbs.
function rule(r: unknown): Fact | null {
  const groups = list(valueAt(r, "apiGroups"))
    .map((g) => text(g) || "core")
    .join(", ");
  const names = texts(valueAt(r, "resourceNames"));
  const resourceNames =
    [...texts(valueAt(r, "resources")), ...texts(valueAt(r, "nonResourceURLs"))].join(", ") || "no resources";
  return fact(
    resourceNames,
    ...texts(valueAt(r, "verbs")),
    groups === "" || groups === "core"
      ? null
      : absentPiece(`API ${groups.includes(",") ? "groups" : "group"} ${groups}`),
    names.length === 0
      ? null
      : absentPiece(`only objects named ${names.slice(0, 10).join(", ")}${names.length > 10 ? ", …" : ""}`),
  );
}
