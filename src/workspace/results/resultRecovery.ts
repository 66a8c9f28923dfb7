import { existsSync, lstatSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { readSteps } from './resultSteps.ts';
import { ResultPlace, type Undone, undoSteps } from './resultUndo.ts';
import { discardStaged } from '../extract/stagingFolder.ts';

/**
 * Takes back what a process that was stopped had written of some results, and removes its staging folder. Can be stopped itself at any
 * instant, and called again.
 *
 * @param staging as `StagedArchive` has it. Nothing happens where it is gone, which is how a person ends what cannot be taken back.
 * @param journal as `applyResults` was given it. Gone afterwards, unless something failed.
 * @returns undefined where nothing of the results was written.
 * @throws AppError `corrupt` when the journal cannot be read, and the system's error when the folder is not there.
 */
export async function recoverResults(staging: string, journal: string): Promise<Undone | undefined> {
  const base = dirname(staging);
  lstatSync(dirname(base));
  let undone: Undone | undefined;
  if (existsSync(journal) && existsSync(staging)) {
    const { steps, label } = readSteps(journal);
    const place = new ResultPlace(dirname(base), basename(base));
    try {
      undone = undoSteps(steps, place, label);
    } finally {
      place.dispose();
    }
  }
  if (undone?.failed.length) return undone;
  rmSync(journal, { force: true });
  await discardStaged({ staging });
  return undone;
}
