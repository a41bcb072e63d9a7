// Hides the lines of a log that do not match a text or a level.

import { levelOf } from "./level.ts";
import type { Line } from "./lines.ts";

export type LogLevel = "error" | "warning" | "info";
/** The levels that a filter can select, worst first. Selecting a level also shows the lines of worse levels. */
export const logLevels: readonly LogLevel[] = ["error", "warning", "info"];

const maxPrefix = 400; // only this many characters at the start of a line are searched for a level
const infoWords = "info|information|notice|debug|trace|verbose";
const levelField = /(?:^|[\s{,"])(?:level|lvl|severity|log\.level)"?\s*[=:]\s*"?/i;
const infoField = new RegExp(`${levelField.source}(${infoWords})\\b`, "i");
const numberField = new RegExp(`${levelField.source}(\\d\\d)\\b`, "i"); // {"level":50}, as Pino writes
const infoWord = new RegExp(`(?:^|[^\\w])(?:${infoWords.toUpperCase()})(?![\\w])|\\[(?:${infoWords})\\]`);
const klogInfo = /^[ID]\d{4} \d\d:\d\d:\d\d/;

/** Returns the level of a line. Levels below info count as info. null if the line has no recognizable level. */
export function logLevelOf(text: string): LogLevel | null {
  const level = levelOf(text);
  if (level !== null) return level.severity === "bad" ? "error" : "warning";
  const part = text.length > maxPrefix ? text.slice(0, maxPrefix) : text;
  const number = Number(numberField.exec(part)?.[1] ?? 0);
  if (number > 0) return number >= 50 ? "error" : number >= 40 ? "warning" : "info";
  return klogInfo.test(part) || infoField.test(part) || (!levelField.test(part) && infoWord.test(part)) ? "info" : null;
}

export class LogFilter {
  text = "";
  /** The least severe level of the lines to show. null to show all lines. */
  level: LogLevel | null = null;
  /** Whether a line with a recognizable level has arrived. */
  hasLevels = false;
  /** The numbers of lines that the filter shows, and of all loaded lines. */
  shown = 0;
  loaded = 0;
  private words = "";

  /**
   * onChange is called after each change of the filter, and onInput only if the user made the change. onCount is called
   * after a change of `hasLevels`, `shown` or `loaded`.
   */
  constructor(
    private readonly onChange: () => void,
    private readonly onCount: () => void,
    private readonly onInput: (form: string) => void = () => undefined,
  ) {}

  /** The filter as text for the URL, such as "is:error timeout". */
  get form(): string {
    return [...(this.level === null ? [] : [`is:${this.level}`]), ...(this.text === "" ? [] : [this.text])].join(" ");
  }

  /** Sets the filter to its text form in the URL. See the property `form`. */
  restore(form: string): void {
    if (form === this.form) return;
    const level = logLevels.find((l) => form === `is:${l}` || form.startsWith(`is:${l} `)) ?? null;
    this.apply(level === null ? form : form.slice(`is:${level} `.length), level);
  }

  get isActive(): boolean {
    return this.words !== "" || this.level !== null;
  }

  /** Identifies the filter. Filters with equal keys show the same lines. */
  get key(): string {
    return this.isActive ? `${this.level ?? ""} ${this.words}` : "";
  }

  /** A text such as "12 of 500 lines". Empty without a filter. */
  get countText(): string {
    const format = (n: number): string => n.toLocaleString("en-US");
    return this.isActive
      ? `${format(this.shown)} of ${format(this.loaded)} ${this.loaded === 1 ? "line" : "lines"}`
      : "";
  }

  set(text: string, level: LogLevel | null): void {
    this.apply(text, level);
    this.onInput(this.form);
  }

  private apply(text: string, level: LogLevel | null): void {
    this.text = text;
    this.words = text.trim().toLowerCase();
    this.level = level;
    this.onChange();
  }

  /** Reports whether a line is shown. Notes of the page are always shown. */
  shows(line: Line): boolean {
    if (!this.isActive || line.note === true) return true;
    if (this.words !== "" && !line.text.toLowerCase().includes(this.words)) return false;
    if (this.level === null) return true;
    const level = logLevelOf(line.text);
    return level !== null && logLevels.indexOf(level) <= logLevels.indexOf(this.level);
  }

  /** Is called for each line that arrives. */
  arrived(line: Line): void {
    if (this.hasLevels || line.note === true || logLevelOf(line.text) === null) return;
    this.hasLevels = true;
    this.onCount();
  }

  count(shown: number, loaded: number): void {
    if (shown === this.shown && loaded === this.loaded) return;
    this.shown = shown;
    this.loaded = loaded;
    if (this.isActive) this.onCount();
  }
}
