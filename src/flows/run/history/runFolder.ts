import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** The files of one run. Those that end in `.jsonl` are JSON lines, and a truncated last line is skipped. */
export interface RunFolder {
  readonly path: string;
  /** A `RunRecord`: what was run and how it ended. */
  readonly record: string;
  readonly trace: string;
  /** The result of each `exec`, as `Recording` reads it. */
  readonly recording: string;
  /** `checkpoints` contains the newer ones, `olderCheckpoints` those before them. */
  readonly checkpoints: string;
  readonly olderCheckpoints: string;
  /** The requests to language models with their replies. */
  readonly calls: string;
  /** The checkpoint of a run that waits for a person. */
  readonly waiting: string;
  /** Exists while it is being answered. */
  readonly answering: string;
  /** The id of the job that continued it. */
  readonly continuedBy: string;
}

/** The name of the folder with what is recorded of a flow file, which is unique and readable. */
export async function folderNameOf(file: string): Promise<string> {
  const real = await realpath(file).catch(() => file);
  const hash = createHash('sha256').update(real).digest('hex').slice(0, 16);
  return `${basename(real).replaceAll(/[^\w.-]/g, '_')}-${hash}`;
}

/** Among the folders of the runs of a file: how many older ones were removed, by `RunHistory`. */
export const REMOVED_RUNS = 'removed.json';

/** In place of the number of a run: the checkpoint that the run of the folder continued from. */
export const RESUMED = 0;

export function runFolder(path: string): RunFolder {
  return {
    path,
    record: join(path, 'run.json'),
    trace: join(path, 'trace.jsonl'),
    recording: join(path, 'recording.jsonl'),
    checkpoints: join(path, 'checkpoints.jsonl'),
    olderCheckpoints: join(path, 'checkpoints.older.jsonl'),
    calls: join(path, 'calls.jsonl'),
    waiting: join(path, 'waiting.json'),
    answering: join(path, 'answering'),
    continuedBy: join(path, 'continued-by'),
  };
}
