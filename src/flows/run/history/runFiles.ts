import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { type Checkpoint, checkpointSchema } from '../../../agents/records/recordSchemas.ts';
import { AppError } from '../../../core/errors.ts';
import { ifThere } from '../../../core/files/ifThere.ts';
import { readBounded } from '../../../workspace/files/boundedRead.ts';
import { parseLines } from '../protocol/jsonLines.ts';
import { readRunEvent, type RunEvent } from '../protocol/runEvent.ts';
import { type RunFolder, runFolder } from './runFolder.ts';
import { type RunRecord, runRecord } from './runRecord.ts';

// Several times the records of the longest run, and below the maximum length of a string.
const MAX_BYTES = 256_000_000;

const checkpointLine = z.object({ run: z.number(), checkpoint: checkpointSchema });

/** What is known of a run; undefined if the folder has no record that can be read. */
export async function readRunRecord(folder: RunFolder): Promise<RunRecord | undefined> {
  try {
    return runRecord.parse(JSON.parse(await readIfThere(folder.record)));
  } catch {
    return undefined;
  }
}

/** The events of a run, from its trace; none if it never started. */
export async function readEvents(folder: RunFolder): Promise<readonly RunEvent[]> {
  return parseLines(await readIfThere(folder.trace), readRunEvent);
}

/** The checkpoints of a run, in order, each with the number of its run in the file. */
export async function readCheckpoints(
  folder: RunFolder,
): Promise<readonly { readonly run: number; readonly checkpoint: Checkpoint }[]> {
  const texts = await Promise.all([folder.olderCheckpoints, folder.checkpoints].map(readIfThere));
  return texts.flatMap((text) => parseLines(text, (value) => checkpointLine.safeParse(value).data));
}

/**
 * The text of a file; empty if the file does not exist. A run can be in a folder of others, so a pipe, a device, and a file that is larger
 * than what a run records count as missing.
 */
export async function readIfThere(path: string): Promise<string> {
  return String((await readBounded(path, MAX_BYTES)) ?? '');
}

/** The checkpoint of a run that waits. @throws AppError `corrupt` if it is missing or damaged. */
export async function readWaiting({ path, waiting }: RunFolder): Promise<Checkpoint> {
  try {
    return checkpointSchema.parse(JSON.parse(await readIfThere(waiting)));
  } catch (cause) {
    const message = `The checkpoint of the run in ${path} is missing or damaged, or the run does not wait. Run the flow again.`;
    throw new AppError('corrupt', message, { cause });
  }
}

/**
 * The run in a folder: the newest of a flow file below it, as in `farwharf-flow` of the results, or the folder itself.
 *
 * @param file the flow file, relative to the workspace.
 */
export async function findJobRun(path: string, file: string): Promise<RunFolder> {
  for (const parent of [join(path, file), path]) {
    const [newest] = (await runsIn(parent)).toSorted((one, other) => (one.startedAt < other.startedAt ? 1 : -1));
    if (newest !== undefined) return newest.folder;
  }
  return runFolder(path);
}

async function runsIn(parent: string): Promise<readonly { readonly folder: RunFolder; readonly startedAt: string }[]> {
  const entries = await ifThere(readdir(parent, { withFileTypes: true }), []);
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => runFolder(join(parent, name)));
  const records = await Promise.all(folders.map(readRunRecord));
  return folders.flatMap((folder, index) => {
    const startedAt = records[index]?.startedAt;
    return startedAt === undefined ? [] : [{ folder, startedAt }];
  });
}
