import { existsSync, lstatSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { readResultSteps } from './resultSteps.ts';
import { ResultPlace, type Undone, undoSteps } from './resultUndo.ts';
import { discardStaged } from '../extract/stagingFolder.ts';

/**
 * Undoes the changes of a process that stopped while it wrote results, and removes its staging folder. It can be interrupted at any
 * moment and called again.
 *
 * @param staging from `StagedArchive`. If it is missing, nothing is undone; users can delete it to give up on an undo that fails.
 * @param journal as passed to `applyResults`. It is removed, unless something failed.
 * @returns undefined if no results were written.
 * @throws AppError `corrupt` if the journal cannot be read, and the system's error if the folder does not exist.
 */
export async function recoverResults(staging: string, journal: string): Promise<Undone | undefined> {
  const base = dirname(staging);
  lstatSync(dirname(base));
  let undone: Undone | undefined;
  if (existsSync(journal) && existsSync(staging)) {
    const { steps, label } = readResultSteps(journal);
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
