// The part of the run that is shown, in nanoseconds since its start.

/** Nothing is shown larger than this. */
const SHORTEST = 100;

export class TimeWindow {
  from = 0;
  to: number;
  /** The end of the run. */
  readonly end: number;

  constructor(end: number) {
    this.end = Math.max(end, SHORTEST);
    this.to = this.end;
  }

  get length(): number {
    return this.to - this.from;
  }

  get isAll(): boolean {
    return this.from <= 0 && this.to >= this.end;
  }

  /** Shows a part, as far as the run goes; what is no number is passed over. */
  show(from: number, to: number): void {
    if (!Number.isFinite(from) || !Number.isFinite(to)) {
      return;
    }
    const [first, last] = from <= to ? [from, to] : [to, from];
    const length = Math.min(Math.max(last - first, SHORTEST), this.end);
    const middle = (first + last) / 2;
    this.from = Math.min(Math.max(middle - length / 2, 0), this.end - length);
    this.to = this.from + length;
  }

  showAll(): void {
    this.show(0, this.end);
  }

  /** Makes the window longer or shorter; the moment `at` stays where it is. */
  zoom(factor: number, at: number): void {
    const length = Math.min(Math.max(this.length * factor, SHORTEST), this.end);
    const place = this.length > 0 ? (at - this.from) / this.length : 0;
    const from = at - place * length;
    this.show(from, from + length);
  }

  /** Moves by a time. */
  pan(by: number): void {
    this.show(this.from + by, this.to + by);
  }
}
