import { fact, firstPieces, absentPiece, piece, section, since, type Section } from "./fact.ts";
import { amount, quantity } from "./quantity.ts";
import { valueAt, members, number, scalar, text, texts, time, trees } from "./read.ts";

export function node(o: unknown): (Section | null)[] {
  const [spec, status] = [valueAt(o, "spec"), valueAt(o, "status")];
  const info = valueAt(status, "nodeInfo");
  const roles = members(valueAt(o, "metadata", "labels"))
    .map(([k]) => k)
    .filter((k) => k.startsWith("node-role.kubernetes.io/"))
    .map((k) => k.slice(24));
  const isCordoned = valueAt(spec, "unschedulable") === true;
  const taints = trees(valueAt(spec, "taints"));
  return [
    section("", [
      fact("Cordoned", isCordoned ? { text: "yes", level: "warn" } : "no"),
      fact(
        "Taints",
        ...(taints.length === 0
          ? [absentPiece()]
          : taints.map((t) =>
              piece(`${text(t["key"])}${text(t["value"]) === "" ? "" : `=${text(t["value"])}`}:${text(t["effect"])}`, {
                title: time(t["timeAdded"]) || undefined,
              }),
            )),
      ),
      fact("Roles", ...(roles.length === 0 ? [absentPiece()] : roles)),
      ...addresses(status),
      fact(
        "Pod CIDR",
        ...(texts(valueAt(spec, "podCIDRs")).length > 0
          ? texts(valueAt(spec, "podCIDRs"))
          : [text(valueAt(spec, "podCIDR"))]),
      ),
      fact("Provider ID", text(valueAt(spec, "providerID"))),
    ]),
    resources(status),
    section("Versions", [
      fact("Kubelet", text(valueAt(info, "kubeletVersion"))),
      fact("Runtime", text(valueAt(info, "containerRuntimeVersion"))),
      fact(
        "System",
        text(valueAt(info, "osImage")),
        [text(valueAt(info, "operatingSystem")), text(valueAt(info, "architecture"))].filter((t) => t !== "").join("/"),
      ),
      fact("Kernel", text(valueAt(info, "kernelVersion"))),
      fact("Booted", since(time(valueAt(info, "bootTime")))),
    ]),
    section("Images", [fact("Images on node", count(valueAt(status, "images")))]),
  ];
}

// Returns a section with the allocatable resources. The difference to the capacity is reserved for the system.
function resources(status: unknown): Section | null {
  const capacity = valueAt(status, "capacity");
  const names = [...new Set([...members(capacity), ...members(valueAt(status, "allocatable"))].map(([k]) => k))];
  const preferredOrder = ["cpu", "memory", "ephemeral-storage", "pods"];
  names.sort((a, b) => (preferredOrder.indexOf(a) + 1 || 9) - (preferredOrder.indexOf(b) + 1 || 9));
  return section(
    "Allocatable",
    firstPieces(names, 30).map((name) => {
      if (typeof name !== "string") return null;
      const [all, allocatable] = [valueAt(capacity, name), valueAt(status, "allocatable", name)];
      // Omit each size of huge pages that the node does not provide.
      if (name.startsWith("hugepages-") && quantity(all) === 0) return null;
      const title = `allocatable ${scalar(allocatable) || "unknown"}, capacity ${scalar(all) || "unknown"}`;
      return fact(
        name,
        allocatable === undefined ? absentPiece("unknown") : piece(amount(name, allocatable), { title }),
        all === undefined ? null : piece(`of ${amount(name, all)} (capacity)`, { title, level: "quiet" }),
      );
    }),
  );
}

const addressNames: Readonly<Record<string, string>> = {
  InternalIP: "Internal IP",
  ExternalIP: "External IP",
  InternalDNS: "Internal DNS",
  ExternalDNS: "External DNS",
};

function addresses(status: unknown) {
  const byType = new Map<string, string[]>();
  for (const a of trees(valueAt(status, "addresses"))) {
    const type = text(a["type"]);
    byType.set(type, [...(byType.get(type) ?? []), text(a["address"])]);
  }
  return [...byType].map(([type, all]) => fact(addressNames[type] ?? type, ...firstPieces(all)));
}

const count = (v: unknown): string =>
  Array.isArray(v)
    ? `${v.length} reported, ${amount(
        "storage",
        v.reduce((sum: number, i) => sum + (number(valueAt(i, "sizeBytes")) ?? 0), 0),
      )}`
    : "";
