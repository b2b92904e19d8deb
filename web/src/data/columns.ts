// Columns of whole numbers as marey-report writes them: of each number the lowest byte first, all lowest bytes together.

export class Columns {
  readonly #bytes: Uint8Array;
  readonly #widths: readonly number[];
  #at = 0;
  #column = 0;

  /** `widths`: bytes a number, of each column. */
  constructor(bytes: Uint8Array, widths: readonly number[]) {
    this.#bytes = bytes;
    this.#widths = widths;
  }

  /** The next column, of `n` numbers; exact up to 2^53. */
  numbers(n: number): Float64Array {
    return this.#read(new Float64Array(n));
  }

  /** The next column, whose numbers have at most 32 bits. */
  words(n: number): Uint32Array {
    return this.#read(new Uint32Array(n));
  }

  /** The next column, whose numbers have at most 8 bits. */
  bytes(n: number): Uint8Array {
    return this.#read(new Uint8Array(n));
  }

  /** The next column, whose numbers are bits of floats. */
  floats(n: number): Float32Array {
    return new Float32Array(this.words(n).buffer);
  }

  /**
   * The next two columns, of what has a start and an end in as many rows as there are `counts`: starts as the distance from the one before
   * in its row, then lengths, in units.
   */
  spans(counts: readonly number[], unit: number): { start: Float64Array; end: Float64Array }[] {
    const n = counts.reduce((sum, count) => sum + count, 0);
    const [starts, ends] = [this.numbers(n), this.numbers(n)];
    let first = 0;
    return counts.map((count) => {
      const [start, end] = [starts, ends].map((all) => all.subarray(first, first + count)) as [Float64Array, Float64Array];
      first += count;
      let at = 0;
      for (let i = 0; i < count; i++) {
        at += start[i]!;
        start[i] = at * unit;
        end[i] = (at + end[i]!) * unit;
      }
      return { start, end };
    });
  }

  #read<A extends Float64Array | Uint32Array | Uint8Array>(numbers: A): A {
    const n = numbers.length;
    const width = this.#widths[this.#column++] ?? 0;
    let worth = 1;
    for (let plane = 0; plane < width; plane++) {
      const bytes = this.#bytes.subarray(this.#at, this.#at + n);
      for (let i = 0; i < n; i++) {
        numbers[i]! += bytes[i]! * worth;
      }
      this.#at += n;
      worth *= 256;
    }
    return numbers;
  }
}

/** The first number from `low` up to before `high` from which on something holds; `high` where it never does. */
export function firstWhere(low: number, high: number, holds: (n: number) => boolean): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/** The index of the last of ascending points at or before `at`; -1 before the first. */
export function indexAt(points: ArrayLike<number>, at: number): number {
  return firstWhere(0, points.length, (n) => points[n]! > at) - 1;
}
