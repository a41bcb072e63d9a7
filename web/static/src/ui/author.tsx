// Shows the time and the author of a change.

import { clockTime, formatAges } from "../text/age.ts";
import type { ChangeAuthor } from "../net/wire.ts";
import { Age, useNow } from "./view.tsx";

/** Shows the age of a change. Its tooltip shows the exact time. */
export function ChangeTime({ at }: { at: string }) {
  const now = useNow();
  return <time datetime={at} title={clockTime(at, now())}><Age wire={at} format={formatAges} /></time>;
}

/** Shows the author of a change: the field manager, the operation and the subresource. */
export function Author({ author: { manager, operation, subresource } }: { author: ChangeAuthor }) {
  const operationText = [operation, subresource].filter((w) => w !== "").join(" ");
  return (
    <span class="by">
      {manager === "" ? "unnamed" : manager}
      {operationText !== "" && <>{" "}<span class="how">{operationText}</span></>}
    </span>
  );
}
