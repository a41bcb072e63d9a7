// Draws a chart with uPlot. The view loads this file when the chart is visible, because uPlot is large.

import uPlot from "uplot";
import type { ChartData, ChartSeries } from "./chart-data.ts";

const maxTick = 1e7;
// Counts are integers, so the axis has ticks only at integers.
const ticks = Array.from({ length: Math.log10(maxTick) }, (_, n) => [1, 2, 5].map((m) => m * 10 ** n)).flat();
const minLabeledGap = 70; // pixels; a narrower gap (time without data) has no label
const minTop = 4; // the vertical axis extends at least to this value, so that a single restart does not fill the chart

export class Plot {
  private readonly plot: uPlot;
  private readonly resize: ResizeObserver;
  private readonly themeAttributes: MutationObserver;
  private readonly themeQuery = matchMedia("(prefers-color-scheme: dark)");
  private index: number | null = null;

  /**
   * Style sheets define the colors. Text and lines get the colors of the root element. Each series gets the color of
   * its element in `colors`. onPoint is called with the index of the point under the pointer.
   */
  constructor(
    private readonly root: HTMLElement,
    private data: ChartData,
    colors: readonly Element[],
    onPoint: (index: number | null) => void,
  ) {
    const color = (): string => getComputedStyle(root).color;
    const line = (): string => getComputedStyle(root).borderTopColor;
    const font = `11px ${getComputedStyle(root).fontFamily}`;
    const axis = { stroke: color, font, ticks: { stroke: line, size: 4, width: 1 } };
    this.plot = new uPlot(
      {
        width: root.clientWidth,
        height: root.clientHeight,
        legend: { show: false },
        padding: [6, 26, 0, 0],
        cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
        scales: {
          x: { range: () => [this.data.min, this.data.max] },
          y: { range: (_, _low, high) => [0, Math.max(minTop, high * 1.08)] },
        },
        axes: [
          {
            ...axis,
            size: 24,
            space: 64,
            gap: 2,
            grid: { show: false },
            values: (_u, splits, _axis, _space, step) => splits.map((s) => clock(s, step < 60)),
          },
          { ...axis, size: 34, space: 22, gap: 2, incrs: ticks, grid: { stroke: line, width: 1 } },
        ],
        series: [{}, ...data.series.map((s, n) => seriesOptions(s, () => getComputedStyle(colors[n] ?? root).color))],
        hooks: {
          drawClear: [(u) => this.drawGaps(u)],
          draw: [(u) => this.drawMarkers(u)],
          setCursor: [
            (u) => {
              this.index = u.cursor.idx ?? null;
              onPoint(this.index);
            },
          ],
        },
      },
      aligned(data),
      root,
    );
    this.resize = new ResizeObserver(() => this.plot.setSize({ width: root.clientWidth, height: root.clientHeight }));
    this.resize.observe(root);
    this.themeAttributes = new MutationObserver(this.redraw);
    this.themeAttributes.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    this.themeQuery.addEventListener("change", this.redraw);
  }

  update(data: ChartData): void {
    this.data = data;
    this.plot.setData(aligned(data));
  }

  /** Moves the vertical marker line by a number of points. If no line is visible, shows it at the newest point. */
  step(by: number): void {
    const last = this.data.times.length - 1;
    const index = Math.max(0, Math.min(last, this.index === null ? last : this.index + by));
    const x = this.data.times[index];
    if (x !== undefined) this.plot.setCursor({ left: this.plot.valToPos(x, "x"), top: 0 });
  }

  hideCursor(): void {
    this.plot.setCursor({ left: -10, top: -10 });
  }

  close(): void {
    this.resize.disconnect();
    this.themeAttributes.disconnect();
    this.themeQuery.removeEventListener("change", this.redraw);
    this.plot.destroy();
  }

  private readonly redraw = (): void => this.plot.redraw(false, false);

  // Draws times without data in gray, because missing data does not mean zero.
  private drawGaps(u: uPlot): void {
    const { ctx, bbox } = u;
    const style = getComputedStyle(this.root);
    ctx.save();
    ctx.font = `${11 * devicePixelRatio}px ${style.fontFamily}`;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    for (const [from, to] of this.data.gaps) {
      const left = u.valToPos(Math.max(from, this.data.min), "x", true);
      const width = u.valToPos(Math.min(to, this.data.max), "x", true) - left;
      ctx.fillStyle = style.columnRuleColor;
      ctx.fillRect(left, bbox.top, width, bbox.height);
      if (width < minLabeledGap * devicePixelRatio) continue;
      ctx.fillStyle = style.color;
      ctx.fillText("No data", left + width / 2, bbox.top + bbox.height / 4);
    }
    ctx.restore();
  }

  private drawMarkers(u: uPlot): void {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.strokeStyle = getComputedStyle(this.root).color;
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
    for (const { at } of this.data.markers) {
      const x = Math.round(u.valToPos(at, "x", true));
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }
}

const { bars, stepped } = uPlot.paths;

function seriesOptions({ shape, dash }: ChartSeries, color: () => string): uPlot.Series {
  if (shape === "bars" && bars !== undefined)
    return { fill: color, width: 0, paths: bars({ size: [0.8, 40] }), points: { show: false } };
  return {
    stroke: color,
    width: 2,
    points: { show: false },
    spanGaps: false,
    ...(dash === undefined ? {} : { dash: [...dash] }),
    ...(stepped === undefined ? {} : { paths: stepped({ align: 1 }) }),
  };
}

const aligned = ({ times, values }: ChartData): uPlot.AlignedData => [[...times], ...values.map((v) => [...v])];

function clock(seconds: number, withSeconds: boolean): string {
  const at = new Date(seconds * 1000);
  const parts = [at.getHours(), at.getMinutes(), ...(withSeconds ? [at.getSeconds()] : [])];
  return parts.map((n) => String(n).padStart(2, "0")).join(":");
}
