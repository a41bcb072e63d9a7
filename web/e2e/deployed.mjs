// Deploys the dashboard to the demo cluster. A local process replaces the pod, which kwok only simulates.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { dump, load } from "js-yaml";
import { create, kubeconfig } from "./cluster.mjs";
import { atEnd } from "./cleanup.mjs";
import { within } from "./wait.mjs";

const repository = new URL("../..", import.meta.url).pathname;
const env = { ...process.env, KUBECONFIG: kubeconfig() };
const kubectl = (...args) =>
  execFileSync("kubectl", args, { env, stdio: ["ignore", "pipe", "pipe"], timeout: 120_000 });

/** Applies deploy/kustomize/<variant>, or the same folder in a modified copy, and waits for the rollout. */
export function deploy(t, variant, kustomize = join(repository, "deploy/kustomize")) {
  const where = join(kustomize, variant);
  atEnd(t, () => kubectl("delete", "--ignore-not-found", "--timeout=90s", "-k", where));
  kubectl("apply", "-k", where);
  kubectl("--namespace", "glasshouse", "rollout", "status", "--timeout=60s", "deployment/glasshouse");
}

/**
 * Applies the kustomize variant "team". The parameter `own` maps placeholders in its manifests to values. Returns a
 * function that reads objects with kubectl get.
 */
export function deployTeam(t, own) {
  const folder = mkdtempSync(join(tmpdir(), "glasshouse-team-"));
  atEnd(t, () => rmSync(folder, { recursive: true }));
  cpSync(join(repository, "deploy/kustomize"), folder, { recursive: true });
  for (const file of ["ingress.yaml", "deployment.yaml"].map((name) => join(folder, "team", name))) {
    writeFileSync(
      file,
      Object.entries(own).reduce((text, [theirs, ours]) => text.replaceAll(theirs, ours), readFileSync(file, "utf8")),
    );
  }
  const volume = join(repository, "test/deploy/testdata/volume.yaml");
  atEnd(t, () => kubectl("delete", "--ignore-not-found", "--timeout=90s", "-f", volume));
  kubectl("apply", "-f", volume);
  deploy(t, "team", folder);
  return (...what) => JSON.parse(kubectl("--namespace", "glasshouse", "get", "--output=json", ...what));
}

/** Returns the path of a new kubeconfig for the dashboard's service account. */
export async function account(t) {
  const folder = mkdtempSync(join(tmpdir(), "glasshouse-account-"));
  atEnd(t, () => rmSync(folder, { recursive: true }));
  const { status } = await create("/api/v1/namespaces/glasshouse/serviceaccounts/glasshouse/token", { spec: {} });
  const config = load(readFileSync(kubeconfig(), "utf8"));
  for (const { user } of config.users) {
    for (const key of Object.keys(user)) delete user[key];
    user.token = status.token;
  }
  const path = join(folder, "kubeconfig");
  writeFileSync(path, dump(config), { mode: 0o600 });
  return path;
}

/** Returns the local port to which the demo cluster forwards connections to the pod's port 8080. */
export const containerPort = () => JSON.parse(readFileSync(join(dirname(kubeconfig()), "ports.json"), "utf8")).forward;

/** Runs kubectl port-forward to the pod. Port 0 selects a free port. */
export class Forward {
  static async start(t, port = 0) {
    const f = new Forward();
    atEnd(t, () => f.kill());
    await f.run(port);
    return f;
  }

  async run(port) {
    const child = spawn(
      "kubectl",
      ["--namespace", "glasshouse", "port-forward", "deploy/glasshouse", `${port || ""}:8080`],
      { env, stdio: ["ignore", "pipe", "pipe"] },
    );
    this.child = child;
    this.stderrLines = [];
    const kill = () => child.kill("SIGKILL");
    process.once("exit", kill);
    child.once("exit", () => process.off("exit", kill));
    createInterface({ input: child.stderr }).on("line", (line) => this.stderrLines.push(line));
    const ready = new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", (code) => reject(new Error(`kubectl ended with ${code}: ${this.stderrLines.join("\n")}`)));
      createInterface({ input: child.stdout }).on("line", (line) => {
        const found = /^Forwarding from 127\.0\.0\.1:(\d+) -> 8080$/.exec(line);
        if (found) resolve(Number(found[1]));
      });
    });
    ready.catch(() => {});
    this.port = await within("kubectl port-forward", 20_000, ready);
    this.url = `http://127.0.0.1:${this.port}/`;
  }

  /** Kills kubectl without closing its connections properly, as on a laptop that goes to sleep. */
  async kill() {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill("SIGKILL");
    await once(this.child, "exit");
  }
}
