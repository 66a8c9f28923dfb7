import * as vscode from 'vscode';
import { DisposableStore } from '../../../core/processes/lifetime.ts';
import { indexState, indexSummary } from './indexText.ts';
import type { SearchIndex } from './searchIndex.ts';
import { withoutIcons } from '../../ui/labels.ts';

/** The index in the language status of a file: the number of indexed files and its state. It never interrupts. */
export function showIndexStatus(index: SearchIndex): vscode.Disposable {
  const item = vscode.languages.createLanguageStatusItem('farwharf.index', { scheme: 'file' });
  item.name = 'Farwharf Index';
  item.command = { command: 'farwharf.index.focus', title: 'Show' };
  const update = (): void => {
    const { status, isPaused } = index;
    const state = indexState(status, isPaused);
    item.busy = state.startsWith('building');
    item.text = status.length === 0 ? 'not started' : withoutIcons(indexSummary(status, isPaused));
    item.detail = 'Search index';
    item.severity = status.some((folder) => folder.state === 'error')
      ? vscode.LanguageStatusSeverity.Warning
      : vscode.LanguageStatusSeverity.Information;
  };
  const disposables = new DisposableStore();
  disposables.add(item);
  disposables.add(index.onDidChange(update));
  update();
  return disposables;
}
