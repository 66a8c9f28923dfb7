import * as vscode from 'vscode';
import type { Disposable } from '../../../core/processes/lifetime.ts';
import type { FlowCompletion } from '../../../flows/language/completions.ts';
import { type FlowDocuments, readerPath, type RemoteReader } from '../documents/flowDocuments.ts';
import { FLOW_SELECTOR, looksLikeFlow } from '../documents/flowText.ts';

const KINDS: Readonly<Record<FlowCompletion['kind'], vscode.CompletionItemKind>> = {
  action: vscode.CompletionItemKind.EnumMember,
  node: vscode.CompletionItemKind.Variable,
  key: vscode.CompletionItemKind.Property,
};

/** Completes nodes and actions inside `connect`, and keys of the shared state. */
export function registerFlowCompletions(documents: FlowDocuments, reader: RemoteReader): Disposable {
  const provider: vscode.CompletionItemProvider = {
    async provideCompletionItems(document, position) {
      if (!looksLikeFlow(document)) return [];
      await documents.read(document);
      const found = await reader.complete(readerPath(document), document.offsetAt(position));
      return found.map(({ label, kind, text, from, detail }, index) => {
        const item = new vscode.CompletionItem({ label, description: detail }, KINDS[kind]);
        item.insertText = text;
        item.range = new vscode.Range(document.positionAt(from), position);
        item.sortText = `0${String(index).padStart(4, '0')}`; // before the completions of the language itself
        return item;
      });
    },
  };
  return vscode.languages.registerCompletionItemProvider(FLOW_SELECTOR, provider, '.', "'", '"', '(', ',');
}
