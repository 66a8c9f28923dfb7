import { join } from 'node:path';

/** The files of one run. All but `record` are JSON lines, and a last line that was cut is passed over. */
export interface RunFolder {
  readonly path: string;
  /** What was run and how it ended: a `RunRecord`. */
  readonly record: string;
  readonly trace: string;
  /** What each `exec` gave, as `Recording` reads it. */
  readonly recording: string;
  /** `checkpoints` holds the newer ones, `olderCheckpoints` those before them. */
  readonly checkpoints: string;
  readonly olderCheckpoints: string;
  /** The requests to language models with their answers. */
  readonly calls: string;
}

export function runFolder(path: string): RunFolder {
  return {
    path,
    record: join(path, 'run.json'),
    trace: join(path, 'trace.jsonl'),
    recording: join(path, 'recording.jsonl'),
    checkpoints: join(path, 'checkpoints.jsonl'),
    olderCheckpoints: join(path, 'checkpoints.older.jsonl'),
    calls: join(path, 'calls.jsonl'),
  };
}
