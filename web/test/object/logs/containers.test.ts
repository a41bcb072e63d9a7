// Invariant: I28.

import assert from "node:assert/strict";
import { test } from "node:test";
import { containersOf, defaultContainer } from "../../../static/src/object/logs/containers.ts";

void test("containersOf lists the containers of a pod", () => {
  const pod = {
    metadata: { annotations: { "kubectl.kubernetes.io/default-container": "b" } },
    spec: {
      containers: [{ name: "a" }, { name: "b" }],
      initContainers: [{ name: "i" }],
      ephemeralContainers: [{ name: "e" }, 7],
    },
    status: {
      containerStatuses: [
        { name: "b", restartCount: 3, containerID: "x://1", state: { waiting: { reason: "CrashLoopBackOff" } } },
        { name: "a", state: { running: {} } },
      ],
      initContainerStatuses: [{ name: "i", state: { terminated: { reason: "Completed", exitCode: 0 } } }],
    },
  };
  const all = containersOf(pod);
  assert.deepEqual(
    all.map((c) => `${c.name}|${c.role}|${c.state}|${c.restarts}`),
    ["a||running|0", "b||waiting: CrashLoopBackOff|3", "i|init|terminated: Completed, exit code 0|0", "e|ephemeral||0"],
  );
  assert.equal(defaultContainer(pod, all), "b");
  assert.equal(defaultContainer({}, all), "a");
  for (const odd of [null, {}, { spec: 7, status: [] }, { spec: { containers: [null, { name: 4 }] } }])
    assert.deepEqual(containersOf(odd as never), []);
});
