// Creates objects with hostile text in each string field that the API server accepts.
import { api, create, read, remove } from "./cluster.mjs";
import { atEnd } from "./cleanup.mjs";

const markup = `<img src=x onerror="window.e2e.hit=1"><script>window.e2e.hit=1</script>`;
const control = "a\u001b[31mred\u0007\u202egnp.exe\u2066\u200bz\u0085\ufeffend";
const lines = "first\r\nid: 2\n<b>third</b>\u2028fourth";

/** Hostile texts for free-text fields. A field contains one of them at a time. */
export const texts = {
  markup,
  attribute: `"'></td></script><svg/onload=window.e2e.hit=1>`,
  link: "javascript:window.e2e.hit=1//https://example.org",
  formula: `=HYPERLINK("https://example.org";"a")`,
  control,
  lines,
  long: "<i>0123456789</i>".repeat(640), // 10,880 characters
};

/** Several hostile texts in one, for fields that accept any string. */
export const combined = `javascript:window.e2e.hit=1//${markup}'"${control}\n${lines}`;
export const print = `<img src=x onerror="window.e2e.hit=1">`;
const name = `<img src=x onerror=window.e2e.hit=1>${control}`;

// Objects of the first three resources would reconfigure the API server. The last resource requires a signed
// certificate request.
const excludedResources = new Set([
  "apiservices",
  "flowschemas",
  "prioritylevelconfigurations",
  "certificatesigningrequests",
]);
// These resources are created last, because their objects restrict objects that are created later.
const last = new Set(["limitranges", "resourcequotas"]);

const template = { metadata: { labels: { app: "e2e" } }, spec: { containers: [{ name: "main", image: "e2e" }] } };
const definition = {
  group: "hostile.example.com",
  scope: "Namespaced",
  names: {
    plural: "scripts",
    singular: "script",
    kind: "Script",
    listKind: "ScriptList",
    shortNames: ["js"],
    categories: ["all"],
  },
  versions: [
    {
      name: "v1",
      served: true,
      storage: true,
      subresources: { status: {} },
      additionalPrinterColumns: [
        { name: "x", type: "string", jsonPath: ".spec.text" },
        { name: "Ready", type: "string", jsonPath: ".status.conditions[0].message" },
        { name: "Count", type: "string", jsonPath: ".spec.list" },
      ],
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: {
            spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
            status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          },
        },
      },
    },
  ],
};
const rules = {
  resourceRules: [
    { operations: ["CONNECT"], apiGroups: ["none.example.com"], apiVersions: ["v1"], resources: ["nothing"] },
  ],
};

// The fields of a minimal object on which controllers do not act, by resource. Objects of all other resources are
// copied from the demo cluster.
const bases = {
  customresourcedefinitions: () => ({ spec: definition }),
  pods: () => ({ spec: { ...template.spec, schedulerName: "none" } }),
  podtemplates: () => ({ template }),
  replicationcontrollers: () => ({ spec: { replicas: 0, selector: { app: "e2e" }, template } }),
  replicasets: () => ({ spec: { replicas: 0, selector: { matchLabels: { app: "e2e" } }, template } }),
  deployments: () => ({ spec: { replicas: 0, selector: { matchLabels: { app: "e2e" } }, template } }),
  statefulsets: () => ({ spec: { replicas: 0, selector: { matchLabels: { app: "e2e" } }, template } }),
  daemonsets: () => ({
    spec: {
      selector: { matchLabels: { app: "e2e" } },
      template: { ...template, spec: { ...template.spec, nodeSelector: { e2e: "none" } } },
    },
  }),
  jobs: () => ({ spec: { suspend: true, template: { spec: { ...template.spec, restartPolicy: "Never" } } } }),
  cronjobs: () => ({
    spec: {
      suspend: true,
      schedule: "0 0 1 1 *",
      jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: "Never" } } } },
    },
  }),
  nodes: () => ({ spec: { unschedulable: true } }),
  namespaces: () => ({}),
  services: () => ({ spec: { type: "ExternalName", externalName: "example.com" } }),
  secrets: () => ({ type: "Opaque", data: {} }),
  serviceaccounts: () => ({}),
  persistentvolumes: ({ spec: { claimRef: _, ...spec } }) => ({ spec }),
  persistentvolumeclaims: ({ spec: { accessModes, resources } }) => ({
    spec: { accessModes, resources, storageClassName: "none" },
  }),
  ipaddresses: () => ({
    metadata: { name: "10.96.0.99" },
    spec: { parentRef: { resource: "services", name: "none", namespace: "none" } },
  }),
  csistoragecapacities: () => ({ storageClassName: "none" }),
  volumeattachments: () => ({ spec: { attacher: "none", nodeName: "none", source: { persistentVolumeName: "none" } } }),
  volumeattributesclasses: () => ({ driverName: "none.example.com", parameters: { a: "b" } }),
  runtimeclasses: () => ({ handler: "none" }),
  resourceslices: () => ({
    spec: { driver: "none.example.com", pool: { name: "none", resourceSliceCount: 1 }, allNodes: true },
  }),
  validatingadmissionpolicies: () => ({ spec: { matchConstraints: rules, validations: [{ expression: "true" }] } }),
  validatingadmissionpolicybindings: () => ({ spec: { policyName: "none", validationActions: ["Audit"] } }),
  mutatingadmissionpolicies: () => ({
    spec: {
      matchConstraints: rules,
      reinvocationPolicy: "Never",
      mutations: [
        { patchType: "JSONPatch", jsonPatch: { expression: '[JSONPatch{op: "test", path: "/kind", value: "none"}]' } },
      ],
    },
  }),
  mutatingadmissionpolicybindings: () => ({ spec: { policyName: "none" } }),
  events: (o) => ({ ...o, metadata: {}, involvedObject: { kind: "Pod", name: "hostile" } }),
};

const baseOf = async (kind) => {
  const there = (await read(`${kind.path}?limit=1`)).items[0];
  const { apiVersion: _, kind: __, metadata: ___, status: ____, ...rest } = structuredClone(there ?? {});
  return structuredClone(bases[kind.resource]?.(rest) ?? rest);
};

/** Returns the kinds whose objects can be created, listed and deleted, except the excluded ones. */
export async function kinds() {
  const found = [];
  const groups = (await read("/apis")).groups.map((g) => `/apis/${g.preferredVersion.groupVersion}`);
  for (const root of ["/api/v1", ...groups]) {
    const version = root.replace(/^\/apis?\//, "");
    const { resources } = await read(root);
    for (const r of resources) {
      if (
        r.name.includes("/") ||
        excludedResources.has(r.name) ||
        !["create", "list", "delete"].every((v) => r.verbs.includes(v)) ||
        version === "events.k8s.io/v1"
      )
        continue;
      found.push({
        ref: `${root === "/api/v1" ? "core/v1" : version}/${r.name}`,
        resource: r.name,
        kind: r.kind,
        version,
        root,
        path: `${root}/${r.name}`,
        namespaced: r.namespaced,
        status: resources.some((s) => s.name === `${r.name}/status`),
      });
    }
  }
  return found.sort((a, b) => Number(last.has(a.resource)) - Number(last.has(b.resource)));
}

const text = Symbol("text");
const bytes = Symbol("bytes");
const key = "e2e.example.com";

// Yields each string field in a schema with its path. Recursive schemas are expanded once.
function* leaves(schema, all, path = [], above = []) {
  const ref = schema.$ref ?? schema.allOf?.find((s) => s.$ref)?.$ref;
  if (ref !== undefined) {
    const schemaName = ref.split("/").at(-1);
    if (above.includes(schemaName) || /\.(Quantity|Time|MicroTime|IntOrString)$/.test(schemaName)) return;
    return yield* leaves(all[schemaName], all, path, [...above, schemaName]);
  }
  if (schema.type === "string" && schema.enum === undefined) {
    if (schema.format === "byte") yield { path, is: bytes };
    else if (schema.format !== "date-time" && schema.format !== "int-or-string") yield { path, is: text };
  } else if (schema.type === "array") yield* leaves(schema.items, all, [...path, 0], above);
  else if (schema.properties !== undefined) {
    for (const [name, s] of Object.entries(schema.properties)) yield* leaves(s, all, [...path, name], above);
  } else if (schema.additionalProperties) {
    for (const name of [key, print])
      for (const leaf of leaves(schema.additionalProperties, all, [...path, name], above))
        yield { ...leaf, unusual: name === print };
  } else if (schema.type === "object" || schema["x-kubernetes-preserve-unknown-fields"]) {
    for (const p of [
      ["text"],
      ["list", 0],
      [combined],
      ["conditions", 0, "type"],
      ["conditions", 0, "message"],
      ["conditions", 0, "reason"],
    ])
      yield { path: [...path, ...p], is: text };
  }
}

function put(object, path, value) {
  let at = object;
  path.forEach((step, i) => {
    if (i === path.length - 1) at[step] = value;
    else at = at[step] ??= typeof path[i + 1] === "number" ? [] : {};
    if (typeof at !== "object") throw new Error(`${path.join(".")} leads through a text`);
  });
}

const steps = (field) =>
  [...field.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g)].map((m) =>
    m[1] !== undefined && /^\d+$/.test(m[1]) ? Number(m[1]) : (m[1] ?? m[2]),
  );
const under = (path, field) => field.every((step, i) => path[i] === step);

// Returns the tried fields that the API server's error names. For a named field that was not tried, returns the tried
// fields inside the innermost object or list that contains it.
function rejectedPaths(problem, tried) {
  const rejectedLeaves = new Set();
  for (const { field = "" } of problem.details?.causes ?? []) {
    const at = steps(field);
    for (let n = at.length; n > 0; n--) {
      const all = tried.filter((l) => under(l.path, at.slice(0, n)));
      const unusual = all.filter((l) => l.unusual);
      const some = unusual.length > 0 ? unusual : all;
      if (n === at.length || some.length <= 8) for (const l of some) rejectedLeaves.add(l);
      if (all.length > 0) break;
    }
  }
  return rejectedLeaves;
}

// Returns the fields of `tried` that the API server accepts when they are in the same object as those of `taken`.
async function fit(attempt, taken, tried) {
  while (tried.length > 0) {
    const problem = await attempt([...taken, ...tried]);
    if (problem === null) return tried;
    const rejectedLeaves = rejectedPaths(problem, tried);
    if (rejectedLeaves.size > 0) {
      tried = tried.filter((l) => !rejectedLeaves.has(l));
      continue;
    }
    if (tried.length === 1) return [];
    // The error names no field, so try each half.
    const half = tried.length >> 1;
    const left = await fit(attempt, taken, tried.slice(0, half));
    return [...left, ...(await fit(attempt, [...taken, ...left], tried.slice(half)))];
  }
  return [];
}

async function filled(base, found, value, send) {
  const make = (list) => {
    const object = structuredClone(base);
    for (const l of list) put(object, l.path, l.value);
    return object;
  };
  const attempt = async (list) => {
    const answer = await send(make(list), "?dryRun=All");
    return answer.kind === "Status" && answer.status === "Failure" ? answer : null;
  };
  let acceptedPaths = [];
  let left = found.map((l, position) => ({ ...l, index: position }));
  for (let round = 0; round < value.length; round++) {
    // The page renders short and long texts differently. So in the first round, fields with an odd index get the last
    // text in the array (short), and the others get the first text (longer).
    const with_ = left.map((l) => {
      const one = value[(round + (l.index % 2) * (value.length - 1)) % value.length];
      return { ...l, value: l.is === bytes ? Buffer.from(one).toString("base64") : one };
    });
    const some = await fit(attempt, acceptedPaths, with_);
    acceptedPaths = [...acceptedPaths, ...some];
    const had = new Set(some.map((l) => JSON.stringify(l.path)));
    left = left.filter((l) => !had.has(JSON.stringify(l.path)));
  }
  return { object: make(acceptedPaths), taken: acceptedPaths };
}

/**
 * Creates an object with hostile text in each field that accepts it. The option `only` limits the hostile text
 * to some fields. The result contains the paths of the fields with hostile text.
 */
export async function hostile(
  t,
  kind,
  ns,
  schemas,
  { called: objectName = "hostile", values = [combined, name, print], only = null } = {},
) {
  const { root, resource } = kind;
  const where = kind.namespaced ? `${root}/namespaces/${ns}/${resource}` : kind.path;
  const all = schemas[root];
  const own = Object.values(all).find((s) =>
    s["x-kubernetes-group-version-kind"]?.some(
      (g) => g.kind === kind.kind && `${g.group === "" ? "" : `${g.group}/`}${g.version}` === kind.version,
    ),
  );
  const some = (list) => list.filter((l) => only === null || only.includes(l.path.join(".")));
  const found = some(
    [...leaves(own, all)].filter(
      ({ path: [first, second] }) =>
        !["apiVersion", "kind", "status"].includes(first) &&
        (first !== "metadata" || ["annotations", "labels", "ownerReferences", "name"].includes(second)),
    ),
  );
  const refused = [400, 403, 404, 405, 409, 422, 500];
  const base = await baseOf(kind);
  base.apiVersion = kind.version;
  base.kind = kind.kind;
  base.metadata = {
    name: resource === "customresourcedefinitions" ? "scripts.hostile.example.com" : objectName,
    ownerReferences: [{ apiVersion: "none.example.com/v1", kind: "None", name: "none", uid: "none" }],
    ...base.metadata,
  };
  if (resource === "events") base.involvedObject.namespace = ns;
  const post = (o, query) => api("POST", where + query, o, { allowed: refused, manager: print });
  const { object, taken: acceptedPaths } = await filled(base, found, values, post);
  const made = await create(where, object, { manager: print });
  const at = `${where}/${encodeURIComponent(made.metadata.name)}`;
  atEnd(t, () => remove(at));
  let acceptedStatusPaths = [];
  if (kind.status) {
    const states = some([...leaves(own, all)].filter(({ path: [first] }) => first === "status"));
    const now = await read(at);
    const send = (o, query) => api("PUT", `${at}/status${query}`, o, { allowed: refused, manager: print });
    const filledIn = await filled(
      { ...now, metadata: { ...now.metadata, managedFields: undefined, resourceVersion: undefined } },
      states,
      values,
      send,
    );
    await send(filledIn.object, "");
    acceptedStatusPaths = filledIn.taken;
  }
  return {
    ...kind,
    name: made.metadata.name,
    at,
    paths: [...acceptedPaths, ...acceptedStatusPaths].map((l) => l.path.join(".")),
  };
}

/** Returns the OpenAPI schemas by API path. */
export async function schemasOf(list) {
  const roots = [...new Set(list.map((k) => k.root))];
  return Object.fromEntries(
    await Promise.all(roots.map(async (root) => [root, (await read(`/openapi/v3${root}`)).components.schemas])),
  );
}
