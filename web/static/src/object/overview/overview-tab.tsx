import "../../shared-code.ts";
import { h } from "../../ui/dom.ts";
import { mount, unmount, ViewState } from "../../ui/view.tsx";
import { conditionsOf } from "../facts/conditions.ts";
import { factsOf } from "../facts/facts.ts";
import { annotationsOf, labelsOf, metaFacts } from "../facts/meta.ts";
import type { Target } from "../facts/fact.ts";
import { valueAt, text } from "../facts/read.ts";
import { sharedParts } from "../../model/guest.ts";
import { panelHref } from "../../model/view.ts";
import { Conditions } from "./conditions.tsx";
import { OwnerReader, Owners } from "./owners.tsx";
import { Annotations, Labels } from "./labels.tsx";
import { FactList, Heading, Overview, SectionView } from "./fact-view.tsx";
import { ReferenceReader, References } from "./references.tsx";
import { HealthView } from "./health.tsx";
import { loadKindSection, type KindSection } from "./kind-section.ts";
import type { TabHost, TabData, Tab } from "../tab.ts";
import type { Health, JsonObject, Verdict } from "../../net/wire.ts";

export class OverviewTab implements Tab {
  readonly element = h("div", { class: "overview", tabindex: "0" });
  private readonly state: ViewState;
  private readonly owners: OwnerReader;
  private readonly references: ReferenceReader;
  private object: JsonObject | null = null;
  private health: Health | null = null;
  private verdict: Verdict | null = null;
  private isDeleted = false;
  // Whether a reference has no link, because the resource of its object is unknown.
  private hasUnresolvedLinks = false;
  private kindSection: KindSection | null = null;
  private isClosed = false;

  constructor(private readonly host: TabHost) {
    this.state = new ViewState(host.now);
    this.owners = new OwnerReader(host, () => this.draw());
    this.references = new ReferenceReader(host, () => this.draw());
    void loadKindSection(host, () => this.draw()).then((section) => {
      if (this.isClosed) return section?.close();
      this.kindSection = section;
      this.draw();
    });
  }

  show({ object, health, verdict, isDeleted }: TabData): void {
    this.kindSection?.reconnected();
    if (object === this.object && health === this.health && verdict === this.verdict && isDeleted === this.isDeleted)
      return;
    // Do not highlight the differences to a replaced object of the same name.
    this.state.highlightsChanges = uid(object) === uid(this.object);
    this.object = object;
    this.health = health;
    this.verdict = verdict;
    this.isDeleted = isDeleted;
    this.references.show(uid(object), isDeleted);
    if (object !== null) this.owners.show(object);
    this.draw();
  }

  /** Updates ages, and adds links if their resources have become known. */
  tick(): void {
    this.state.tick();
    this.kindSection?.tick();
    if (this.object === null || !this.hasUnresolvedLinks) return;
    this.owners.show(this.object);
    this.draw();
  }

  close(): void {
    this.isClosed = true;
    this.kindSection?.close();
    this.owners.close();
    this.references.close();
    unmount(this.element);
  }

  private draw(): void {
    const { element, host, object } = this;
    if (object === null) return unmount(element);
    this.hasUnresolvedLinks = false;
    // In the panel, headings are at level 3, below the panel's title. Otherwise, they are at level 2.
    const headingLevel = element.closest(".panel") === null ? 2 : undefined;
    mount(
      element,
      <Overview.Provider key={uid(object)} value={{ href: this.href, headingLevel }}>
        <HealthView health={this.health} verdict={this.verdict} isDeleted={this.isDeleted} />
        <div class="columns">
          <div class="column">
            <div class="facts">
              {factsOf(object).map((section) => (
                <SectionView key={section.key} section={section} />
              ))}
            </div>
            <Conditions conditions={conditionsOf(object)} />
            {!this.isDeleted && this.kindSection?.view(object)}
          </div>
          <div class="column">
            <Owners host={host} owners={this.owners.owners} steps={this.owners.steps} />
            {sharedParts() === null && <References reader={this.references} />}
            <Labels labels={labelsOf(object)} resource={host.kind.ref} />
            <Annotations annotations={annotationsOf(object)} />
            <section class="part">
              <Heading>Object</Heading>
              <FactList facts={metaFacts(object)} />
            </section>
          </div>
        </div>
      </Overview.Provider>,
      this.state,
    );
  }

  private readonly href = ({ apiVersion, kind, ns, name }: Target): string | null => {
    const resource = this.host.kindOf(apiVersion, kind);
    if (resource === undefined) this.hasUnresolvedLinks = true;
    return resource === undefined ? null : panelHref(resource.ref, { ns: resource.namespaced ? ns : "", name });
  };
}

const uid = (object: JsonObject | null): string => text(valueAt(object, "metadata", "uid"));
