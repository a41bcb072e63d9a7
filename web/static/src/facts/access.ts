// Facts of Roles and bindings: which subjects may do what.

import { fact, few, link, none, piece, section, type Fact, type Piece, type Section } from "./fact.ts";
import { at, list, scalar, text, texts, trees } from "./read.ts";

export function role(o: unknown): (Section | null)[] {
  const rules = trees(at(o, "rules"));
  return [
    section("", [
      fact(
        "Aggregates",
        ...trees(at(o, "aggregationRule", "clusterRoleSelectors")).map((s) =>
          Object.entries((at(s, "matchLabels") ?? {}) as object)
            .map(([k, v]) => `${k}=${scalar(v)}`)
            .join(", "),
        ),
      ),
      rules.length === 0 ? fact("Rules", none("none (no permissions)")) : null,
    ]),
    section("Allows", rules.map(rule)),
  ];
}

export function binding(o: unknown): (Section | null)[] {
  const ref = at(o, "roleRef");
  const ns = text(at(o, "metadata", "namespace"));
  const subjects = trees(at(o, "subjects")).map((s): Piece | null => {
    const [kind, name, where] = [text(s["kind"]), text(s["name"]), text(s["namespace"])];
    return kind === "ServiceAccount"
      ? link("v1", kind, where || ns, name, `${kind} ${where === "" ? "" : `${where}/`}${name}`)
      : piece(`${kind} ${name}`.trim());
  });
  return [
    section("", [
      fact(
        "Role",
        link(
          `${text(at(ref, "apiGroup"))}/v1`,
          text(at(ref, "kind")),
          ns,
          text(at(ref, "name")),
          `${text(at(ref, "kind"))} ${text(at(ref, "name"))}`,
        ),
      ),
      fact("Subjects", ...(subjects.length === 0 ? [none()] : few(subjects, 50))),
    ]),
  ];
}

// A rule is named after its resources, with their API group, or after its non-resource URLs.
function rule(r: unknown): Fact | null {
  const groups = list(at(r, "apiGroups")).map((g) => text(g) || "core").join(", ");
  const names = texts(at(r, "resourceNames"));
  const of = [...texts(at(r, "resources")), ...texts(at(r, "nonResourceURLs"))].join(", ") || "no resources";
  return fact(
    of,
    ...texts(at(r, "verbs")),
    groups === "" || groups === "core" ? null : none(`API ${groups.includes(",") ? "groups" : "group"} ${groups}`),
    names.length === 0 ? null : none(`named ${names.slice(0, 10).join(", ")}${names.length > 10 ? ", …" : ""}`),
  );
}
