import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError } from '../../../core/errors.ts';
import type { Disposable } from '../../../core/processes/lifetime.ts';
import { type FlowDocuments, readerPath, type RemoteReader } from '../documents/flowDocuments.ts';
import { FLOW_SELECTOR, looksLikeFlow } from '../documents/flowText.ts';
import { toRange } from '../documents/ranges.ts';
import { toWorkspaceEdit } from '../documents/sourceEdits.ts';

/** Renames actions and keys of the shared state. All other names are left to the language's own provider. */
export function registerFlowRenames(documents: FlowDocuments, reader: RemoteReader): Disposable {
  return vscode.languages.registerRenameProvider(FLOW_SELECTOR, {
    /** @throws AppError if there is no action or key here, so that VS Code asks the next provider. */
    async prepareRename(document, position) {
      const file = looksLikeFlow(document) ? readerPath(document) : undefined;
      if (file !== undefined) await documents.read(document);
      const symbol = file === undefined ? undefined : await reader.symbol(file, document.offsetAt(position));
      if (symbol === undefined)
        throw new AppError('missing', l10n.t('Only actions and keys of a flow can be renamed here.'));
      const range = toRange(symbol.range);
      const isQuoted = /^['"`]/.test(document.getText(range));
      return { range: isQuoted ? inside(range) : range, placeholder: symbol.name };
    },
    /** @throws AppError with the reason if the rename would not be safe. */
    async provideRenameEdits(document, position, newName) {
      await documents.read(document);
      const outcome = await reader.rename(readerPath(document), document.offsetAt(position), newName);
      if (!outcome.ok) throw new AppError('refused', outcome.reason);
      return toWorkspaceEdit(outcome.edits);
    },
  });
}

function inside({ start, end }: vscode.Range): vscode.Range {
  return new vscode.Range(start.translate(0, 1), end.translate(0, -1));
}
