import { logLevels, type LogFilter, type LogLevel } from "./log-filter.ts";

const labels: Record<LogLevel, string> = {
  error: "Errors",
  warning: "Warnings and errors",
  info: "All lines with a level",
};

interface LogFilterBoxProps {
  filter: LogFilter;
  focusText: () => void; // moves the keyboard focus to the log
}

/** The controls that hide lines by text and level. The choice of a level is shown only if the log contains levels. */
export function LogFilterBox({ filter, focusText }: LogFilterBoxProps) {
  const { text, level, hasLevels, countText } = filter;
  return (
    <span class="finder log-filter">
      <input
        type="search"
        placeholder="Filter lines"
        aria-label="Show only lines with this text"
        title="Show only lines with this text"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(e) => filter.set(e.currentTarget.value, level)}
        onKeyDown={(e) => {
          if (e.key !== "Escape" && e.key !== "Enter") return;
          if (e.key === "Escape") filter.set("", level);
          focusText();
          e.preventDefault();
        }}
      />
      {(hasLevels || level !== null) && (
        <select
          aria-label="Level"
          title={level === null ? "Level" : "Lines without a recognizable level are hidden"}
          value={level ?? ""}
          onChange={(e) => filter.set(text, logLevels.find((l) => l === e.currentTarget.value) ?? null)}
        >
          <option value="">All levels</option>
          {logLevels.map((l) => (
            <option key={l} value={l}>
              {labels[l]}
            </option>
          ))}
        </select>
      )}
      <span class="filtered">{countText}</span>
    </span>
  );
}
