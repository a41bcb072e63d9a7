import type { DiffLayout } from "./diff-view.ts";
import { preferences } from "../ui/preferences.ts";

const storageKey = "glasshouse-diff";
const layouts = [
  ["inline", "Inline"],
  ["split", "Side by side"],
] as const;

export function storedLayout(fallback: DiffLayout): DiffLayout {
  const stored = preferences.get(storageKey);
  return stored === "split" || stored === "inline" ? stored : fallback;
}

export function LayoutSwitch({ current, onChange }: { current: DiffLayout; onChange: (layout: DiffLayout) => void }) {
  const choose = (layout: DiffLayout): void => {
    preferences.set(storageKey, layout);
    onChange(layout);
  };
  return (
    <div class="switch" role="group" aria-label="Diff layout">
      {layouts.map(([layout, label]) => (
        <button
          key={layout}
          type="button"
          data-layout={layout}
          aria-pressed={layout === current}
          onClick={() => choose(layout)}
        >
          {label}
        </button>
      ))}
    </div>
  );
}
