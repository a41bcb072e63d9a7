import { fact, link, piece, section, type Section } from "./fact.ts";
import { amountPiece } from "./quantity.ts";
import { valueAt, isScalar, isTree, members, scalar, text, texts } from "./read.ts";

export function claim(o: unknown): (Section | null)[] {
  const [spec, status] = [valueAt(o, "spec"), valueAt(o, "status")];
  return [
    section("", [
      fact("Phase", phase(text(valueAt(status, "phase")))),
      fact(
        "Volume",
        link("v1", "PersistentVolume", "", text(valueAt(spec, "volumeName"))) ??
          piece("not bound yet", { level: "warn" }),
      ),
      fact("Capacity", amountPiece("storage", valueAt(status, "capacity", "storage"))),
      fact("Requested", amountPiece("storage", valueAt(spec, "resources", "requests", "storage"))),
      fact("Storage class", link("storage.k8s.io/v1", "StorageClass", "", text(valueAt(spec, "storageClassName")))),
      fact("Access modes", ...texts(valueAt(spec, "accessModes"))),
      fact("Volume mode", text(valueAt(spec, "volumeMode"))),
    ]),
  ];
}

export function volume(o: unknown): (Section | null)[] {
  const [spec, status] = [valueAt(o, "spec"), valueAt(o, "status")];
  const ref = valueAt(spec, "claimRef");
  const [ns, name] = [text(valueAt(ref, "namespace")), text(valueAt(ref, "name"))];
  return [
    section("", [
      fact(
        "Phase",
        phase(text(valueAt(status, "phase"))),
        text(valueAt(status, "reason")),
        text(valueAt(status, "message")),
      ),
      fact("Claim", link("v1", "PersistentVolumeClaim", ns, name, `${ns}/${name}`)),
      fact("Capacity", amountPiece("storage", valueAt(spec, "capacity", "storage"))),
      fact("Storage class", link("storage.k8s.io/v1", "StorageClass", "", text(valueAt(spec, "storageClassName")))),
      fact("Reclaim policy", text(valueAt(spec, "persistentVolumeReclaimPolicy"))),
      fact("Access modes", ...texts(valueAt(spec, "accessModes"))),
      fact("Volume mode", text(valueAt(spec, "volumeMode"))),
    ]),
    ...source(spec),
  ];
}

// Returns a section for each object in `spec` that is not excluded. Normally, the only one is the source of the volume,
// such as "nfs".
function source(spec: unknown): (Section | null)[] {
  const excludedMembers = new Set(["capacity", "claimRef", "nodeAffinity"]);
  return members(spec)
    .filter(([k, v]) => isTree(v) && !excludedMembers.has(k))
    .map(([k, v]) =>
      section(
        k,
        members(v)
          .filter(([, value]) => isScalar(value))
          .map(([name, value]) => fact(name, scalar(value))),
      ),
    );
}

const phase = (text: string) =>
  piece(text, {
    level: text === "Bound" || text === "Available" ? "good" : text === "Lost" || text === "Failed" ? "bad" : "warn",
  });
