import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import type { JobRecord } from '../../../jobs/ledger/record.ts';
import type { currentLine } from '../../../jobs/source/currentLine.ts';
import { SourceFiles } from '../../../jobs/source/sourceFiles.ts';
import type { SourceReference } from '../../../jobs/source/sourceReference.ts';
import { showInformation } from '../../ui/show.ts';

/** Finds a line that the output of a job names in the folder that was submitted, wherever it is in the file by now. */
export class SourceLines {
  readonly #home: string;
  readonly #currentLine: typeof currentLine;

  /** @param home FARWHARF_HOME. */
  constructor(home: string, sources: { readonly currentLine: typeof currentLine }) {
    this.#home = home;
    this.#currentLine = sources.currentLine;
  }

  /** The line as it is now, in an unsaved editor too. Unless `isQuiet`, a message says if the line no longer exists, or may be a different one. */
  async locate(
    record: JobRecord,
    { path, line, column = 1, cell }: SourceReference,
    signal: AbortSignal,
    { isQuiet = false }: { readonly isQuiet?: boolean } = {},
  ): Promise<vscode.Location | undefined> {
    const source = await new SourceFiles(record).find(path);
    if (source === undefined) return undefined;
    if (cell !== undefined) {
      const { locateCell } = await import('../../notebooks/cellLocation.ts');
      const found = await locateCell(this.#home, { record, file: source.file, cell, line }, signal);
      if (found === undefined && !isQuiet)
        void showInformation(l10n.t('Cell {0} of {1} is no longer in the notebook.', cell, source.path));
      return found;
    }
    const unsaved = vscode.workspace.textDocuments.find(
      ({ uri, isDirty }) => isDirty && uri.scheme === 'file' && uri.fsPath === source.file,
    );
    let found = line;
    if (source.isChanged || unsaved !== undefined) {
      const submitted = { archive: record.archive, path: source.path, line };
      const current = await this.#currentLine(submitted, { file: source.file, text: unsaved?.getText() }, signal);
      found = current?.line ?? line;
      if (!isQuiet && (current === undefined || current.isDeleted))
        void showInformation(drift(source.path, line, current));
    }
    const position = new vscode.Position(Math.max(0, found - 1), Math.max(0, column - 1));
    return new vscode.Location(vscode.Uri.file(source.file), position);
  }

  /** Opens the line as `locate` finds it. */
  async open(...[record, reference, signal]: Parameters<SourceLines['locate']>): Promise<void> {
    const location = await this.locate(record, reference, signal);
    if (location === undefined) return;
    // A cell of a notebook is no document that could be shown on its own.
    await vscode.commands.executeCommand('vscode.open', location.uri, { selection: location.range });
  }
}

function drift(path: string, line: number, current: object | undefined): string {
  return current === undefined
    ? l10n.t('{0} was changed after the job was submitted. Line {1} may be a different one now.', path, line)
    : l10n.t('Line {0} of {1} was changed or deleted after the job was submitted.', line, path);
}
