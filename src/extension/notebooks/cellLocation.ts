import * as vscode from 'vscode';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { EventSpool } from '../../jobs/log/spool.ts';
import { sourceHashOf, submittedCells } from '../../jobs/notebooks/liveCells.ts';
import { type CellIdentity, matchCells } from '../../workspace/notebooks/matchCells.ts';

/** A line of a cell of the notebook that a job ran, where it is by now. */
export interface CellPosition {
  readonly record: Pick<JobRecord, 'id'>;
  /** Absolute path of the notebook. */
  readonly file: string;
  /** As the job counts them, 1-based. */
  readonly cell: number;
  /** 1-based. */
  readonly line: number;
}

/** Where the cell is in the notebook, which is opened for that; undefined if it was removed. */
export async function locateCell(
  home: string,
  { record, file, cell, line }: CellPosition,
  signal: AbortSignal,
): Promise<vscode.Location | undefined> {
  const document = await vscode.workspace.openNotebookDocument(vscode.Uri.file(file));
  const submitted = await submittedCells(new EventSpool(home, record.id).read({ signal }));
  const cells = document.getCells();
  const found = cells[matchCells(submitted, cells.map(identityOf))[cell - 1] ?? -1];
  return found && new vscode.Location(found.document.uri, new vscode.Position(line - 1, 0));
}

/** A cell of an open notebook, as a job identifies it. */
export function identityOf(cell: vscode.NotebookCell): CellIdentity {
  const id: unknown = cell.metadata['id'];
  const isCode = cell.kind === vscode.NotebookCellKind.Code;
  const source = sourceHashOf(cell.document.getText());
  return { isCode, source, ...(typeof id === 'string' && { id }) };
}
