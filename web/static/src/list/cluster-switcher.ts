// The cluster's name in the header. If the server offers several clusters, the name is a link to the page that lists
// them. On most pages, a button that opens a popover replaces the link.

import { Contexts, openStartPage, type Context } from "../net/contexts.ts";
import { h } from "../ui/dom.ts";
import { Popover } from "../ui/popover.ts";
import { showToast } from "../ui/toast.ts";

export class ClusterSwitcher {
  private readonly popover: Popover | null;

  /** Pass false for hasPopover if the page reloads itself: a reload would close an open popover of the cluster list. */
  constructor(
    private readonly link: HTMLAnchorElement,
    hasPopover: boolean,
    private readonly contexts = new Contexts(openStartPage),
  ) {
    this.popover = hasPopover ? replaceByPopover(link, contexts) : null;
  }

  open(): void {
    if (this.popover === null) this.link.click();
    else this.popover.open();
  }

  /** Reads the kubeconfig contexts from the server, which are the clusters that the user can choose. */
  read(): Promise<void> {
    return this.contexts.read();
  }

  /** Returns the contexts that the method read received last, each with a function that switches to its cluster. */
  choices(): (Context & { choose: () => void })[] {
    return this.contexts.all.map((c) => ({ ...c, choose: () => void this.choose(c.name) }));
  }

  private async choose(name: string): Promise<void> {
    showToast(`Switching to ${name}…`);
    if (await this.contexts.choose(name)) return;
    if (this.popover === null) showToast(this.contexts.error);
    else this.popover.open();
  }
}

function replaceByPopover(link: HTMLAnchorElement, contexts: Contexts): Popover {
  const button = h(
    "button",
    {
      id: "cluster",
      class: "cluster chooser",
      type: "button",
      "aria-haspopup": "dialog",
      title: link.title,
      "data-color": link.dataset["color"] ?? null,
    },
    ...link.childNodes,
  );
  link.replaceWith(button);
  return new Popover(button, "Contexts", async () => (await import("./context-chooser.tsx")).contextChooser(contexts));
}
