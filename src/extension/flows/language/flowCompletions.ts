import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../../core/processes/lifetime.ts';
import type { RemoteService } from '../../../core/processes/workerRpc.ts';
import type { FlowCompletion } from '../../../flows/assist/completions.ts';
import type { FlowWorkerService } from '../../threads/flowWorker.ts';
import { type FlowDocuments, readerPath } from '../documents/flowDocuments.ts';
import { FLOW_SELECTOR, looksLikeFlow } from '../documents/flowText.ts';

const KINDS: Readonly<Record<FlowCompletion['kind'], vscode.CompletionItemKind>> = {
  action: vscode.CompletionItemKind.EnumMember,
  node: vscode.CompletionItemKind.Variable,
  key: vscode.CompletionItemKind.Property,
};

/** Offers nodes and actions inside of `connect`, and the keys of the shared state. */
export class FlowCompletions implements vscode.CompletionItemProvider, Disposable {
  readonly #documents: FlowDocuments;
  readonly #reader: RemoteService<FlowWorkerService>['reader'];
  readonly #disposables = new DisposableStore();

  constructor(documents: FlowDocuments, reader: RemoteService<FlowWorkerService>['reader']) {
    this.#documents = documents;
    this.#reader = reader;
    this.#disposables.add(
      vscode.languages.registerCompletionItemProvider(FLOW_SELECTOR, this, '.', "'", '"', '(', ','),
    );
  }

  async provideCompletionItems(
    document: vscode.TextDocument,
    position: vscode.Position,
  ): Promise<vscode.CompletionItem[]> {
    if (!looksLikeFlow(document)) return [];
    await this.#documents.read(document);
    const found = await this.#reader.complete(readerPath(document), document.offsetAt(position));
    return found.map(({ label, kind, text, from, detail }, index) => {
      const item = new vscode.CompletionItem({ label, description: detail }, KINDS[kind]);
      item.insertText = text;
      item.range = new vscode.Range(document.positionAt(from), position);
      item.sortText = `0${String(index).padStart(4, '0')}`; // before what the language itself offers
      return item;
    });
  }

  dispose(): void {
    this.#disposables.dispose();
  }
}
