// The overview tab of an object: its health with the reason, key facts, conditions, owners, labels and annotations.

import { h, setAttr } from "../dom.ts";
import { conditionsOf } from "../facts/conditions.ts";
import { factsOf } from "../facts/facts.ts";
import { annotationsOf, labelsOf, metaFacts } from "../facts/meta.ts";
import { at, text } from "../facts/read.ts";
import { shared } from "../guest.ts";
import { ConditionsView } from "../overview/conditions.ts";
import { OwnersView } from "../overview/owners.ts";
import { AnnotationsView, LabelsView } from "../overview/pairs.ts";
import { Sheet } from "../overview/sheet.ts";
import { UsesView } from "../overview/uses.ts";
import { VerdictView } from "../overview/verdict.ts";
import type { Host, Shown, Tab } from "../tabs.ts";
import type { Health, Tree } from "../wire.ts";

export class Overview implements Tab {
  private readonly sheet: Sheet;
  private readonly verdict = new VerdictView();
  private readonly facts = h("div", { class: "facts" });
  private readonly conditions: ConditionsView;
  private readonly owners: OwnersView;
  private readonly uses: UsesView;
  private readonly labels: LabelsView;
  private readonly annotations: AnnotationsView;
  private readonly meta = h("dl", { class: "pairs" });
  readonly element = h("div", { class: "overview", tabindex: "0" });
  private object: Tree | null = null;
  private health: Health | null = null;
  private gone = false;

  constructor(host: Host) {
    const sheet = (this.sheet = new Sheet(host));
    this.conditions = new ConditionsView(sheet, host.now);
    this.owners = new OwnersView(host, sheet);
    this.uses = new UsesView(host);
    this.uses.element.hidden = shared() !== null; // Guests see no related objects.
    this.labels = new LabelsView(sheet, host.kind.ref);
    this.annotations = new AnnotationsView(sheet);
  }

  show({ object, health, gone }: Shown): void {
    if (object === this.object && health === this.health && gone === this.gone) return;
    // If the object was replaced by another one with the same name, highlight no differences between the two.
    this.sheet.first = uid(object) !== uid(this.object);
    this.object = object;
    this.health = health;
    this.gone = gone;
    this.uses.show(uid(object), gone);
    if (object === null) this.element.replaceChildren();
    else this.draw(object);
  }

  /** Updates ages. It also draws the facts again if a link needs a resource that was not known before. */
  tick(): void {
    this.sheet.tick(this.element);
    this.uses.tick();
    if (this.object === null || !this.sheet.unresolved) return;
    this.sheet.first = true;
    this.draw(this.object);
  }

  close(): void {
    this.owners.close();
    this.uses.close();
  }

  private draw(object: Tree): void {
    const { sheet, element } = this;
    sheet.unresolved = false;
    const verdict = this.verdict.show(this.health, this.gone);
    if (!this.gone) sheet.changed(this.verdict.line, verdict);
    sheet.sections(this.facts, factsOf(object));
    this.conditions.show(conditionsOf(object));
    this.owners.show(object);
    this.labels.show(labelsOf(object));
    this.annotations.show(annotationsOf(object));
    sheet.facts(this.meta, metaFacts(object));
    if (element.childElementCount === 0) element.append(
      this.verdict.element,
      h(
        "div",
        { class: "columns" },
        h("div", { class: "column" }, this.facts, this.conditions.element),
        h(
          "div",
          { class: "column" },
          this.owners.element,
          this.uses.element,
          this.labels.element,
          this.annotations.element,
          h("section", { class: "part" }, h("h3", {}, "Object"), this.meta),
        ),
      ),
    );
    // In the panel beside the table, a title precedes these headings, so they keep their default level.
    const level = element.closest(".panel") === null ? "2" : null;
    for (const e of element.querySelectorAll("h3")) setAttr(e, "aria-level", level);
  }
}

const uid = (object: Tree | null): string => text(at(object, "metadata", "uid"));
