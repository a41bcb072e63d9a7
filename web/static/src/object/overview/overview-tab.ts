// The overview tab of an object: health, the most important facts, conditions, owners, labels and annotations.

import { h, setAttr } from "../../ui/dom.ts";
import { conditionsOf } from "../facts/conditions.ts";
import { factsOf } from "../facts/facts.ts";
import { annotationsOf, labelsOf, metaFacts } from "../facts/meta.ts";
import { valueAt, text } from "../facts/read.ts";
import { sharedParts } from "../../model/guest.ts";
import { ConditionsView } from "./conditions.ts";
import { OwnersView } from "./owners.ts";
import { AnnotationsView, LabelsView } from "./labels.ts";
import { FactView } from "./fact-view.ts";
import { ReferencesView } from "./references.ts";
import { HealthView } from "./health.ts";
import type { TabHost, TabData, Tab } from "../tab.ts";
import type { Health, JsonObject } from "../../net/wire.ts";

export class OverviewTab implements Tab {
  private readonly factView: FactView;
  private readonly healthView = new HealthView();
  private readonly facts = h("div", { class: "facts" });
  private readonly conditions: ConditionsView;
  private readonly owners: OwnersView;
  private readonly references: ReferencesView;
  private readonly labels: LabelsView;
  private readonly annotations: AnnotationsView;
  private readonly meta = h("dl", { class: "pairs" });
  readonly element = h("div", { class: "overview", tabindex: "0" });
  private object: JsonObject | null = null;
  private health: Health | null = null;
  private isDeleted = false;

  constructor(host: TabHost) {
    const factView = (this.factView = new FactView(host));
    this.conditions = new ConditionsView(factView, host.now);
    this.owners = new OwnersView(host, factView);
    this.references = new ReferencesView(host);
    this.references.element.hidden = sharedParts() !== null; // guests (viewers of links) see no references
    this.labels = new LabelsView(factView, host.kind.ref);
    this.annotations = new AnnotationsView(factView);
  }

  show({ object, health, isDeleted: gone }: TabData): void {
    if (object === this.object && health === this.health && gone === this.isDeleted) return;
    // If another object with the same name replaced this one, do not highlight the differences between them.
    this.factView.isFirstRender = uid(object) !== uid(this.object);
    this.object = object;
    this.health = health;
    this.isDeleted = gone;
    this.references.show(uid(object), gone);
    if (object === null) this.element.replaceChildren();
    else this.draw(object);
  }

  /** Updates ages. If a fact has no link because a resource was unknown, it draws the facts again. */
  tick(): void {
    this.factView.tick(this.element);
    this.references.tick();
    if (this.object === null || !this.factView.hasUnresolvedLinks) return;
    this.factView.isFirstRender = true;
    this.draw(this.object);
  }

  close(): void {
    this.owners.close();
    this.references.close();
  }

  private draw(object: JsonObject): void {
    const { factView, element } = this;
    factView.hasUnresolvedLinks = false;
    const healthText = this.healthView.show(this.health, this.isDeleted);
    if (!this.isDeleted) factView.highlightIfChanged(this.healthView.summaryElement, healthText);
    factView.sections(this.facts, factsOf(object));
    this.conditions.show(conditionsOf(object));
    this.owners.show(object);
    this.labels.show(labelsOf(object));
    this.annotations.show(annotationsOf(object));
    factView.facts(this.meta, metaFacts(object));
    if (element.childElementCount === 0) element.append(
      this.healthView.element,
      h(
        "div",
        { class: "columns" },
        h("div", { class: "column" }, this.facts, this.conditions.element),
        h(
          "div",
          { class: "column" },
          this.owners.element,
          this.references.element,
          this.labels.element,
          this.annotations.element,
          h("section", { class: "part" }, h("h3", {}, "Object"), this.meta),
        ),
      ),
    );
    // On a page of its own, these headings are at level 2. In the panel next to the table, they keep level 3, because
    // a title precedes them.
    const level = element.closest(".panel") === null ? "2" : null;
    for (const e of element.querySelectorAll("h3")) setAttr(e, "aria-level", level);
  }
}

const uid = (object: JsonObject | null): string => text(valueAt(object, "metadata", "uid"));
