import * as vscode from 'vscode';
import type { JobStore } from '../store/jobStore.ts';

export interface GrowingDocuments {
  readonly scheme: string;
  /** Whether news of jobs with these IDs changes a document. */
  readonly changes: (uri: vscode.Uri, ids: ReadonlySet<string>) => boolean;
  readonly provide: (uri: vscode.Uri, token: vscode.CancellationToken) => Promise<string>;
}

/** Registers read-only documents that grow with their jobs. */
export function registerGrowingDocuments(
  { scheme, changes, provide }: GrowingDocuments,
  store: Pick<JobStore, 'onDidChange'>,
): vscode.Disposable {
  const changed = new vscode.EventEmitter<vscode.Uri>();
  return vscode.Disposable.from(
    changed,
    vscode.workspace.registerTextDocumentContentProvider(scheme, {
      onDidChange: changed.event,
      provideTextDocumentContent: provide,
    }),
    store.onDidChange(({ ids }) => {
      for (const { uri } of vscode.workspace.textDocuments) {
        if (uri.scheme === scheme && changes(uri, ids)) changed.fire(uri);
      }
    }),
  );
}
