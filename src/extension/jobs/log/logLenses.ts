import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { formatInteger } from '../../../core/text/format.ts';
import { MARK } from '../../../jobs/log/viewText.ts';
import type { LogDocuments, ShownPart } from './logDocuments.ts';

/** Links to the other parts above and below a part of a log, and actions on the whole log. */
export function logLenses(documents: Pick<LogDocuments, 'partOf'>): vscode.CodeLensProvider {
  const provideCodeLenses = (document: vscode.TextDocument): vscode.CodeLens[] => {
    const part = documents.partOf(document.uri);
    if (part === undefined) return [];
    const lastRow = document.lineCount - 1;
    const number = (row: number): string => formatInteger(part.firstLine + row);
    const top = [
      ...openLens(`$(arrow-up) ${l10n.t('Earlier Lines')}`, part.previous),
      lens(l10n.t('Lines {0} to {1}', number(0), number(Math.max(0, lastRow - 1))), '', []),
      ...actions(part),
      ...openLens(`$(arrow-down) ${l10n.t('Later Lines')}`, part.next),
    ];
    return [...at(0, top), ...at(lastRow, openLens(`$(arrow-down) ${l10n.t('Later Lines')}`, part.next))];
  };
  return { provideCodeLenses };
}

function actions({ id }: ShownPart): readonly vscode.Command[] {
  return [
    lens(`$(search) ${l10n.t('Find in Log')}`, 'farwharf.findInLog', [id]),
    lens(`$(error) ${l10n.t('First Error')}`, 'farwharf.showFirstError', [id]),
    lens(`$(save) ${l10n.t('Save Log')}`, 'farwharf.saveLog', [id]),
  ];
}

function openLens(title: string, uri: vscode.Uri | undefined): readonly vscode.Command[] {
  return uri === undefined ? [] : [lens(title, 'vscode.open', [uri])];
}

function lens(title: string, command: string, args: readonly unknown[]): vscode.Command {
  return { title, command, arguments: [...args] };
}

function at(row: number, commands: readonly vscode.Command[]): vscode.CodeLens[] {
  return commands.map((command) => new vscode.CodeLens(new vscode.Range(row, 0, row, 0), command));
}

/** Folds the output of each state of a job under the line that names the state. */
export const logFolding: vscode.FoldingRangeProvider = {
  provideFoldingRanges(document) {
    const ranges: vscode.FoldingRange[] = [];
    let start = 0;
    for (let row = 1; row <= document.lineCount; row += 1) {
      if (row < document.lineCount && !document.lineAt(row).text.startsWith(MARK)) continue;
      const isMarked = document.lineAt(start).text.startsWith(MARK);
      const last = row === document.lineCount && document.lineAt(row - 1).text === '' ? row - 2 : row - 1;
      if (isMarked && last > start) ranges.push(new vscode.FoldingRange(start, last));
      start = row;
    }
    return ranges;
  },
};
