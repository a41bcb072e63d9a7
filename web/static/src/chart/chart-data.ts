// The content of a chart. plot.ts draws it.

import { formatInteger } from "../text/format.ts";

export interface ChartSeries {
  readonly label: string;
  readonly shape: "bars" | "steps";
  /** The name of the series in the style sheet, which sets its color. */
  readonly color: "restarts" | "warnings" | "desired" | "ready" | "updated";
  /** The lengths of the line's dashes and spaces in pixels. Dashes distinguish series for users who see no colors. */
  readonly dash?: readonly number[];
}

export interface ChartMarker {
  readonly at: number;
  readonly text: string;
}

/** All times are in seconds since 1970. */
export interface ChartData {
  readonly series: readonly ChartSeries[];
  readonly times: readonly number[];
  /** The values of each series, at the same indexes as `times`. null means that no data exist. */
  readonly values: readonly (readonly (number | null)[])[];
  readonly min: number;
  readonly max: number;
  /** Times without data, as pairs of start and end in seconds since 1970. */
  readonly gaps: readonly (readonly [number, number])[];
  readonly markers: readonly ChartMarker[];
  /** A text for each time, such as "14:03:20". It is shown with the values under the pointer, and in the table. */
  readonly timeLabels: readonly string[];
}

export const valueText = (value: number | null | undefined): string =>
  value === null || value === undefined ? "no data" : formatInteger(value);

/** Returns the values of one point, such as "14:03:20: 2 restarts". */
export function pointText({ series, values, timeLabels }: ChartData, index: number): string {
  const parts = series.map((s, n) => `${s.label.toLowerCase()} ${valueText(values[n]?.[index])}`);
  return `${timeLabels[index] ?? ""}: ${parts.join(", ")}`;
}
