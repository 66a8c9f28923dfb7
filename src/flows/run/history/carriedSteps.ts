import { appendFile } from 'node:fs/promises';
import { stepEntrySchema } from '../../../agents/records/recordSchemas.ts';
import { parseLines } from '../protocol/jsonLines.ts';
import { readEvents, readIfThere } from './runFiles.ts';
import type { RunFolder } from './runFolder.ts';

/**
 * Writes the calls of tools of a run into the recording of one that continues it, so that none runs twice.
 *
 * @param isWhole whether those of visits that had ended count too: the run continues from its last checkpoint, which may be before them. A run
 * that starts again at a chosen step repeats what had ended.
 */
export async function carrySteps(
  from: RunFolder,
  to: RunFolder,
  { isWhole }: { readonly isWhole: boolean },
): Promise<void> {
  const entries = parseLines(await readIfThere(from.recording), (value) => stepEntrySchema.safeParse(value).data);
  if (entries.length === 0) return;
  const ended = new Set<string>();
  for (const event of isWhole ? [] : await readEvents(from)) {
    if (event.type === 'node-end') ended.add(`${event.path} ${event.visit}`);
  }
  const carried = entries.filter(({ path, visit }) => !ended.has(`${path} ${visit}`));
  await appendFile(to.recording, carried.map((entry) => `${JSON.stringify(entry)}\n`).join(''), { mode: 0o600 });
}
