import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { type Checkpoint, checkpointSchema } from '../../../agents/records/schemas.ts';
import { AppError } from '../../../core/errors.ts';
import { ifThere } from '../../../core/files/ifThere.ts';
import { parseLines } from '../protocol/jsonLines.ts';
import { readRunEvent } from '../protocol/runEventSchema.ts';
import type { RunEvent } from '../protocol/runEvent.ts';
import type { RunFolder } from './runFolder.ts';

const checkpointLine = z.object({ run: z.number(), checkpoint: checkpointSchema });

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

/** The text of a file; empty if the file does not exist. */
export async function readIfThere(path: string): Promise<string> {
  return ifThere(readFile(path, 'utf8'), '');
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
