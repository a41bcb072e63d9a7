// Converts between log lines and vertical positions in pixels.

export class Heights {
  private lineHeights: number[] = [];
  private sums: number[] = [0]; // sums[i] is the total height of the lines before index i
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

  /** Reports whether a line has no height, because a filter hides it. */
  isHidden(number: number): boolean {
    return this.lineHeights[number - this.first] === 0;
  }

  /** Returns the number of lines that are not hidden, starting at the line with this number. */
  countShown(from: number): number {
    let n = 0;
    for (let i = Math.max(0, from - this.first); i < this.lineHeights.length; i++) if (this.lineHeights[i] !== 0) n++;
    return n;
  }

  /** Removes the lines before the line with this number. Returns the total height of the removed lines. */
  dropBefore(first: number): number {
    const n = Math.min(first - this.first, this.lineHeights.length);
    if (n <= 0) return 0;
    let droppedHeight = 0;
    for (const height of this.lineHeights.splice(0, n)) droppedHeight += height;
    this.first = first;
    this.isDirty = true;
    return droppedHeight;
  }

  /** Removes the line with this number, and all following lines. */
  truncate(number: number): void {
    this.lineHeights.length = Math.max(0, Math.min(this.lineHeights.length, number - this.first));
    this.isDirty = true;
  }

  /** Sets the measured height of a line. Returns the difference to its previous height. */
  set(number: number, height: number): number {
    const i = number - this.first;
    const before = this.lineHeights[i];
    if (before === undefined || before === height) return 0;
    this.lineHeights[i] = height;
    this.isDirty = true;
    return height - before;
  }

  heightAbove(number: number): number {
    this.sum();
    return this.sums[Math.max(0, Math.min(number - this.first, this.lineHeights.length))] as number;
  }

  /** Returns the number of the line at the vertical position y. If y is below the log, returns the last line. */
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

  // Computes `sums`. For a full log of 20,000 lines, this takes less than 0.1 ms.
  private sum(): void {
    if (!this.isDirty) return;
    this.isDirty = false;
    this.sums.length = this.lineHeights.length + 1;
    this.sums[0] = 0;
    for (let i = 0; i < this.lineHeights.length; i++)
      this.sums[i + 1] = (this.sums[i] as number) + (this.lineHeights[i] as number);
  }
}
