import { clockTime, formatAges } from "../text/age.ts";
import type { ChangeAuthor } from "../net/wire.ts";
import { Age, useNow } from "./view.tsx";

/** Shows the age of a change, with the exact time as the tooltip. */
export function ChangeTime({ at }: { at: string }) {
  const now = useNow();
  return (
    <time datetime={at} title={clockTime(at, now())}>
      <Age wire={at} format={formatAges} />
    </time>
  );
}

interface AuthorProps {
  author: ChangeAuthor;
  /** Whether the author is a person, not a controller of the cluster. A person is marked. */
  isPerson?: boolean;
}

export function Author({ author: { manager, operation, subresource }, isPerson = false }: AuthorProps) {
  const operationText = [operation, subresource].filter((w) => w !== "").join(" ");
  return (
    <span class="by" data-person={isPerson ? "" : undefined}>
      {manager === "" ? "unnamed" : manager}
      {operationText !== "" && (
        <>
          {" "}
          <span class="how">{operationText}</span>
        </>
      )}
    </span>
  );
}
