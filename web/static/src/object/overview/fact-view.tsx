// Renders facts, which are the named values in the overview of an object.

import { createContext } from "preact";
import { useContext, useLayoutEffect, useRef, useState } from "preact/hooks";
import { copyText } from "../../ui/clipboard.ts";
import { Age, useHighlight } from "../../ui/view.tsx";
import type { ObjectName } from "../../model/view.ts";
import type { Bar, Fact, Group, Item, Piece, Section, Table, Target } from "../facts/fact.ts";

const maxDrawnValue = 50_000; // characters; the rest of a longer value is not drawn

interface OverviewScope {
  /** Returns the URL that opens an object in the panel. Returns null if the cluster serves no resource of its kind. */
  readonly href: (target: Target) => string | null;
  /** Like href, but finds the resource by its ref, such as "core/v1/pods". */
  readonly hrefOf: (ref: string, name: ObjectName) => string | null;
  /** The heading level for screen readers. undefined keeps level 3, that of the h3 elements. */
  readonly headingLevel: 2 | undefined;
}

export const Overview = createContext<OverviewScope>({
  href: () => null,
  hrefOf: () => null,
  headingLevel: undefined,
});

export function Heading({ children, ...rest }: { children: string; id?: string; hidden?: boolean }) {
  return (
    <h3 aria-level={useContext(Overview).headingLevel} {...rest}>
      {children}
    </h3>
  );
}

export const SectionView = ({ section: { title, facts, items, groups, table } }: { section: Section }) => (
  <section class="part">
    <Heading hidden={title === ""}>{title}</Heading>
    {table !== undefined && <TableView table={table} label={title} />}
    <FactList facts={facts} />
    <div class="items">
      {items.map((item) => (
        <ItemView key={item.key} item={item} />
      ))}
    </div>
    <Groups groups={groups} />
  </section>
);

export const FactList = ({ facts }: { facts: readonly Fact[] }) => (
  <dl class="pairs" hidden={facts.length === 0}>
    {facts.map((fact) => (
      <FactView key={fact.key} fact={fact} />
    ))}
  </dl>
);

const textOf = (pieces: readonly Piece[]): string => pieces.map((p) => p.text).join("\n");

function FactView({ fact: { name, bar, pieces } }: { fact: Fact }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd ref={useHighlight<HTMLElement>(textOf(pieces))}>
        {bar !== undefined && <BarView {...bar} />}
        {pieces.map((piece) => (
          <PieceView piece={piece} />
        ))}
      </dd>
    </div>
  );
}

function ItemView({ item: { title, head, facts, groups } }: { item: Item }) {
  return (
    <div class="item">
      <p class="head">
        <strong>{title}</strong>
        <span class="pieces" ref={useHighlight<HTMLElement>(textOf(head))}>
          {head.map((piece) => (
            <PieceView piece={piece} />
          ))}
        </span>
      </p>
      <FactList facts={facts} />
      <Groups groups={groups} />
    </div>
  );
}

// Shows collapsed groups of facts. The keys keep a group expanded when its facts change.
const Groups = ({ groups }: { groups: readonly Group[] }) => (
  <div class="groups" hidden={groups.length === 0}>
    {groups.map(({ key, title, facts }) => (
      <details key={key}>
        <summary>
          {title} <span class="count">{facts.length}</span>
        </summary>
        <FactList facts={facts} />
      </details>
    ))}
  </div>
);

function PieceView({ piece: { text, title, level, isRelative, target, full } }: { piece: Piece }) {
  const { href } = useContext(Overview);
  if (full !== undefined) return <LongValue label={text} full={full} />;
  const address = target === undefined ? null : href(target);
  const words = isRelative === true ? <Age wire={text} /> : text;
  return address === null ? (
    <span title={title} data-level={level}>
      {words}
    </span>
  ) : (
    <a href={address} data-address="" title={title} data-level={level}>
      {words}
    </a>
  );
}

// The value is drawn only while it is open, because it can be large.
function LongValue({ label, full }: { label: string; full: () => string }) {
  const [isOpen, setOpen] = useState(false);
  const [result, setResult] = useState("");
  const copy = async (): Promise<void> => {
    setResult((await copyText(full())) ? "Copied" : "Copy failed");
    setTimeout(() => setResult(""), 2000);
  };
  const value = isOpen ? full() : "";
  return (
    <details class="long-value" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>{label}</summary>
      {isOpen && (
        <>
          <ColoredText text={value.slice(0, maxDrawnValue)} />
          {value.length > maxDrawnValue && <p>The rest is in the YAML tab. “Copy value” copies the complete value.</p>}
          <button type="button" onClick={() => void copy()}>
            {result || "Copy value"}
          </button>
        </>
      )}
    </details>
  );
}

// Colors YAML and JSON. The code for this loads when the first value is opened.
function ColoredText({ text }: { text: string }) {
  const element = useRef<HTMLPreElement>(null);
  useLayoutEffect(() => {
    let remove = (): void => undefined;
    let isCurrent = true;
    void import("../yaml/syntax.ts").then(
      ({ colorSyntax }) => {
        const node = element.current?.firstChild as Text | null | undefined;
        // A text with invisible characters consists of several nodes, and stays without colors.
        if (isCurrent && node?.data === text) remove = colorSyntax(node);
      },
      () => undefined, // without this code, the text has no colors
    );
    return () => {
      isCurrent = false;
      remove();
    };
  }, [text]);
  // A scrollable element must be reachable with the keyboard.
  return (
    <pre tabIndex={0} ref={element}>
      {text}
    </pre>
  );
}

const TableView = ({ table: { columns, rows }, label }: { table: Table; label: string }) => (
  <div class="fact-table">
    <table aria-label={label}>
      <thead>
        <tr>
          {columns.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, cells }) => (
          <tr key={key}>
            {cells.map((cell, i) => (
              <CellView key={columns[i]} cell={cell} isHeader={i === 0} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

function CellView({ cell, isHeader }: { cell: Piece | null; isHeader: boolean }) {
  const ref = useHighlight<HTMLTableCellElement>(cell?.text ?? "");
  const content = cell === null ? <span data-level="quiet">–</span> : <PieceView piece={cell} />;
  return isHeader ? (
    <th scope="row" ref={ref}>
      {content}
    </th>
  ) : (
    <td ref={ref}>{content}</td>
  );
}

function BarView({ actual, desired, level }: Bar) {
  const share = Math.max(0, Math.min(1, actual / desired));
  return (
    <span
      class="share"
      aria-hidden="true"
      style={{ "--share": `${share * 100}%` }}
      data-level={level ?? (actual === desired ? "good" : "warn")}
    />
  );
}
