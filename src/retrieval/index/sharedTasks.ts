import { parseOwnJson } from '../../core/jsonFields.ts';
import type { BuildTask } from './buildSegment.ts';

/** Slices of the files to build, in shared memory: each thread takes the next slice when it has finished one. */
export interface SharedTasks {
  /** The slices as JSON, concatenated. */
  readonly text: Uint8Array<SharedArrayBuffer>;
  /** The end of each slice. */
  readonly ends: Uint32Array<SharedArrayBuffer>;
  /** A single number: how many slices were taken. */
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

/** The number of slices that no thread has taken. */
export function slicesLeft({ ends, taken }: SharedTasks): number {
  return Math.max(0, ends.length - Atomics.load(taken, 0));
}

/**
 * Takes about `most` slices, adds their numbers to `mine`, and returns their files. If what remains is too little for a segment of its
 * own, it is included.
 */
export function* takeSlices(shared: SharedTasks, most: number, mine: number[]): Generator<BuildTask, void> {
  const { text, ends, taken } = shared;
  while (mine.length < most || slicesLeft(shared) < most / 2) {
    const slice = Atomics.add(taken, 0, 1);
    if (slice >= ends.length) return;
    mine.push(slice);
    const json = Buffer.from(text.subarray(slice === 0 ? 0 : ends[slice - 1], ends[slice])).toString();
    yield* parseOwnJson<BuildTask[]>(json);
  }
}
