import { Age, useHighlight } from "../../ui/view.tsx";
import type { Condition } from "../facts/conditions.ts";
import { Heading } from "./fact-view.tsx";

const columns = ["Type", "Status", "Reason", "Age"];

export const Conditions = ({ conditions }: { conditions: readonly Condition[] }) => (
  <section class="part conditions" hidden={conditions.length === 0}>
    <Heading id="conditions">Conditions</Heading>
    <table aria-labelledby="conditions">
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
        {conditions.map((condition) => (
          <Row key={condition.key} condition={condition} />
        ))}
      </tbody>
    </table>
  </section>
);

function Row({ condition: { type, status, level, meaning, reason, message, since } }: { condition: Condition }) {
  return (
    <tr ref={useHighlight<HTMLTableRowElement>([status, reason, message, since].join("\n"))}>
      <th scope="row">{type}</th>
      <td data-level={level} title={meaning}>
        {status}
      </td>
      <td>
        <span class="reason">{reason}</span>
        <span class="message">{message}</span>
      </td>
      <td title={since === "" ? undefined : `since ${since}`}>
        <Age wire={since} />
      </td>
    </tr>
  );
}
