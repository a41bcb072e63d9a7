import { fact, few, item, link, none, piece, section, type Fact, type Piece, type Section } from "./fact.ts";
import { at, isTree, list, scalar, text, texts, trees } from "./read.ts";
import { selector } from "./workload.ts";

export function service(o: unknown): (Section | null)[] {
  const spec = at(o, "spec");
  const ips = texts(at(spec, "clusterIPs"));
  const selected = selector(at(spec, "selector"));
  const balanced = at(spec, "type") === "LoadBalancer";
  const affinity = text(at(spec, "sessionAffinity"));
  return [
    section("", [
      fact("Type", text(at(spec, "type"))),
      fact(
        "Cluster IP",
        ...(ips.length > 0 ? ips : [text(at(spec, "clusterIP"))]).map((ip) =>
          (ip === "None" ? none("none (headless)") : ip),
        ),
      ),
      fact("External IP", ...texts(at(spec, "externalIPs"))),
      fact("External name", text(at(spec, "externalName"))),
      fact(
        "Load balancer",
        ...(balanced && addresses(o).length === 0 ? [piece("pending", { tone: "warn" })] : addresses(o)),
      ),
      fact("Ports", ...trees(at(spec, "ports")).map(port)),
      fact("Selector", ...(selected.length > 0 ? selected : [none("none (endpoints managed manually)")])),
      fact("Session affinity", affinity === "None" ? null : affinity),
      fact("Traffic policy", text(at(spec, "externalTrafficPolicy")), text(at(spec, "trafficDistribution"))),
    ]),
  ];
}

export function ingress(o: unknown): (Section | null)[] {
  const spec = at(o, "spec");
  const ns = text(at(o, "metadata", "namespace"));
  const hosts = trees(at(spec, "rules")).map((rule) =>
    item(
      text(rule["host"]) || "any host",
      [],
      trees(at(rule, "http", "paths")).map((p) =>
        fact(text(p["path"]) || "/", backend(p["backend"], ns), piece(text(p["pathType"]), { tone: "quiet" })),
      ),
    ),
  );
  return [
    section("", [
      fact("Class", link("networking.k8s.io/v1", "IngressClass", "", text(at(spec, "ingressClassName")))),
      fact("Address", ...(addresses(o).length > 0 ? addresses(o) : [none("none assigned")])),
      fact("Default backend", backend(at(spec, "defaultBackend"), ns)),
      ...trees(at(spec, "tls")).map((t): Fact | null =>
        fact("TLS", link("v1", "Secret", ns, text(t["secretName"])), ...texts(t["hosts"])),
      ),
    ]),
    section("Hosts", [], hosts),
  ];
}

export function endpointSlice(o: unknown): (Section | null)[] {
  const ends = trees(at(o, "endpoints"));
  const ready = ends.filter((e) => at(e, "conditions", "ready") !== false);
  const told = (e: unknown): Piece | null => {
    const to = at(e, "targetRef");
    const address = list(at(e, "addresses")).map(scalar).join(", ");
    return text(at(to, "kind")) === "Pod"
      ? link("v1", "Pod", text(at(to, "namespace")), text(at(to, "name")), `${address} ${text(at(to, "name"))}`)
      : piece(address);
  };
  return [
    section("", [
      fact(
        "Service",
        link(
          "v1",
          "Service",
          text(at(o, "metadata", "namespace")),
          text(at(o, "metadata", "labels", "kubernetes.io/service-name")),
        ),
      ),
      fact("Address type", text(at(o, "addressType"))),
      fact(
        "Ports",
        ...trees(at(o, "ports")).map((p) =>
          [text(p["name"]), `${scalar(p["port"])}/${text(p["protocol"])}`].filter((t) => t !== "").join(" "),
        ),
      ),
      fact("Ready", ...(ready.length === 0 ? [none()] : few(ready.map(told)))),
      fact(
        "Not ready",
        ...few(
          ends
            .filter((e) => !ready.includes(e))
            .map(told)
            .map((p) => (p === null ? null : { ...p, tone: "warn" as const })),
        ),
      ),
    ]),
  ];
}

const addresses = (o: unknown): string[] =>
  trees(at(o, "status", "loadBalancer", "ingress")).map((i) => text(i["hostname"]) || text(i["ip"]));

function port(p: unknown): Piece | null {
  const to = scalar(at(p, "targetPort"));
  const node = scalar(at(p, "nodePort"));
  const name = text(at(p, "name"));
  const number = scalar(at(p, "port"));
  return piece(
    `${name === "" ? "" : `${name} `}${number}${to === "" || to === number ? "" : ` → ${to}`}/${
      text(at(p, "protocol")) || "TCP"
    }${node === "" || node === "0" ? "" : `, node port ${node}`}`,
  );
}

function backend(b: unknown, ns: string): Piece | null {
  if (!isTree(b)) return null;
  const service = b["service"];
  const name = text(at(service, "name"));
  const p = scalar(at(service, "port", "number")) || text(at(service, "port", "name"));
  if (name !== "") return link("v1", "Service", ns, name, p === "" ? name : `${name}:${p}`);
  const r = b["resource"];
  return piece(`${text(at(r, "kind"))} ${text(at(r, "name"))}`.trim());
}
