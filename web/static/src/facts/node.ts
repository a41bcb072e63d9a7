import { fact, few, none, piece, section, since, type Section } from "./fact.ts";
import { amount, quantity } from "./quantity.ts";
import { at, members, number, scalar, text, texts, time, trees } from "./read.ts";

export function node(o: unknown): (Section | null)[] {
  const [spec, status] = [at(o, "spec"), at(o, "status")];
  const info = at(status, "nodeInfo");
  const roles = members(at(o, "metadata", "labels"))
    .map(([k]) => k)
    .filter((k) => k.startsWith("node-role.kubernetes.io/"))
    .map((k) => k.slice(24));
  const closed = at(spec, "unschedulable") === true;
  const taints = trees(at(spec, "taints"));
  return [
    section("", [
      fact("Schedulable", closed ? { text: "no (cordoned)", tone: "warn" } : "yes"),
      fact(
        "Taints",
        ...(taints.length === 0
          ? [none()]
          : taints.map((t) =>
              piece(`${text(t["key"])}${text(t["value"]) === "" ? "" : `=${text(t["value"])}`}:${text(t["effect"])}`, {
                title: time(t["timeAdded"]) || undefined,
              }),
            )),
      ),
      fact("Roles", ...(roles.length === 0 ? [none()] : roles)),
      ...addresses(status),
      fact(
        "Pod CIDR",
        ...(texts(at(spec, "podCIDRs")).length > 0 ? texts(at(spec, "podCIDRs")) : [text(at(spec, "podCIDR"))]),
      ),
      fact("Provider ID", text(at(spec, "providerID"))),
    ]),
    resources(status),
    section("Versions", [
      fact("Kubelet", text(at(info, "kubeletVersion"))),
      fact("Runtime", text(at(info, "containerRuntimeVersion"))),
      fact(
        "System",
        text(at(info, "osImage")),
        [text(at(info, "operatingSystem")), text(at(info, "architecture"))].filter((t) => t !== "").join("/"),
      ),
      fact("Kernel", text(at(info, "kernelVersion"))),
      fact("Booted", since(time(at(info, "bootTime")))),
    ]),
    section("Images", [fact("Images on node", count(at(status, "images")))]),
  ];
}

// Returns the allocatable amount of each resource, with the capacity as the tooltip. The kubelet reserves the rest.
function resources(status: unknown): Section | null {
  const capacity = at(status, "capacity");
  const names = [...new Set([...members(capacity), ...members(at(status, "allocatable"))].map(([k]) => k))];
  const usual = ["cpu", "memory", "ephemeral-storage", "pods"];
  names.sort((a, b) => (usual.indexOf(a) + 1 || 9) - (usual.indexOf(b) + 1 || 9));
  return section(
    "Allocatable",
    few(names, 30).map((name) => {
      if (typeof name !== "string") return null;
      const [all, free] = [at(capacity, name), at(status, "allocatable", name)];
      // Leave out huge page sizes of which the node has no pages.
      if (name.startsWith("hugepages-") && quantity(all) === 0) return null;
      const title = `allocatable ${scalar(free) || "unknown"}, capacity ${scalar(all) || "unknown"}`;
      return fact(
        name,
        free === undefined ? none("unknown") : piece(amount(name, free), { title }),
        all === undefined ? null : piece(`of ${amount(name, all)} (capacity)`, { title, tone: "quiet" }),
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
  const by = new Map<string, string[]>();
  for (const a of trees(at(status, "addresses"))) {
    const type = text(a["type"]);
    by.set(type, [...(by.get(type) ?? []), text(a["address"])]);
  }
  return [...by].map(([type, all]) => fact(addressNames[type] ?? type, ...few(all)));
}

const count = (v: unknown): string =>
  (
    Array.isArray(v)
      ? `${v.length} reported, ${amount(
          "storage",
          v.reduce((sum: number, i) => sum + (number(at(i, "sizeBytes")) ?? 0), 0),
        )}`
      : ""
  );
