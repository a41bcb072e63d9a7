import {
  fact,
  firstPieces,
  item,
  link,
  absentPiece,
  piece,
  section,
  type Fact,
  type Piece,
  type Section,
} from "./fact.ts";
import { valueAt, isTree, list, scalar, text, texts, trees } from "./read.ts";
import { selectorPieces } from "./workload.ts";

export function service(o: unknown): (Section | null)[] {
  const spec = valueAt(o, "spec");
  const ips = texts(valueAt(spec, "clusterIPs"));
  const selected = selectorPieces(valueAt(spec, "selector"));
  const isLoadBalancer = valueAt(spec, "type") === "LoadBalancer";
  const affinity = text(valueAt(spec, "sessionAffinity"));
  // A Service of type ExternalName has no endpoints, so it needs no note about EndpointSlices.
  const noSelectorNote =
    valueAt(spec, "type") === "ExternalName" ? "" : " (EndpointSlices are not created automatically)";
  return [
    section("", [
      fact("Type", text(valueAt(spec, "type"))),
      fact(
        "Cluster IP",
        ...(ips.length > 0 ? ips : [text(valueAt(spec, "clusterIP"))]).map((ip) =>
          ip === "None" ? absentPiece("none (headless)") : ip,
        ),
      ),
      fact("External IP", ...texts(valueAt(spec, "externalIPs"))),
      fact("External name", text(valueAt(spec, "externalName"))),
      fact(
        "Load balancer",
        ...(isLoadBalancer && addresses(o).length === 0 ? [piece("pending", { level: "warn" })] : addresses(o)),
      ),
      fact("Ports", ...trees(valueAt(spec, "ports")).map(port)),
      fact("Selector", ...(selected.length > 0 ? selected : [absentPiece(`none${noSelectorNote}`)])),
      fact("Session affinity", affinity === "None" ? null : affinity),
      fact("External traffic policy", text(valueAt(spec, "externalTrafficPolicy"))),
      fact("Traffic distribution", text(valueAt(spec, "trafficDistribution"))),
    ]),
  ];
}

export function ingress(o: unknown): (Section | null)[] {
  const spec = valueAt(o, "spec");
  const ns = text(valueAt(o, "metadata", "namespace"));
  const hosts = trees(valueAt(spec, "rules")).map((rule) =>
    item(
      text(rule["host"]) || "any host",
      [],
      trees(valueAt(rule, "http", "paths")).map((p) =>
        fact(text(p["path"]) || "/", backend(p["backend"], ns), piece(text(p["pathType"]), { level: "quiet" })),
      ),
    ),
  );
  return [
    section("", [
      fact("Class", link("networking.k8s.io/v1", "IngressClass", "", text(valueAt(spec, "ingressClassName")))),
      fact("Address", ...(addresses(o).length > 0 ? addresses(o) : [absentPiece("none assigned")])),
      fact("Default backend", backend(valueAt(spec, "defaultBackend"), ns)),
      ...trees(valueAt(spec, "tls")).map((t): Fact | null =>
        fact("TLS", link("v1", "Secret", ns, text(t["secretName"])), ...texts(t["hosts"])),
      ),
    ]),
    section("Hosts", [], hosts),
  ];
}

export function endpointSlice(o: unknown): (Section | null)[] {
  const endpoints = trees(valueAt(o, "endpoints"));
  const ready = endpoints.filter((e) => valueAt(e, "conditions", "ready") !== false);
  const endpointPiece = (e: unknown): Piece | null => {
    const to = valueAt(e, "targetRef");
    const address = list(valueAt(e, "addresses")).map(scalar).join(", ");
    return text(valueAt(to, "kind")) === "Pod"
      ? link(
          "v1",
          "Pod",
          text(valueAt(to, "namespace")),
          text(valueAt(to, "name")),
          `${address} ${text(valueAt(to, "name"))}`,
        )
      : piece(address);
  };
  return [
    section("", [
      fact(
        "Service",
        link(
          "v1",
          "Service",
          text(valueAt(o, "metadata", "namespace")),
          text(valueAt(o, "metadata", "labels", "kubernetes.io/service-name")),
        ),
      ),
      fact("Address type", text(valueAt(o, "addressType"))),
      fact(
        "Ports",
        ...trees(valueAt(o, "ports")).map((p) =>
          [text(p["name"]), `${scalar(p["port"])}/${text(p["protocol"])}`].filter((t) => t !== "").join(" "),
        ),
      ),
      fact("Ready", ...(ready.length === 0 ? [absentPiece()] : firstPieces(ready.map(endpointPiece)))),
      fact(
        "Not ready",
        ...firstPieces(
          endpoints
            .filter((e) => !ready.includes(e))
            .map(endpointPiece)
            .map((p) => (p === null ? null : { ...p, level: "warn" as const })),
        ),
      ),
    ]),
  ];
}

const addresses = (o: unknown): string[] =>
  trees(valueAt(o, "status", "loadBalancer", "ingress")).map((i) => text(i["hostname"]) || text(i["ip"]));

function port(p: unknown): Piece | null {
  const to = scalar(valueAt(p, "targetPort"));
  const node = scalar(valueAt(p, "nodePort"));
  const name = text(valueAt(p, "name"));
  const number = scalar(valueAt(p, "port"));
  return piece(
    `${name === "" ? "" : `${name} `}${number}${to === "" || to === number ? "" : ` → ${to}`}/${
      text(valueAt(p, "protocol")) || "TCP"
    }${node === "" || node === "0" ? "" : `, node port ${node}`}`,
  );
}

function backend(b: unknown, ns: string): Piece | null {
  if (!isTree(b)) return null;
  const service = b["service"];
  const name = text(valueAt(service, "name"));
  const p = scalar(valueAt(service, "port", "number")) || text(valueAt(service, "port", "name"));
  if (name !== "") return link("v1", "Service", ns, name, p === "" ? name : `${name}:${p}`);
  const r = b["resource"];
  return piece(`${text(valueAt(r, "kind"))} ${text(valueAt(r, "name"))}`.trim());
}
