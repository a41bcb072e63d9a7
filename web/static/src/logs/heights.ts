// Converts between log lines and vertical positions, from the heights of all lines, in pixels. Lines have the same
// numbers as in LogBuffer.

export class Heights {
  private list: number[] = [];
  private sums: number[] = [0]; // sums[i] is the height of all lines before line i
  private dirty = false;
  first = 0;

  get end(): number {
    return this.first + this.list.length;
  }

  get total(): number {
    this.sum();
    return this.sums[this.list.length] as number;
  }

  push(height: number): void {
    this.list.push(height);
    this.dirty = true;
  }

  /** Drops the lines before the one with the number first. Returns the total height of the dropped lines. */
  drop(first: number): number {
    const n = Math.min(first - this.first, this.list.length);
    if (n <= 0) return 0;
    let gone = 0;
    for (const height of this.list.splice(0, n)) gone += height;
    this.first = first;
    this.dirty = true;
    return gone;
  }

  /** Sets the measured height of a line. Returns the difference from the previous height. */
  set(number: number, height: number): number {
    const i = number - this.first;
    const before = this.list[i];
    if (before === undefined || before === height) return 0;
    this.list[i] = height;
    this.dirty = true;
    return height - before;
  }

  /** Returns the height of all lines above a line. */
  above(number: number): number {
    this.sum();
    return this.sums[Math.max(0, Math.min(number - this.first, this.list.length))] as number;
  }

  /** Returns the number of the line at the position y; the last line if y is beyond the end. */
  at(y: number): number {
    this.sum();
    let low = 0;
    let high = this.list.length - 1;
    while (low < high) {
      const mid = (low + high) >> 1;
      if ((this.sums[mid + 1] as number) > y) high = mid;
      else low = mid + 1;
    }
    return this.first + Math.max(0, low);
  }

  clear(): void {
    this.list = [];
    this.first = 0;
    this.dirty = true;
  }

  // Computes sums again after a change. The 20,000 additions for a full log take less than a tenth of a millisecond.
  private sum(): void {
    if (!this.dirty) return;
    this.dirty = false;
    this.sums.length = this.list.length + 1;
    this.sums[0] = 0;
    for (let i = 0; i < this.list.length; i++) this.sums[i + 1] = (this.sums[i] as number) + (this.list[i] as number);
  }
}
