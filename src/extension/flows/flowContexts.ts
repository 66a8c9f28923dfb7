import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../core/processes/lifetime.ts';
import type { ContextKeys } from '../contributions/contexts.ts';
import type { FlowDocuments } from './documents/flowDocuments.ts';
import type { FlowRuns } from './runs/flowRuns.ts';

/** Updates the context keys of flows: whether the active editor has one, and whether one is running. */
export function followFlowContexts(contexts: ContextKeys, documents: FlowDocuments, runs: FlowRuns): Disposable {
  const disposables = new DisposableStore();
  const updateEditor = (): void => {
    const uri = vscode.window.activeTextEditor?.document.uri;
    const readout = uri === undefined ? undefined : documents.last(uri);
    contexts.set('flowEditor', (readout?.file.flows.length ?? 0) > 0);
  };
  disposables.add(documents.onDidRead(updateEditor));
  disposables.add(documents.onDidClose(updateEditor));
  disposables.add(vscode.window.onDidChangeActiveTextEditor(updateEditor));
  disposables.add(runs.onNews(() => contexts.set('flowRunning', runs.running() !== undefined)));
  contexts.set('flowRunning', false);
  updateEditor();
  return disposables;
}
