import "../../shared-code.ts";
import { h } from "../../ui/dom.ts";
import { mount, unmount, ViewState } from "../../ui/view.tsx";
import { conditionsOf } from "../facts/conditions.ts";
import { factsOf } from "../facts/facts.ts";
import { annotationsOf, labelsOf, metaFacts } from "../facts/meta.ts";
import type { Target } from "../facts/fact.ts";
import { valueAt, text } from "../facts/read.ts";
import { isShared, sharedParts } from "../../model/guest.ts";
import { isCounted } from "../../model/severity.ts";
import { logHref, panelHref, type ObjectName } from "../../model/view.ts";
import { Conditions } from "./conditions.tsx";
import { ExplanationReader } from "./explanation.ts";
import { AffectedObjects, Unexamined } from "./explanation-view.tsx";
import { AuthorReader } from "./authors.ts";
import { LastChanges } from "./last-changes.tsx";
import { OwnerReader, Owners } from "./owners.tsx";
import { Annotations, Labels } from "./labels.tsx";
import { FactList, Heading, Overview, SectionView } from "./fact-view.tsx";
import { ReferenceReader, References } from "./references.tsx";
import { HealthView } from "./health.tsx";
import { causeInPods, isCrash, readCause, type Cause } from "./cause.ts";
import { containersOf, restartedContainer } from "../logs/containers.ts";
import { CopyBar } from "../workload/copy-bar.tsx";
import { copyItems, kubectlCommands } from "../workload/kubectl.ts";
import { Pods } from "../workload/pods.tsx";
import { revisionsOf } from "../workload/revisions.ts";
import { Revisions } from "../workload/revisions.tsx";
import { ReplicaChart } from "../workload/replica-chart.tsx";
import { replicasOf } from "../workload/replicas.ts";
import { WorkloadPods } from "../workload/workload-pods.ts";
import { hasLogs } from "../../net/kinds.ts";
import type { KindSection } from "../kind-section.ts";
import type { TabHost, TabData, Tab } from "../tab.ts";
import type { Health, JsonObject, Verdict } from "../../net/wire.ts";

export class OverviewTab implements Tab {
  readonly element = h("div", { class: "overview", tabindex: "0" });
  private readonly state: ViewState;
  private readonly authors: AuthorReader;
  private readonly owners: OwnerReader;
  private readonly references: ReferenceReader;
  private readonly workload: WorkloadPods;
  private readonly explanation: ExplanationReader;
  private object: JsonObject | null = null;
  private health: Health | null = null;
  private verdict: Verdict | null = null;
  private isDeleted = false;
  // Whether a reference in the overview has no link, because its object's resource is not known yet.
  private hasUnresolvedLinks = false;
  private kindSection: KindSection | null = null;
  private isClosed = false;
  private frame = 0;

  constructor(private readonly host: TabHost) {
    this.state = new ViewState(host.now);
    this.authors = new AuthorReader(host, () => this.draw());
    this.owners = new OwnerReader(host, () => this.draw());
    this.references = new ReferenceReader(host, () => this.draw());
    this.workload = new WorkloadPods(host, () => this.schedule());
    this.explanation = new ExplanationReader(host, () => this.schedule());
    void loadKindSection(host, () => this.draw()).then((section) => {
      if (this.isClosed) return section?.close();
      this.kindSection = section;
      this.draw();
    });
  }

  show({ object, health, verdict, last, isDeleted }: TabData): void {
    this.kindSection?.reconnected();
    this.workload.show(object);
    if (object === this.object && health === this.health && verdict === this.verdict && isDeleted === this.isDeleted)
      return;
    // If another object of the same name has replaced the object, do not highlight the differences.
    this.state.highlightsChanges = uid(object) === uid(this.object);
    this.object = object;
    this.health = health;
    this.verdict = verdict;
    this.isDeleted = isDeleted;
    this.references.show(uid(object), isDeleted);
    if (object !== null) {
      this.owners.show(object);
      this.authors.show(object, last, isDeleted);
    }
    this.draw();
  }

  /** Updates ages. If references lack links, draws them again, because their resources may now be known. */
  tick(): void {
    this.state.tick();
    this.kindSection?.tick();
    this.authors.tick();
    if (this.object === null || !this.hasUnresolvedLinks) return;
    this.owners.show(this.object);
    this.draw();
  }

  close(): void {
    this.isClosed = true;
    this.kindSection?.close();
    this.authors.close();
    this.owners.close();
    this.references.close();
    this.workload.close();
    this.explanation.close();
    cancelAnimationFrame(this.frame);
    unmount(this.element);
  }

  private schedule(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const { element, host, object, workload } = this;
    if (object === null) return unmount(element);
    const cause = this.cause();
    const { explanation } = this.explanation;
    const isProblem = this.verdict !== null && isCounted(this.verdict.severity);
    this.hasUnresolvedLinks = false;
    // In the panel, headings are at level 3, below the panel's title. Otherwise, they are at level 2.
    const headingLevel = element.closest(".panel") === null ? 2 : undefined;
    const copyBar = (
      <CopyBar
        items={copyItems(host.name, object)}
        commands={kubectlCommands(host.kind, host.name, hasLogs(host.kind.ref))}
      />
    );
    const facts = (
      <div class="facts">
        {factsOf(object).map((section) => (
          <SectionView key={section.key} section={section} />
        ))}
      </div>
    );
    const startsWithContent = contentKinds.test(host.kind.ref);
    mount(
      element,
      <Overview.Provider key={uid(object)} value={{ href: this.href, hrefOf: this.hrefOf, headingLevel }}>
        <HealthView
          health={this.health}
          verdict={this.verdict}
          isDeleted={this.isDeleted}
          cause={cause}
          chain={isProblem ? explanation.chain : []}
          previousLog={this.previousLog(cause)}
        />
        {!this.isDeleted && (
          <>
            <AffectedObjects explanation={explanation} resource={host.kind.ref} ns={host.name.ns} />
            {(isProblem || explanation.affectedTotal > 0) && <Unexamined sentences={explanation.unexamined} />}
          </>
        )}
        {!startsWithContent && copyBar}
        <div class="columns">
          <div class="column">
            {startsWithContent && (
              <>
                {facts}
                {copyBar}
              </>
            )}
            <Pods
              workload={workload}
              replicas={replicasOf(host.kind.ref, object, workload.isComplete ? workload.severityCounts : null)}
              ns={host.name.ns}
              isDeleted={this.isDeleted}
              now={host.now()}
              chart={<ReplicaChart host={host} />}
            />
            {hasRevisions(host.kind.ref) && (
              <Revisions
                revisions={revisionsOf(object, workload.intermediates)}
                info={workload.intermediateInfo}
                ns={host.name.ns}
                resource={host.kind.ref === "apps/v1/deployments" ? "ReplicaSets" : "ControllerRevisions"}
              />
            )}
            <LastChanges authors={this.authors.authors} />
            {!startsWithContent && facts}
            <Conditions conditions={conditionsOf(object)} />
            {!this.isDeleted && this.kindSection?.view(object)}
          </div>
          <div class="column">
            <Owners host={host} owners={this.owners.owners} steps={this.owners.steps} />
            {sharedParts() === null && <References reader={this.references} />}
            <Labels labels={labelsOf(object)} kind={host.kind} />
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

  // Returns the cause that the server has sent, or otherwise the worst pod of an unhealthy workload.
  private cause(): Cause | null {
    const { verdict, workload } = this;
    if (verdict === null) return null;
    const sent = readCause(verdict);
    if (sent !== null || !isCounted(verdict.severity) || !workload.hasPods) return sent;
    return causeInPods(this.host.name.ns, workload.pods);
  }

  // Returns the URL of the log before the crash of a pod: this pod, or the pod that causes the problem. Returns null if
  // there is no such crash, or if the viewer's share link does not include logs.
  private previousLog(cause: Cause | null): string | null {
    const { host, verdict, object } = this;
    if (!isShared("core/v1/pods/log") || verdict === null) return null;
    const isPod = host.kind.ref === "core/v1/pods";
    if (!isPod && cause?.resource !== "core/v1/pods") return null;
    if (!isCrash(verdict.reason, isPod ? verdict.sentence : (cause?.sentence ?? ""))) return null;
    const name = isPod ? host.name : { ns: cause?.ns ?? "", name: cause?.name ?? "" };
    const pod = isPod ? object : (this.workload.pods.find((p) => p.name === name.name)?.object ?? null);
    return logHref("core/v1/pods", name, { container: restartedContainer(containersOf(pod)), previous: true });
  }

  private readonly hrefOf = (ref: string, { ns, name }: ObjectName): string | null => {
    const resource = this.host.kindOfRef(ref);
    if (resource === undefined) this.hasUnresolvedLinks = true;
    return resource === undefined ? null : panelHref(resource.ref, { ns: resource.namespaced ? ns : "", name });
  };

  private readonly href = ({ apiVersion, kind, ns, name }: Target): string | null => {
    const resource = this.host.kindOf(apiVersion, kind);
    if (resource === undefined) this.hasUnresolvedLinks = true;
    return resource === undefined ? null : panelHref(resource.ref, { ns: resource.namespaced ? ns : "", name });
  };
}

// The overview of these kinds starts with their content, because most users need only this.
const contentKinds = /^(core\/v1\/(configmaps|secrets)|rbac\.authorization\.k8s\.io\/v1\/(clusterroles|roles))$/;

const hasRevisions = (ref: string): boolean => /^apps\/v1\/(deployments|statefulsets|daemonsets)$/.test(ref);

const uid = (object: JsonObject | null): string => text(valueAt(object, "metadata", "uid"));

// Loads the section that only objects of this kind have. Returns null if there is none.
async function loadKindSection(host: TabHost, onChange: () => void): Promise<KindSection | null> {
  // The section contains sums over all pods of a node. A guest possibly sees only some of these pods.
  if (host.kind.ref !== "core/v1/nodes" || sharedParts() !== null) return null;
  const { NodeSection } = await import("../node/node-section.tsx");
  return new NodeSection(host, onChange);
}
