import assert from "node:assert/strict";
import { test } from "node:test";
import { copyItems, kubectlCommands } from "../../../static/src/object/workload/kubectl.ts";
import type { Kind } from "../../../static/src/net/kinds.ts";

const kind = (ref: string, name: string): Kind => ({
  ref,
  kind: name,
  resource: ref.split("/")[2] ?? "",
  namespaced: true,
});
const texts = (ref: string, name: string, object: { ns: string; name: string }, hasLogs = false): string[] =>
  kubectlCommands(kind(ref, name), object, hasLogs).map((c) => c.text);

void test("kubectl commands name the object, and only read it", () => {
  assert.deepEqual(texts("apps/v1/deployments", "Deployment", { ns: "shop", name: "web" }, true), [
    "kubectl get deployment/web -n shop -o yaml",
    "kubectl describe deployment/web -n shop",
    "kubectl events -n shop --for deployment/web",
    "kubectl logs deployment/web -n shop --all-containers --prefix -f",
    "kubectl rollout history deployment/web -n shop",
  ]);
  assert.ok(
    texts("core/v1/pods", "Pod", { ns: "a", name: "p" }, true).includes(
      "kubectl logs pod/p -n a --all-containers --previous",
    ),
  );
  const backup = texts("data.example.com/v1/backups", "Backup", { ns: "", name: "b" });
  assert.equal(backup[0], "kubectl get backups.v1.data.example.com/b -o yaml");
});

void test("names are quoted for a shell", () => {
  const role = texts("rbac.authorization.k8s.io/v1/clusterroles", "ClusterRole", {
    ns: "",
    name: "a b'; rm -rf $HOME",
  });
  assert.equal(role[1], String.raw`kubectl describe 'clusterroles.v1.rbac.authorization.k8s.io/a b'\''; rm -rf $HOME'`);
  const system = texts("rbac.authorization.k8s.io/v1/clusterroles", "ClusterRole", { ns: "", name: "system:node" });
  assert.ok(system[1]?.endsWith("/system:node"));
});

void test("names, images and addresses can be copied", () => {
  const object = {
    spec: { template: { spec: { containers: [{ image: "a:1" }, { image: "b:2" }, { image: "a:1" }] } } },
  };
  assert.deepEqual(copyItems({ ns: "shop", name: "web" }, object), [
    { label: "Name", text: "web" },
    { label: "Namespace/name", text: "shop/web" },
    { label: "Images", text: "a:1\nb:2" },
  ]);
  const pod = { spec: { containers: [{ image: "a:1" }] }, status: { podIP: "10.0.0.1" } };
  assert.deepEqual(copyItems({ ns: "shop", name: "p" }, pod).slice(2), [
    { label: "Image", text: "a:1" },
    { label: "IP", text: "10.0.0.1" },
  ]);
  const ingress = { status: { loadBalancer: { ingress: [{ hostname: "lb.example.com" }] } } };
  assert.deepEqual(copyItems({ ns: "", name: "i" }, ingress).slice(1), [{ label: "Hostname", text: "lb.example.com" }]);
  assert.deepEqual(copyItems({ ns: "", name: "n" }, { spec: { clusterIP: "None" } }), [{ label: "Name", text: "n" }]);
});
