// Invariant: I37.

import assert from "node:assert/strict";
import { test } from "node:test";
import { podAmounts, sumAmounts } from "../../../static/src/object/facts/requests.ts";

const container = (cpu: string, more: object = {}): object => ({ resources: { requests: { cpu } }, ...more });
const cpuOf = (spec: object): number | undefined => podAmounts({ spec }, "requests").get("cpu");

void test("a pod requests what the scheduler reserves for it", () => {
  const containers = [container("500m"), container("1")];
  assert.equal(cpuOf({ containers }), 1.5);
  assert.equal(
    cpuOf({ containers, initContainers: [container("1")] }),
    1.5,
    "init containers that request less than the containers do not count",
  );
  assert.equal(
    cpuOf({ containers, initContainers: [container("2"), container("3")] }),
    3,
    "the largest init container counts",
  );
  const sidecar = container("250m", { restartPolicy: "Always" });
  assert.equal(cpuOf({ containers, initContainers: [sidecar] }), 1.75, "a sidecar is added to the containers");
  assert.equal(
    cpuOf({ containers, initContainers: [sidecar, container("2")] }),
    2.25,
    "a sidecar is added to later init containers",
  );
  assert.equal(
    cpuOf({ containers, initContainers: [container("2"), sidecar] }),
    2,
    "a sidecar is not added to earlier init containers",
  );
  assert.equal(
    cpuOf({ containers, resources: { requests: { cpu: "4" } } }),
    4,
    "the resources of the pod replace those of its containers",
  );
  assert.equal(cpuOf({ containers, overhead: { cpu: "100m" } }), 1.6);
  assert.equal(cpuOf({ containers: [{}], overhead: { memory: "1Gi" } }), undefined);
  const limits = podAmounts({ spec: { containers: [{}], overhead: { cpu: "1" } } }, "limits");
  assert.equal(limits.get("cpu"), undefined, "the overhead does not set a limit");
});

void test("completed pods request nothing", () => {
  const pod = (phase: string): object => ({ spec: { containers: [container("1")] }, status: { phase } });
  const pods = ["Running", "Pending", "Succeeded", "Failed"].map(pod);
  assert.deepEqual([...sumAmounts(pods, "requests")], [["cpu", 2]]);
});
