import type { BuildTask } from './buildSegment.ts';

/** Slices of the files to be built, in memory that all threads see: each takes the next slice when it is done with another. */
export interface SharedTasks {
  /** The slices as JSON, one behind the other. */
  readonly text: Uint8Array<SharedArrayBuffer>;
  /** Where each slice ends. */
  readonly ends: Uint32Array<SharedArrayBuffer>;
  /** One number: how many were taken. */
  readonly taken: Int32Array<SharedArrayBuffer>;
}

export function shareTasks(slices: readonly (readonly BuildTask[])[]): SharedTasks {
  const texts = slices.map((tasks) =>
    Buffer.from(JSON.stringify(tasks.map(({ path, knownHash }) => ({ path, knownHash })))),
  );
  const text = new Uint8Array(new SharedArrayBuffer(texts.reduce((sum, { length }) => sum + length, 0)));
  const ends = new Uint32Array(new SharedArrayBuffer(Uint32Array.BYTES_PER_ELEMENT * slices.length));
  let end = 0;
  for (const [slice, bytes] of texts.entries()) {
    text.set(bytes, end);
    end += bytes.length;
    ends[slice] = end;
  }
  return { text, ends, taken: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) };
}

/** Slices that no thread has taken. */
export function slicesLeft({ ends, taken }: SharedTasks): number {
  return Math.max(0, ends.length - Atomics.load(taken, 0));
}

/**
 * Takes slices, adds their numbers to `mine`, and gives their files: about `most` slices, and what is left behind them where that is
 * too little for a segment of its own.
 */
export function* takeSlices(shared: SharedTasks, most: number, mine: number[]): Generator<BuildTask, void> {
  const { text, ends, taken } = shared;
  while (mine.length < most || slicesLeft(shared) < most / 2) {
    const slice = Atomics.add(taken, 0, 1);
    if (slice >= ends.length) return;
    mine.push(slice);
    const json = Buffer.from(text.subarray(slice === 0 ? 0 : ends[slice - 1], ends[slice])).toString();
    yield* JSON.parse(json) as BuildTask[];
  }
}
