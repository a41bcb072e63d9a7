// A chart with its text alternative: a sentence, the values under the pointer, and a table for screen readers.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { TargetedKeyboardEvent } from "preact";
import { memo } from "../ui/view.tsx";
import { pointText, valueText, type ChartData } from "./chart-data.ts";
import type { Plot } from "./plot.ts";

interface Props {
  readonly title: string;
  /** The data of the chart. null if no data exist. */
  readonly data: ChartData | null;
  /** A sentence with the current numbers, or with the reason why there are none. */
  readonly sentence: string;
  readonly heading?: ComponentChildren;
}

const keySteps: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  Home: Number.MIN_SAFE_INTEGER,
  End: Number.MAX_SAFE_INTEGER,
};

export function ChartFigure({ title, data, sentence, heading }: Props) {
  return (
    <figure class="chart">
      <figcaption>
        {heading ?? <strong>{title}</strong>} <span class="chart-sentence">{sentence}</span>
      </figcaption>
      {data === null ? (
        <>
          <div class="plot" />
          <div class="chart-foot" />
        </>
      ) : (
        <>
          <PlotView title={title} data={data} />
          <ChartTable title={title} data={data} />
        </>
      )}
    </figure>
  );
}

function PlotView({ title, data }: { title: string; data: ChartData }) {
  const root = useRef<HTMLDivElement>(null);
  const legend = useRef<HTMLUListElement>(null);
  const plot = useRef<Plot | null>(null);
  const latest = useRef(data);
  const [index, setIndex] = useState<number | null>(null);
  const [failed, setFailed] = useState(false);
  latest.current = data;
  useLayoutEffect(() => {
    const element = root.current;
    if (element === null) return;
    let isClosed = false;
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some((e) => e.isIntersecting)) return;
      observer.disconnect();
      void import("./plot.ts").then(
        ({ Plot }) => {
          const colors = [...(legend.current?.querySelectorAll(".swatch") ?? [])];
          if (!isClosed) plot.current = new Plot(element, latest.current, colors, setIndex);
        },
        () => setFailed(true),
      );
    });
    observer.observe(element);
    return () => {
      isClosed = true;
      observer.disconnect();
      plot.current?.close();
      plot.current = null;
    };
  }, []);
  useLayoutEffect(() => plot.current?.update(data), [data]);
  const handleKey = (e: TargetedKeyboardEvent<HTMLElement>): void => {
    const by = keySteps[e.key];
    if (by === undefined || plot.current === null) return;
    e.preventDefault();
    e.stopPropagation();
    plot.current.step(by);
  };
  return (
    <>
      <div
        class="plot"
        ref={root}
        role="group"
        tabIndex={0}
        aria-label={`Chart: ${title}. Use the left and right arrow keys to read the values.`}
        onKeyDown={handleKey}
        onBlur={() => plot.current?.hideCursor()}
      />
      <div class="chart-foot">
        <ul class="chart-legend" ref={legend}>
          {data.series.map(({ label, color, shape }, n) => (
            <li key={label}>
              <span class="swatch" data-series={color} data-shape={shape} aria-hidden="true" />
              {label}
              {data.series.length > 1 && ` ${valueText(data.values[n]?.at(-1))}`}
            </li>
          ))}
          {data.markers.length > 0 && (
            <li>
              <span class="swatch" data-series="spec" aria-hidden="true" />
              Spec changed
            </li>
          )}
        </ul>
        <output>
          {failed
            ? "The chart could not be loaded. Reload the page to try again."
            : index !== null && pointText(data, index)}
        </output>
      </div>
    </>
  );
}

const ChartTable = memo(({ title, data }: { title: string; data: ChartData }) => (
  <div class="chart-table">
    <table>
      <caption>{title}</caption>
      <thead>
        <tr>
          <th scope="col">Time</th>
          {data.series.map(({ label }) => (
            <th key={label} scope="col">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {data.timeLabels.map((time, at) => (
          <tr key={`${time} ${at}`}>
            <th scope="row">{time}</th>
            {data.values.map((values) => (
              <td>{valueText(values[at])}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
    {data.markers.length > 0 && (
      <ul>
        {data.markers.map(({ text }) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    )}
  </div>
));
