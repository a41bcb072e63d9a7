import { Author, ChangeTime } from "../../ui/author.tsx";
import { isByPeople } from "../../activity/timeline.ts";
import { lastAuthors, type PartAuthor } from "./authors.ts";
import { Heading } from "./fact-view.tsx";

const maxShown = 6;

/** Joins the names of parts (top-level fields). Shortens long lists: events have many parts instead of a spec. */
export const partsText = (parts: readonly string[]): string =>
  parts.length <= 3 ? parts.join(", ") : `${parts.slice(0, 2).join(", ")} and ${parts.length - 2} more`;

/** Shows who changed each part of the object last. */
export function LastChanges({ authors }: { authors: readonly PartAuthor[] }) {
  const shown = lastAuthors(authors).slice(0, maxShown);
  if (shown.length === 0) return null;
  return (
    <section class="part last-changes" aria-labelledby="last-changes">
      <Heading id="last-changes">Last changed by</Heading>
      <dl class="pairs">
        {shown.map((author) => (
          <div key={author.parts.join()}>
            <dt title={author.parts.join(", ")}>{partsText(author.parts)}</dt>
            <dd>
              <Author author={author} isPerson={isByPeople(author)} />{" "}
              <span>
                <ChangeTime at={author.time} /> ago
              </span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
