import { useHighlight } from "../../ui/view.tsx";
import { sizeOf } from "../facts/quantity.ts";
import { bytes } from "../../text/quantity.ts";
import type { Pair } from "../facts/meta.ts";
import { plural, type Kind } from "../../net/kinds.ts";
import { formatView, defaultView } from "../../model/view.ts";
import { Heading } from "./fact-view.tsx";

const maxInlineLength = 140; // characters; a longer annotation is collapsed

export const Labels = ({ labels, kind }: { labels: readonly Pair[]; kind: Kind }) => (
  <section class="part" hidden={labels.length === 0}>
    <Heading>Labels</Heading>
    <ul class="labels">
      {labels.map(({ key, value }) => (
        <Label key={key} name={key} value={value} kind={kind} />
      ))}
    </ul>
  </section>
);

function Label({ name, value, kind }: { name: string; value: string; kind: Kind }) {
  const selector = `${name}=${value}`;
  const href = formatView({ ...defaultView(kind.ref), labels: selector });
  return (
    <li ref={useHighlight<HTMLLIElement>(value)}>
      <a href={href} data-address="" title={`Show all ${plural(kind)} with the label ${selector}`}>
        <span>{`${name}=`}</span>
        <b>{value}</b>
      </a>
    </li>
  );
}

export const Annotations = ({ annotations }: { annotations: readonly Pair[] }) => (
  <section class="part" hidden={annotations.length === 0}>
    <Heading>Annotations</Heading>
    <dl class="pairs annotations">
      {annotations.map(({ key, value }) => (
        <Annotation key={key} name={key} value={value} />
      ))}
    </dl>
  </section>
);

// A long value is collapsed. If the user has expanded a value, it stays expanded when it changes.
function Annotation({ name, value }: { name: string; value: string }) {
  const isShort = value.length <= maxInlineLength && !value.includes("\n");
  return (
    <div>
      <dt>{name}</dt>
      <dd ref={useHighlight<HTMLElement>(value)}>
        {isShort ? (
          value
        ) : (
          <details>
            <summary>
              <span class="cut">{value.slice(0, 80).replace(/\s+/g, " ")}</span>
              <span class="size">{bytes(sizeOf(value))}</span>
            </summary>
            <pre>{value}</pre>
          </details>
        )}
      </dd>
    </div>
  );
}
