import { fact, link, piece, section, type Section } from "./fact.ts";
import { amountPiece } from "./quantity.ts";
import { at, isScalar, isTree, members, scalar, text, texts } from "./read.ts";

export function claim(o: unknown): (Section | null)[] {
  const [spec, status] = [at(o, "spec"), at(o, "status")];
  return [
    section("", [
      fact("Phase", phase(text(at(status, "phase")))),
      fact(
        "Volume",
        link("v1", "PersistentVolume", "", text(at(spec, "volumeName"))) ?? piece("not bound yet", { tone: "warn" }),
      ),
      fact("Capacity", amountPiece("storage", at(status, "capacity", "storage"))),
      fact("Requested", amountPiece("storage", at(spec, "resources", "requests", "storage"))),
      fact("Storage class", link("storage.k8s.io/v1", "StorageClass", "", text(at(spec, "storageClassName")))),
      fact("Access modes", ...texts(at(spec, "accessModes"))),
      fact("Volume mode", text(at(spec, "volumeMode"))),
    ]),
  ];
}

export function volume(o: unknown): (Section | null)[] {
  const [spec, status] = [at(o, "spec"), at(o, "status")];
  const ref = at(spec, "claimRef");
  const [ns, name] = [text(at(ref, "namespace")), text(at(ref, "name"))];
  return [
    section("", [
      fact("Phase", phase(text(at(status, "phase"))), text(at(status, "reason")), text(at(status, "message"))),
      fact("Claim", link("v1", "PersistentVolumeClaim", ns, name, `${ns}/${name}`)),
      fact("Capacity", amountPiece("storage", at(spec, "capacity", "storage"))),
      fact("Storage class", link("storage.k8s.io/v1", "StorageClass", "", text(at(spec, "storageClassName")))),
      fact("Reclaim policy", text(at(spec, "persistentVolumeReclaimPolicy"))),
      fact("Access modes", ...texts(at(spec, "accessModes"))),
      fact("Volume mode", text(at(spec, "volumeMode"))),
    ]),
    ...source(spec),
  ];
}

// Returns the section about the volume source, the member of the spec that is named after a storage type.
function source(spec: unknown): (Section | null)[] {
  const known = new Set(["capacity", "claimRef", "nodeAffinity"]);
  return members(spec)
    .filter(([k, v]) => isTree(v) && !known.has(k))
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
    tone: text === "Bound" || text === "Available" ? "good" : text === "Lost" || text === "Failed" ? "bad" : "warn",
  });
