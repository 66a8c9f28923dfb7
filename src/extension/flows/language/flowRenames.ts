import * as vscode from 'vscode';
import { AppError } from '../../../core/errors.ts';
import { type Disposable, DisposableStore } from '../../../core/processes/lifetime.ts';
import type { RemoteService } from '../../../core/processes/workerRpc.ts';
import type { FlowWorkerService } from '../../threads/flowWorker.ts';
import { type FlowDocuments, readerPath } from '../documents/flowDocuments.ts';
import { FLOW_SELECTOR, looksLikeFlow } from '../documents/flowText.ts';
import { toRange } from '../documents/ranges.ts';
import { toWorkspaceEdit } from '../documents/sourceEdits.ts';

/** Renames an action or a key of the shared state in all its places. All other names are the language's own business. */
export class FlowRenames implements vscode.RenameProvider, Disposable {
  readonly #documents: FlowDocuments;
  readonly #reader: RemoteService<FlowWorkerService>['reader'];
  readonly #disposables = new DisposableStore();

  constructor(documents: FlowDocuments, reader: RemoteService<FlowWorkerService>['reader']) {
    this.#documents = documents;
    this.#reader = reader;
    this.#disposables.add(vscode.languages.registerRenameProvider(FLOW_SELECTOR, this));
  }

  /** @throws AppError where there is nothing of a flow, so that VS Code asks the next provider. */
  async prepareRename(
    document: vscode.TextDocument,
    position: vscode.Position,
  ): Promise<{ range: vscode.Range; placeholder: string }> {
    const symbol = looksLikeFlow(document) ? await this.#symbolAt(document, position) : undefined;
    if (symbol === undefined) throw new AppError('missing', 'There is no action or key of a flow here.');
    const range = toRange(symbol.range);
    const isQuoted = /^['"`]/.test(document.getText(range));
    return { range: isQuoted ? inside(range) : range, placeholder: symbol.name };
  }

  /** @throws AppError with the reason where it cannot be renamed safely. */
  async provideRenameEdits(
    document: vscode.TextDocument,
    position: vscode.Position,
    newName: string,
  ): Promise<vscode.WorkspaceEdit> {
    await this.#documents.read(document);
    const outcome = await this.#reader.rename(readerPath(document), document.offsetAt(position), newName);
    if (!outcome.ok) throw new AppError('refused', outcome.reason);
    return toWorkspaceEdit(outcome.edits);
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  async #symbolAt(document: vscode.TextDocument, position: vscode.Position) {
    await this.#documents.read(document);
    return this.#reader.symbol(readerPath(document), document.offsetAt(position));
  }
}

function inside({ start, end }: vscode.Range): vscode.Range {
  return new vscode.Range(start.translate(0, 1), end.translate(0, -1));
}
