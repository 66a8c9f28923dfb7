import { AppError } from '../errors.ts';
import { fieldOf } from '../jsonFields.ts';

export interface NotebookCell {
  /** Whether it is code, rather than text. */
  readonly isCode: boolean;
  readonly source: string;
  readonly tags: readonly unknown[];
}

/** The tag of the cell that holds the parameters of a run, from papermill. */
export const PARAMETERS_TAG = 'injected-parameters';

// nbclient does not execute cells with this tag.
const SKIPPED_TAG = 'skip-execution';

/** The cells that a job counts, as in `cell 7 of 20`: those with code that it executes, without that of its parameters. */
export function countedCells(cells: readonly NotebookCell[]): readonly NotebookCell[] {
  const isCounted = (tag: unknown): boolean => tag !== PARAMETERS_TAG && tag !== SKIPPED_TAG;
  return cells.filter(({ isCode, source, tags }) => isCode && source.trim() !== '' && tags.every(isCounted));
}

/**
 * The cells of a Jupyter notebook (nbformat 4), without their outputs.
 *
 * @param path of the notebook, for the message.
 * @throws AppError `corrupt` if it is not a notebook.
 */
export function readNotebookCells(json: string, path: string): readonly NotebookCell[] {
  let notebook: unknown;
  try {
    notebook = JSON.parse(json);
  } catch (error) {
    throw new AppError('corrupt', `${path} is not a notebook: it is not valid JSON.`, { cause: error });
  }
  const cells: unknown =
    typeof notebook === 'object' && notebook !== null && 'cells' in notebook ? notebook.cells : undefined;
  if (!Array.isArray(cells)) throw new AppError('corrupt', `${path} is not a notebook: it has no list of cells.`);
  return cells.flatMap(readCell);
}

function readCell(cell: unknown): readonly NotebookCell[] {
  if (typeof cell !== 'object' || cell === null || !('source' in cell)) return [];
  const lines: readonly unknown[] = Array.isArray(cell.source) ? cell.source : [cell.source];
  const source = lines.filter((line) => typeof line === 'string').join('');
  const tags = fieldOf(fieldOf(cell, 'metadata'), 'tags');
  return [{ isCode: 'cell_type' in cell && cell.cell_type === 'code', source, tags: Array.isArray(tags) ? tags : [] }];
}
