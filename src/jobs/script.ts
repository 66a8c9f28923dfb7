import type { Selection } from '../workspace/selection.ts';

/** The file that a script line names: `train.py` of `train.py --epochs 3`; quotes are understood. */
export function scriptPath(_script: string): string {
  throw new Error('not built yet');
}

/**
 * Makes sure that the script will be there, before any byte leaves.
 *
 * @throws AppError `missing` with close matches, or with the rule that left the file out.
 */
export function checkScript(_selection: Selection, _script: string): void {
  throw new Error('not built yet');
}
