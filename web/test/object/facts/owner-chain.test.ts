// Invariant: I37.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ownerChain, type OwnerResult } from "../../../static/src/object/facts/owner-chain.ts";
import type { Owner } from "../../../static/src/object/facts/meta.ts";

const object = (name: string, uid: string, ...owners: readonly string[]) => ({
  metadata: {
    name,
    uid,
    ownerReferences: owners.map((o, i) => ({
      apiVersion: "v1",
      kind: "Thing",
      name: o,
      uid: `u-${o}`,
      controller: i === 0,
    })),
  },
});

const chainOf = async (start: unknown, cluster: Readonly<Record<string, OwnerResult>>): Promise<string[]> => {
  const requested: string[] = [];
  const steps = await ownerChain(start, (o: Owner) => {
    requested.push(o.name);
    return Promise.resolve(cluster[o.name] ?? { failure: "not found" });
  });
  assert.equal(new Set(requested).size, requested.length, "no owner is requested twice");
  return steps.map((s) => (s.error === "" ? s.owner.name : `${s.owner.name} ${s.error}`));
};

void test("ownerChain follows owners to the root", async () => {
  const cluster = {
    set: { object: object("set", "u-set", "deployment", "aside") },
    deployment: { object: object("deployment", "u-deployment") },
  };
  assert.deepEqual(await chainOf(object("pod", "u-pod", "set"), cluster), ["set", "deployment"]);
  assert.deepEqual(await chainOf(object("pod", "u-pod"), cluster), []);
});

void test("a deleted, forbidden or replaced owner ends the chain", async () => {
  assert.deepEqual(await chainOf(object("pod", "u-pod", "set"), {}), ["set not found"]);
  assert.deepEqual(await chainOf(object("pod", "u-pod", "set"), { set: { failure: "forbidden" } }), ["set forbidden"]);
  assert.deepEqual(
    await chainOf(object("pod", "u-pod", "set"), { set: { object: object("set", "u-new", "deployment") } }),
    ["set not found; another object has its name"],
  );
});

void test("a cycle of owners and a very long chain end", async () => {
  const circle = { a: { object: object("a", "u-a", "b") }, b: { object: object("b", "u-b", "a") } };
  assert.deepEqual(await chainOf(circle.a.object, circle), ["b", "a circular ownership"]);
  const endless = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => [`o${i}`, { object: object(`o${i}`, `u-o${i}`, `o${i + 1}`) }]),
  );
  assert.equal((await chainOf(object("pod", "u-pod", "o0"), endless)).length, 10);
});
