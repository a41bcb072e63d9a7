// The details of pods and pod templates that "kubectl describe" shows: environment, mounts, probes, volumes,
// tolerations and scheduling.

import { absentPiece, fact, group, link, piece, type Fact, type Group, type Piece } from "./fact.ts";
import { isScalar, isTree, list, members, number, scalar, text, texts, trees, valueAt } from "./read.ts";

const maxValueLength = 400; // characters; a longer value of an environment variable is shortened

export function containerGroups(c: unknown, ns: string): (Group | null)[] {
  const security = valueAt(c, "securityContext");
  return [
    group("Command", [
      fact("Command", ...list(valueAt(c, "command")).map(scalar)),
      fact("Arguments", ...list(valueAt(c, "args")).map(scalar)),
      fact("Working directory", text(valueAt(c, "workingDir"))),
      fact("Image pull policy", text(valueAt(c, "imagePullPolicy"))),
      fact("postStart hook", handlerText(valueAt(c, "lifecycle", "postStart"))),
      fact("preStop hook", handlerText(valueAt(c, "lifecycle", "preStop"))),
    ]),
    group("Environment", [
      ...trees(valueAt(c, "envFrom")).map((e) => envFrom(e, ns)),
      ...trees(valueAt(c, "env")).map((e) => variable(e, ns)),
    ]),
    group("Mounts", [
      ...trees(valueAt(c, "volumeMounts")).map(mount),
      ...trees(valueAt(c, "volumeDevices")).map((d) =>
        fact(text(d["devicePath"]), `volume ${text(d["name"])} (block device)`),
      ),
    ]),
    group(
      "Probes",
      ["startup", "readiness", "liveness"].map((name) => probe(name, valueAt(c, `${name}Probe`))),
    ),
    group("Security", settings(security)),
  ];
}

/** Returns groups of facts. The parameter `spec` is the field `spec` of a pod or of a pod template. */
export function podGroups(spec: unknown, ns: string): (Group | null)[] {
  const names = ["hostNetwork", "hostPID", "hostIPC"].filter((n) => valueAt(spec, n) === true);
  const seconds = (v: unknown): string => (number(v) === null ? "" : `${scalar(v)} s`);
  return [
    group(
      "Volumes",
      trees(valueAt(spec, "volumes")).map((v) => volume(v, ns)),
    ),
    group(
      "Tolerations",
      trees(valueAt(spec, "tolerations")).map((t, i) => toleration(t, i)),
    ),
    group("Scheduling", [
      fact("Node selector", ...members(valueAt(spec, "nodeSelector")).map(([k, v]) => `${k}=${scalar(v)}`)),
      ...["nodeAffinity", "podAffinity", "podAntiAffinity"].map((name) =>
        affinity(name, valueAt(spec, "affinity", name)),
      ),
      ...trees(valueAt(spec, "topologySpreadConstraints")).map((t) =>
        fact(`Spread by ${text(t["topologyKey"])}`, `max skew ${scalar(t["maxSkew"])}`, text(t["whenUnsatisfiable"])),
      ),
      fact("Scheduler", notDefault(valueAt(spec, "schedulerName"), "default-scheduler")),
      fact("Runtime class", text(valueAt(spec, "runtimeClassName"))),
    ]),
    group("Lifetime and network", [
      fact("Termination grace period", seconds(valueAt(spec, "terminationGracePeriodSeconds"))),
      fact("Deadline", seconds(valueAt(spec, "activeDeadlineSeconds"))),
      fact("Restart policy", text(valueAt(spec, "restartPolicy"))),
      fact("DNS policy", text(valueAt(spec, "dnsPolicy"))),
      fact("Host access", ...names.map((n) => piece(n, { level: "warn" }))),
      valueAt(spec, "shareProcessNamespace") === true ? fact("Process namespace", "shared by all containers") : null,
      fact(
        "Host aliases",
        ...trees(valueAt(spec, "hostAliases")).map((a) =>
          `${text(a["ip"])} ${texts(a["hostnames"]).join(", ")}`.trim(),
        ),
      ),
      valueAt(spec, "automountServiceAccountToken") === false ? fact("Service account token", "not mounted") : null,
    ]),
    group("Pod security", settings(valueAt(spec, "securityContext"))),
  ];
}

const notDefault = (v: unknown, usual: string): string => (text(v) === usual ? "" : text(v));

function variable(e: unknown, ns: string): Fact | null {
  const name = text(valueAt(e, "name"));
  const from = valueAt(e, "valueFrom");
  if (!isTree(from))
    return fact(name, isScalar(valueAt(e, "value")) ? shownValue(scalar(valueAt(e, "value"))) : absentPiece("empty"));
  const [configMap, secret] = [from["configMapKeyRef"], from["secretKeyRef"]];
  const optional = (ref: unknown): Piece | null => (valueAt(ref, "optional") === true ? absentPiece("optional") : null);
  if (isTree(configMap)) return fact(name, object("ConfigMap", configMap, ns), optional(configMap));
  if (isTree(secret)) return fact(name, object("Secret", secret, ns), optional(secret));
  const [field, resource] = [
    text(valueAt(from, "fieldRef", "fieldPath")),
    text(valueAt(from, "resourceFieldRef", "resource")),
  ];
  return fact(
    name,
    field !== ""
      ? absentPiece(`field ${field}`)
      : resource !== ""
        ? absentPiece(`resource ${resource}`)
        : absentPiece("from another source (see the YAML tab)"),
  );
}

function shownValue(value: string): Piece {
  if (value === "") return absentPiece("empty");
  if (value.length <= maxValueLength) return { text: value };
  return { text: `${value.slice(0, maxValueLength)}… (see the YAML tab)`, title: `${value.length} characters` };
}

function object(kind: string, ref: unknown, ns: string): Piece | null {
  const [name, key] = [text(valueAt(ref, "name")), text(valueAt(ref, "key"))];
  return link("v1", kind, ns, name, `${kind} ${name}${key === "" ? "" : `, key ${key}`}`);
}

function envFrom(e: unknown, ns: string): Fact | null {
  const prefix = text(valueAt(e, "prefix"));
  const name = prefix === "" ? "All keys" : `All keys, prefixed with ${prefix}`;
  return fact(name, object("ConfigMap", valueAt(e, "configMapRef"), ns), object("Secret", valueAt(e, "secretRef"), ns));
}

function mount(m: unknown): Fact | null {
  const [path, sub] = [text(valueAt(m, "mountPath")), text(valueAt(m, "subPath")) || text(valueAt(m, "subPathExpr"))];
  return fact(
    path,
    text(valueAt(m, "name")),
    valueAt(m, "readOnly") === true ? absentPiece("read-only") : null,
    sub === "" ? null : absentPiece(`subpath ${sub}`),
  );
}

const probeNumbers: readonly (readonly [string, string])[] = [
  ["initialDelaySeconds", "delay"],
  ["timeoutSeconds", "timeout"],
  ["periodSeconds", "period"],
];

function probe(name: string, v: unknown): Fact | null {
  if (!isTree(v)) return null;
  const seconds = probeNumbers.map(([member, label]) =>
    number(v[member]) === null ? "" : `${label} ${scalar(v[member])}s`,
  );
  const counts = [
    ["successThreshold", "success threshold"],
    ["failureThreshold", "failure threshold"],
  ].map(([member = "", label]) => (number(v[member]) === null ? "" : `${label} ${scalar(v[member])}`));
  return fact(`${name[0]?.toUpperCase()}${name.slice(1)}`, handlerText(v), ...seconds, ...counts);
}

/** Describes what a probe or a hook does, such as "GET :8080/healthz". */
export function handlerText(v: unknown): string {
  const [http, tcp, grpc] = [valueAt(v, "httpGet"), valueAt(v, "tcpSocket"), valueAt(v, "grpc")];
  const exec = list(valueAt(v, "exec", "command"));
  if (isTree(http))
    return `GET ${http["scheme"] === "HTTPS" ? "https " : ""}:${scalar(http["port"])}${text(http["path"]) || "/"}`;
  if (isTree(tcp)) return `tcp :${scalar(tcp["port"])}`;
  if (isTree(grpc)) return `grpc :${scalar(grpc["port"])}`;
  if (number(valueAt(v, "sleep", "seconds")) !== null) return `sleep ${scalar(valueAt(v, "sleep", "seconds"))}s`;
  return exec.length === 0 ? "" : `exec ${exec.map(scalar).join(" ")}`.trim();
}

function volume(v: unknown, ns: string): Fact | null {
  const name = text(valueAt(v, "name"));
  const [type = "", source] = members(v).find(([key]) => key !== "name") ?? [];
  const details: (Piece | string | null)[] = [];
  switch (type) {
    case "configMap":
      details.push(
        link("v1", "ConfigMap", ns, text(valueAt(source, "name")), `ConfigMap ${text(valueAt(source, "name"))}`),
      );
      break;
    case "secret": {
      const secret = text(valueAt(source, "secretName"));
      details.push(link("v1", "Secret", ns, secret, `Secret ${secret}`));
      break;
    }
    case "persistentVolumeClaim": {
      const claim = text(valueAt(source, "claimName"));
      details.push(link("v1", "PersistentVolumeClaim", ns, claim, `PersistentVolumeClaim ${claim}`));
      break;
    }
    case "projected":
      for (const s of trees(valueAt(source, "sources")))
        for (const [kind, inner] of members(s))
          details.push(
            kind === "configMap" || kind === "secret"
              ? object(kind === "secret" ? "Secret" : "ConfigMap", inner, ns)
              : absentPiece(kind),
          );
      break;
    case "emptyDir":
      details.push("emptyDir", text(valueAt(source, "medium")));
      if (isScalar(valueAt(source, "sizeLimit"))) details.push(`at most ${scalar(valueAt(source, "sizeLimit"))}`);
      break;
    case "hostPath":
      details.push(piece(`host path ${text(valueAt(source, "path"))}`, { level: "warn" }));
      break;
    default:
      details.push(type, text(valueAt(source, "driver")));
  }
  if (valueAt(source, "optional") === true) details.push(absentPiece("optional"));
  if (valueAt(source, "readOnly") === true) details.push(absentPiece("read-only"));
  return fact(name, ...details);
}

function toleration(t: unknown, index: number): Fact | null {
  const [key, operator, value] = [text(valueAt(t, "key")), text(valueAt(t, "operator")), text(valueAt(t, "value"))];
  const seconds = number(valueAt(t, "tolerationSeconds"));
  const name = key === "" ? "All taints" : operator === "Exists" ? key : `${key}${comparison(operator)}${value}`;
  const made = fact(
    name,
    text(valueAt(t, "effect")) || absentPiece("all effects"),
    seconds === null ? null : absentPiece(`for ${seconds} s`),
  );
  return made === null ? null : { ...made, key: `${name} ${index}` };
}

const comparison = (operator: string): string => ({ Lt: "<", Gt: ">" })[operator] ?? "=";

const affinityNames: Readonly<Record<string, string>> = {
  nodeAffinity: "Node affinity",
  podAffinity: "Pod affinity",
  podAntiAffinity: "Pod anti-affinity",
};

function affinity(name: string, v: unknown): Fact | null {
  const required = valueAt(v, "requiredDuringSchedulingIgnoredDuringExecution");
  // A required node affinity needs only one matching term, so join its terms with "or". For pod affinities, all terms
  // must match, so each term is a separate piece.
  const nodeTerms = trees(valueAt(required, "nodeSelectorTerms")).map(termText);
  const terms = [...trees(required).map(termText), ...(nodeTerms.length === 0 ? [] : [nodeTerms.join(" or ")])];
  const preferred = trees(valueAt(v, "preferredDuringSchedulingIgnoredDuringExecution"));
  return fact(
    affinityNames[name] ?? name,
    ...terms.map((t) => piece(`required: ${t}`)),
    ...preferred.map((p) => piece(`preferred: ${termText(p["preference"] ?? p["podAffinityTerm"])}`)),
  );
}

function termText(t: unknown): string {
  const requirements = [
    ...trees(valueAt(t, "matchExpressions")),
    ...trees(valueAt(t, "matchFields")),
    ...trees(valueAt(t, "labelSelector", "matchExpressions")),
  ].map((e) => {
    const values = texts(e["values"]);
    return `${text(e["key"])} ${text(e["operator"])}${values.length === 0 ? "" : ` (${values.join(", ")})`}`;
  });
  const labels = members(valueAt(t, "labelSelector", "matchLabels")).map(([k, v]) => `${k}=${scalar(v)}`);
  const topology = text(valueAt(t, "topologyKey"));
  return [...labels, ...requirements, ...(topology === "" ? [] : [`by ${topology}`])].join(", ") || "empty term";
}

// Returns nested settings as facts, such as "capabilities.drop: ALL".
function settings(v: unknown, path = "", depth = 0): (Fact | null)[] {
  return members(v).flatMap(([key, value]): (Fact | null)[] => {
    const name = path === "" ? key : `${path}.${key}`;
    if (isTree(value)) return depth < 3 ? settings(value, name, depth + 1) : [];
    return [fact(name, ...(Array.isArray(value) ? value.map(scalar) : [scalar(value)]))];
  });
}
