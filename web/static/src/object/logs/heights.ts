// Converts between log lines and vertical positions, from the heights of all lines, in pixels. Lines have the same
// numbers as in LogBuffer.

export class Heights {
  private lineHeights: number[] = [];
  private sums: number[] = [0]; // sums[i] is the height of all lines before line i
  private isDirty = false;
  first = 0;

  get end(): number {
    return this.first + this.lineHeights.length;
  }

  get total(): number {
    this.sum();
    return this.sums[this.lineHeights.length] as number;
  }

  push(height: number): void {
    this.lineHeights.push(height);
    this.isDirty = true;
  }

  /** Drops the lines before the one with the number first. Returns the total height of the dropped lines. */
  dropBefore(first: number): number {
    const n = Math.min(first - this.first, this.lineHeights.length);
    if (n <= 0) return 0;
    let droppedHeight = 0;
    for (const height of this.lineHeights.splice(0, n)) droppedHeight += height;
    this.first = first;
    this.isDirty = true;
    return droppedHeight;
  }

  /** Sets the measured height of a line. Returns the difference from the previous height. */
  set(number: number, height: number): number {
    const i = number - this.first;
    const before = this.lineHeights[i];
    if (before === undefined || before === height) return 0;
    this.lineHeights[i] = height;
    this.isDirty = true;
    return height - before;
  }

  /** Returns the height of all lines above a line. */
  heightAbove(number: number): number {
    this.sum();
    return this.sums[Math.max(0, Math.min(number - this.first, this.lineHeights.length))] as number;
  }

  /** Returns the number of the line at the position y; the last line if y is beyond the end. */
  lineAt(y: number): number {
    this.sum();
    let low = 0;
    let high = this.lineHeights.length - 1;
    while (low < high) {
      const mid = (low + high) >> 1;
      if ((this.sums[mid + 1] as number) > y) high = mid;
      else low = mid + 1;
    }
    return this.first + Math.max(0, low);
  }

  clear(): void {
    this.lineHeights = [];
    this.first = 0;
    this.isDirty = true;
  }

  // Computes sums again after a change. The 20,000 additions for a full log take less than a tenth of a millisecond.
  private sum(): void {
    if (!this.isDirty) return;
    this.isDirty = false;
    this.sums.length = this.lineHeights.length + 1;
    this.sums[0] = 0;
    for (let i = 0; i < this.lineHeights.length; i++)
      this.sums[i + 1] = (this.sums[i] as number) + (this.lineHeights[i] as number);
  }
}
