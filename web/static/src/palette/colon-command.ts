// Parses palette commands that start with a colon, such as ":po shop" or ":help", as in k9s.

interface ColonCommand {
  /** The name of a resource, or a special word. */
  readonly word: string;
  /** Whether a space follows the word, so that the user has finished typing it. */
  readonly hasArguments: boolean;
  readonly ns: string;
  readonly labels: string; // label selector, such as "app=web"
  readonly filter: string; // text filter, without the slash that precedes it
}

export function parseColon(text: string): ColonCommand {
  const words = text.trimStart().split(/\s+/);
  const rest = words.slice(1);
  const filter = rest.findIndex((w) => w.startsWith("/"));
  const beforeFilter = filter < 0 ? rest : rest.slice(0, filter);
  return {
    word: (words[0] ?? "").toLowerCase(),
    hasArguments: words.length > 1,
    ns: beforeFilter.find((w) => w !== "" && !w.includes("=")) ?? "",
    labels: beforeFilter.filter((w) => w.includes("=")).join(","),
    filter: filter < 0 ? "" : rest.slice(filter).join(" ").slice(1),
  };
}

/** Returns a hint for a k9s or vim command that does not exist here. Returns undefined for other words. */
export function unsupportedHint(word: string): string | undefined {
  const hints: Readonly<Record<string, string>> = {
    ctx:
      "This server shows only one cluster. " +
      "For another one, start a second Glasshouse with its kubeconfig or --context.",
    w: "Glasshouse is read-only.",
    edit: "Glasshouse is read-only. To edit an object, use kubectl edit.",
    delete: "Glasshouse is read-only. To delete an object, use kubectl delete.",
    q: "Close the browser tab to quit. Esc closes panels.",
    pulse: "The watch status page shows the watched resources and their state.",
    xray: "Open an object to see its owners and the objects that it owns.",
    pf: "To forward ports, use kubectl port-forward.",
    shell: "To open a shell, use kubectl exec.",
  };
  const aliases: Readonly<Record<string, string>> = {
    "q!": "q",
    quit: "q",
    qa: "q",
    "qa!": "q",
    exit: "q",
    x: "w",
    wq: "w",
    "wq!": "w",
    write: "w",
    e: "edit",
    rm: "delete",
    kill: "delete",
    pulses: "pulse",
    popeye: "pulse",
    xrays: "xray",
    portforward: "pf",
    portforwards: "pf",
    "port-forward": "pf",
    exec: "shell",
    sh: "shell",
  };
  return hints[isContextCommand(word) ? "ctx" : (aliases[word] ?? word)];
}

/** Reports whether a word is a command to switch to another cluster. */
export const isContextCommand = (word: string): boolean =>
  ["ctx", "context", "contexts", "cluster", "clusters"].includes(word);
