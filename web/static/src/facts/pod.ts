import { containers } from "./container.ts";
import { fact, few, link, none, piece, section, since, type Piece, type Section } from "./fact.ts";
import { at, members, scalar, text, time, trees } from "./read.ts";

export function pod(o: unknown): (Section | null)[] {
  const [spec, status] = [at(o, "spec"), at(o, "status")];
  const ns = text(at(o, "metadata", "namespace"));
  const ips = trees(at(status, "podIPs")).map((p) => text(p["ip"]));
  const node = text(at(spec, "nodeName"));
  const priority = scalar(at(spec, "priority"));
  const reason = text(at(status, "reason"));
  return [
    section("", [
      fact("Phase", piece(text(at(status, "phase"))), piece(reason, { tone: "bad" }), text(at(status, "message"))),
      fact(
        "Node",
        link("v1", "Node", "", node) ?? none("not scheduled yet"),
        piece(text(at(status, "nominatedNodeName")), { title: "Nominated node" }),
      ),
      fact("Pod IP", ...(ips.length > 0 ? ips : [text(at(status, "podIP"))])),
      fact("Host IP", text(at(status, "hostIP"))),
      fact("QoS", text(at(status, "qosClass"))),
      fact("Service account", link("v1", "ServiceAccount", ns, text(at(spec, "serviceAccountName")))),
      fact(
        "Priority",
        link("scheduling.k8s.io/v1", "PriorityClass", "", text(at(spec, "priorityClassName"))),
        priority === "0" ? null : priority,
      ),
      fact("Restart policy", text(at(spec, "restartPolicy"))),
      fact("Node selector", ...members(at(spec, "nodeSelector")).map(([k, v]) => `${k}=${scalar(v)}`)),
      fact(
        "Scheduling gates",
        ...trees(at(spec, "schedulingGates")).map((g) => piece(text(g["name"]), { tone: "warn" })),
      ),
      fact("Readiness gates", ...trees(at(spec, "readinessGates")).map((g) => text(g["conditionType"]))),
      fact("Started", since(time(at(status, "startTime")))),
      fact("Uses", ...few(uses(spec, ns))),
    ]),
    section("Containers", [], containers(o)),
  ];
}

// Returns the objects that the pod's volumes, the environment of its containers and its pull secrets refer to, each
// once.
function uses(spec: unknown, ns: string): Piece[] {
  const found = new Map<string, Piece>();
  const add = (kind: string, name: string, text: string): void => {
    const p = link("v1", kind, ns, name, `${text} ${name}`);
    if (p !== null) found.set(p.text, p);
  };
  const config = (v: unknown): void => {
    add("ConfigMap", text(at(v, "configMap", "name")), "ConfigMap");
    add("Secret", text(at(v, "secret", "secretName")) || text(at(v, "secret", "name")), "Secret");
  };
  for (const v of trees(at(spec, "volumes"))) {
    add("PersistentVolumeClaim", text(at(v, "persistentVolumeClaim", "claimName")), "PersistentVolumeClaim");
    config(v);
    // Every pod has the root certificate, so it is left out.
    for (const s of trees(at(v, "projected", "sources")))
      if (at(s, "configMap", "name") !== "kube-root-ca.crt") config(s);
  }
  for (const c of [...trees(at(spec, "initContainers")), ...trees(at(spec, "containers"))]) {
    for (const e of trees(c["envFrom"])) config({ configMap: e["configMapRef"], secret: e["secretRef"] });
    for (const e of trees(c["env"]))
      config({ configMap: at(e, "valueFrom", "configMapKeyRef"), secret: at(e, "valueFrom", "secretKeyRef") });
  }
  for (const name of trees(at(spec, "imagePullSecrets")).map((s) => text(s["name"])))
    add("Secret", name, "image pull Secret");
  return [...found.values()];
}

