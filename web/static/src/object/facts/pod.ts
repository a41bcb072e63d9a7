import { containers, templateContainers } from "./container.ts";
import { podGroups } from "./describe.ts";
import { fact, firstPieces, link, absentPiece, piece, section, since, type Piece, type Section } from "./fact.ts";
import { valueAt, scalar, text, time, trees } from "./read.ts";

export function pod(o: unknown): (Section | null)[] {
  const [spec, status] = [valueAt(o, "spec"), valueAt(o, "status")];
  const ns = text(valueAt(o, "metadata", "namespace"));
  const ips = trees(valueAt(status, "podIPs")).map((p) => text(p["ip"]));
  const node = text(valueAt(spec, "nodeName"));
  const nominated = text(valueAt(status, "nominatedNodeName"));
  const priority = scalar(valueAt(spec, "priority"));
  const reason = text(valueAt(status, "reason"));
  return [
    section("", [
      fact(
        "Phase",
        piece(text(valueAt(status, "phase"))),
        piece(reason, { level: "bad" }),
        text(valueAt(status, "message")),
      ),
      fact(
        "Node",
        link("v1", "Node", "", node) ?? absentPiece("not scheduled"),
        nominated === "" ? null : piece(`nominated: ${nominated}`),
      ),
      fact("Pod IP", ...(ips.length > 0 ? ips : [text(valueAt(status, "podIP"))])),
      fact("Host IP", text(valueAt(status, "hostIP"))),
      fact("QoS", text(valueAt(status, "qosClass"))),
      fact("Service account", link("v1", "ServiceAccount", ns, text(valueAt(spec, "serviceAccountName")))),
      fact(
        "Priority",
        link("scheduling.k8s.io/v1", "PriorityClass", "", text(valueAt(spec, "priorityClassName"))),
        priority === "0" ? null : priority,
      ),
      fact(
        "Scheduling gates",
        ...trees(valueAt(spec, "schedulingGates")).map((g) => piece(text(g["name"]), { level: "warn" })),
      ),
      fact("Readiness gates", ...trees(valueAt(spec, "readinessGates")).map((g) => text(g["conditionType"]))),
      fact("Started", since(time(valueAt(status, "startTime")))),
      fact("Uses", ...firstPieces(usedObjects(spec, ns))),
    ]),
    section("Containers", [], containers(o)),
    section("Details", [], [], undefined, podGroups(spec, ns)),
  ];
}

// Returns a link to each object in the pod's volumes, environment variables and image pull secrets.
function usedObjects(spec: unknown, ns: string): Piece[] {
  const found = new Map<string, Piece>();
  const add = (kind: string, name: string, text: string): void => {
    const p = link("v1", kind, ns, name, `${text} ${name}`);
    if (p !== null) found.set(p.text, p);
  };
  const addConfig = (v: unknown): void => {
    add("ConfigMap", text(valueAt(v, "configMap", "name")), "ConfigMap");
    add("Secret", text(valueAt(v, "secret", "secretName")) || text(valueAt(v, "secret", "name")), "Secret");
  };
  for (const v of trees(valueAt(spec, "volumes"))) {
    add("PersistentVolumeClaim", text(valueAt(v, "persistentVolumeClaim", "claimName")), "PersistentVolumeClaim");
    addConfig(v);
    // Omit the ConfigMap with the cluster's root certificate, because every pod uses this ConfigMap.
    for (const s of trees(valueAt(v, "projected", "sources")))
      if (valueAt(s, "configMap", "name") !== "kube-root-ca.crt") addConfig(s);
  }
  for (const c of [...trees(valueAt(spec, "initContainers")), ...trees(valueAt(spec, "containers"))]) {
    for (const e of trees(c["envFrom"])) addConfig({ configMap: e["configMapRef"], secret: e["secretRef"] });
    for (const e of trees(c["env"]))
      addConfig({
        configMap: valueAt(e, "valueFrom", "configMapKeyRef"),
        secret: valueAt(e, "valueFrom", "secretKeyRef"),
      });
  }
  for (const name of trees(valueAt(spec, "imagePullSecrets")).map((s) => text(s["name"])))
    add("Secret", name, "image pull Secret");
  return [...found.values()];
}

/** Returns a section with the details and the containers of a pod template. */
export function podTemplate(spec: unknown, ns: string): Section | null {
  return section(
    "Pod template",
    [fact("Service account", link("v1", "ServiceAccount", ns, text(valueAt(spec, "serviceAccountName"))))],
    templateContainers(spec, ns),
    undefined,
    podGroups(spec, ns),
  );
}
