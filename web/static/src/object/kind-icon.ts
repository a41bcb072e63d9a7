import { withBase } from "../net/base-path.ts";
import { svg } from "../ui/dom.ts";

const builtInPattern = /^(core|apps|batch|autoscaling|policy|[\w.]+\.k8s\.io)\//;

/** Creates the icon of a kind. All custom kinds have the same icon. `ref` is the resource (group/version/plural). */
export function kindIcon({ ref, kind }: { readonly ref: string; readonly kind: string }): SVGElement {
  // The links of the resource picker contain the hash of the file, so browsers load it only once.
  const used = document.querySelector("#picker use")?.getAttribute("href") ?? withBase("/static/icons.svg");
  const id = builtInPattern.test(ref) ? kind : "Custom";
  return svg(
    "svg",
    { class: "kind-icon", "aria-hidden": "true" },
    svg("use", { href: `${used.replace(/#.*/, "")}#${id}` }),
  );
}
