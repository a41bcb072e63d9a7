// The objects that the user marked on the home page, to compare two of them.

import { sharedParts } from "../model/guest.ts";
import type { ObjectRef } from "../net/overview.ts";
import { byId } from "../ui/dom.ts";
import { singleKeysEnabled } from "../ui/single-key.ts";
import { showToast } from "../ui/toast.ts";
import { nameOf } from "./home-text.ts";
import { keyOf } from "./problems.tsx";

export class Marks {
  private readonly marked = new Map<string, ObjectRef>();

  has(o: ObjectRef): boolean {
    return this.marked.has(keyOf(o));
  }

  /** Returns the marked object that a comparison with `o` compares, or undefined. */
  other(o: ObjectRef): ObjectRef | undefined {
    return [...this.marked.values()].find((m) => keyOf(m) !== keyOf(o));
  }

  toggle(o: ObjectRef): void {
    const key = keyOf(o);
    if (this.marked.delete(key)) showToast(`${nameOf(o)} is no longer marked`);
    else {
      // Only two objects can be compared, so a third mark replaces the oldest mark.
      if (this.marked.size === 2) this.marked.delete(this.marked.keys().next().value ?? "");
      this.marked.set(key, o);
      showToast(
        this.marked.size === 1
          ? `${nameOf(o)} marked. Mark another object to compare both.`
          : `${nameOf(o)} marked. To compare both objects, ${
              singleKeysEnabled() ? "press =" : "search for “Compare marked objects”"
            }.`,
      );
    }
    this.draw();
  }

  compare(): void {
    const [a, b] = this.marked.values();
    if (sharedParts() !== null) return showToast("A share link does not include the comparison of objects.");
    if (a === undefined || b === undefined)
      return showToast("Mark two objects first, with “Mark to compare” in the menu of each object.");
    void openComparison(a, b);
  }

  /** Marks the elements of the marked objects. A new message of the server can have replaced these elements. */
  draw(): void {
    for (const e of byId("overview").querySelectorAll<HTMLElement>("#rows [data-key]"))
      e.toggleAttribute("data-marked", this.marked.has(e.dataset["key"] ?? ""));
  }
}

export async function openComparison(a: ObjectRef, b: ObjectRef): Promise<void> {
  const { comparisonOf } = await import("../list/row-actions.ts");
  location.assign(comparisonOf(a.resource, a, b, b.resource));
}
