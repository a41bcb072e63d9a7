// Builds static/dist/icons.svg, which contains an icon for each of these kinds. The ID of an icon is the name of the
// kind. "Custom" is for all kinds of custom resources.

import { writeFileSync } from "node:fs";
import { icons } from "lucide";

const iconOf = {
  APIService: "Plug",
  ClusterRole: "IdCard",
  ClusterRoleBinding: "Link2",
  ConfigMap: "FileCog",
  CronJob: "CalendarClock",
  Custom: "Component",
  CustomResourceDefinition: "Puzzle",
  DaemonSet: "Boxes",
  Deployment: "Layers",
  EndpointSlice: "Split",
  Endpoints: "Split",
  Event: "Bell",
  GRPCRoute: "Route",
  Gateway: "DoorOpen",
  GatewayClass: "DoorOpen",
  HTTPRoute: "Route",
  HorizontalPodAutoscaler: "Gauge",
  Ingress: "Globe",
  IngressClass: "DoorOpen",
  Job: "CirclePlay",
  Lease: "Timer",
  LimitRange: "Ruler",
  MutatingWebhookConfiguration: "Webhook",
  Namespace: "FolderClosed",
  NetworkPolicy: "Shield",
  Node: "Server",
  PersistentVolume: "HardDrive",
  PersistentVolumeClaim: "HardDrive",
  Pod: "Box",
  PodDisruptionBudget: "LifeBuoy",
  PriorityClass: "ListOrdered",
  ReplicaSet: "Copy",
  ReplicationController: "Copy",
  ResourceQuota: "Scale",
  Role: "IdCard",
  RoleBinding: "Link2",
  Secret: "KeyRound",
  Service: "Network",
  ServiceAccount: "User",
  StatefulSet: "Database",
  StorageClass: "Warehouse",
  ValidatingWebhookConfiguration: "Webhook",
};

const style = {
  fill: "none",
  stroke: "currentColor",
  "stroke-width": "2",
  "stroke-linecap": "round",
  "stroke-linejoin": "round",
};

const element = (tag, attributes, content = "") =>
  `<${tag}${Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${value}"`)
    .join("")}>${content}</${tag}>`;

const symbols = Object.entries(iconOf).map(([kind, name]) => {
  const icon = icons[name];
  if (icon === undefined) throw new Error(`lucide has no icon ${name}`);
  const paths = icon.map(([tag, attributes]) => element(tag, attributes)).join("");
  return element("symbol", { id: kind, viewBox: "0 0 24 24", ...style }, paths);
});
const root = { xmlns: "http://www.w3.org/2000/svg" };
writeFileSync(new URL("static/dist/icons.svg", import.meta.url), element("svg", root, symbols.join("")));
