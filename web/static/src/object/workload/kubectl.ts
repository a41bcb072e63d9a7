// The texts that the copy buttons of an object put into the clipboard.

import type { Kind } from "../../net/kinds.ts";
import type { ObjectName } from "../../model/view.ts";
import { objectWord, shellWord } from "../../text/shell-word.ts";
import { text, trees, valueAt } from "../facts/read.ts";

export interface CopyItem {
  readonly label: string;
  readonly text: string;
}

const templatePaths = [["spec"], ["spec", "template", "spec"], ["spec", "jobTemplate", "spec", "template", "spec"]];

/** The names, images and addresses of an object. Items without a text are left out. */
export function copyItems(name: ObjectName, object: unknown): CopyItem[] {
  const images = new Set(
    templatePaths
      .flatMap((path) => [
        ...trees(valueAt(object, ...path, "containers")),
        ...trees(valueAt(object, ...path, "initContainers")),
      ])
      .map((c) => text(c["image"]))
      .filter((image) => image !== ""),
  );
  const [address = ""] = [
    ...trees(valueAt(object, "status", "podIPs")).map((ip) => text(ip["ip"])),
    text(valueAt(object, "status", "podIP")),
    text(valueAt(object, "spec", "clusterIP")),
    ...trees(valueAt(object, "status", "loadBalancer", "ingress")).map((i) => text(i["ip"]) || text(i["hostname"])),
    ...trees(valueAt(object, "status", "addresses"))
      .filter((a) => text(a["type"]).endsWith("IP"))
      .map((a) => text(a["address"])),
  ].filter((ip) => ip !== "" && ip !== "None");
  return [
    { label: "Name", text: name.name },
    { label: "Namespace/name", text: name.ns === "" ? "" : `${name.ns}/${name.name}` },
    { label: images.size > 1 ? "Images" : "Image", text: [...images].join("\n") },
    { label: /^[\d.]+$|:/.test(address) ? "IP" : "Hostname", text: address },
  ].filter((item) => item.text !== "");
}

// In these API groups, kubectl finds a kind by its name alone: "deployment" instead of "deployments.v1.apps".
const commonGroups = new Set(["core", "apps", "batch"]);
const withRollout = /^apps\/v1\/(deployments|statefulsets|daemonsets)$/;

/** The kubectl commands that read an object. None of them changes the cluster. */
export function kubectlCommands(kind: Kind, name: ObjectName, hasLogs: boolean): CopyItem[] {
  const [group = "", version = ""] = kind.ref.split("/");
  const resource = commonGroups.has(group) ? kind.kind.toLowerCase() : `${kind.resource}.${version}.${group}`;
  const scope = name.ns === "" ? "" : ` -n ${shellWord(name.ns)}`;
  const object = objectWord(resource, name.name);
  const commands: CopyItem[] = [
    { label: "Get YAML", text: `kubectl get ${object}${scope} -o yaml` },
    { label: "Describe", text: `kubectl describe ${object}${scope}` },
    { label: "Events", text: `kubectl events${scope} --for ${object}` },
  ];
  // kubectl reads the log of only one pod of a workload, and it cannot find the pods of a CronJob.
  if (hasLogs && kind.ref !== "batch/v1/cronjobs")
    commands.push({
      label: kind.ref === "core/v1/pods" ? "Logs" : "Logs of one pod",
      text: `kubectl logs ${object}${scope} --all-containers --prefix -f`,
    });
  if (kind.ref === "core/v1/pods")
    commands.push({ label: "Previous logs", text: `kubectl logs ${object}${scope} --all-containers --previous` });
  if (withRollout.test(kind.ref))
    commands.push({ label: "Rollout history", text: `kubectl rollout history ${object}${scope}` });
  return commands;
}
