// Accesses the demo's API server with the admin's credentials.
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import { load } from "js-yaml";
import { atEnd } from "./cleanup.mjs";
import { until } from "./wait.mjs";

const path = process.env["KUBECONFIG"];
if (!path) throw new Error("KUBECONFIG must contain the path of the admin's kubeconfig of the demo cluster");

/** Returns the path of a demo user's kubeconfig. */
export const kubeconfig = (user = "admin") => (user === "admin" ? path : join(dirname(path), `kubeconfig-${user}`));

const config = load(readFileSync(path, "utf8"));
const context = config.contexts.find((c) => c.name === config["current-context"]).context;
const { server, "certificate-authority-data": ca } = config.clusters.find((c) => c.name === context.cluster).cluster;
const { token } = config.users.find((u) => u.name === context.user).user;
export const apiServer = server;
const agent = new Agent({ keepAlive: true, ca: Buffer.from(ca, "base64") });

/** Sends a request. A status outside 2xx throws unless it is in `allowed`. */
export function api(
  method,
  where,
  body,
  { type = "application/json", allowed = [], manager = "e2e", plain = false } = {},
) {
  const url = new URL(where, server);
  if (method !== "GET" && method !== "DELETE") url.searchParams.set("fieldManager", manager);
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${token}`,
    accept: "application/json",
    ...(text === undefined ? {} : { "content-type": type, "content-length": Buffer.byteLength(text) }),
  };
  return new Promise((resolve, reject) => {
    const r = request(url, { method, headers, agent, timeout: 20_000 }, (answer) => {
      const chunks = [];
      answer.on("data", (c) => chunks.push(c));
      answer.on("error", reject);
      answer.on("end", () => {
        const got = Buffer.concat(chunks).toString();
        if (answer.statusCode < 300 || allowed.includes(answer.statusCode)) resolve(plain ? got : JSON.parse(got));
        else reject(new Error(`${method} ${where}: ${answer.statusCode} ${got}`));
      });
    });
    r.on("timeout", () => r.destroy(new Error(`${method} ${where}: no answer in 20 s`)));
    r.on("error", (err) => {
      // The API server can close an idle connection while a request is sent over it. Then send the request again.
      if (r.reusedSocket && err.code === "ECONNRESET")
        resolve(api(method, where, body, { type, allowed, manager, plain }));
      else reject(err);
    });
    r.end(text);
  });
}

const merge = { type: "application/merge-patch+json" };
export const patch = (where, body, options = {}) => api("PATCH", where, body, { ...merge, ...options });
export const create = (where, body, options) => api("POST", where, body, options);
export const remove = (where) => api("DELETE", where, { gracePeriodSeconds: 0 }, { allowed: [404] });
/** Returns the text of the API server's Prometheus metrics. */
export const metrics = () => api("GET", "/metrics", undefined, { plain: true });
export const read = (where) => api("GET", where);

/** Creates a namespace, and deletes it at the end of test t. */
export async function namespace(t) {
  const name = `e2e-${randomBytes(4).toString("hex")}`;
  await create("/api/v1/namespaces", { metadata: { name, labels: { "glasshouse/e2e": "" } } });
  atEnd(t, () => remove(`/api/v1/namespaces/${name}`));
  // The API server accepts a Pod only after the namespace's default service account exists.
  await until(
    "the namespace's service account",
    async () =>
      (await api("GET", `/api/v1/namespaces/${name}/serviceaccounts/default`, undefined, { allowed: [404] })).kind ===
      "ServiceAccount",
  );
  return name;
}

/** Returns a Deployment for kwok's simulated nodes, so that no image is pulled. */
export const deployment = (name, replicas, labels = {}) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, labels: { app: name, ...labels } },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        containers: [
          { name: "main", image: "registry.example.com/e2e:1", resources: { requests: { cpu: "1m", memory: "1Mi" } } },
        ],
      },
    },
  },
});

export const configMap = (name, data = {}, metadata = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data,
});
