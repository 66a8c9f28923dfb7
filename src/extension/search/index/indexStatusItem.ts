import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { DisposableStore } from '../../../core/processes/lifetime.ts';
import { indexSummary } from './indexText.ts';
import type { SearchIndex } from './searchIndex.ts';
import { withoutIcons } from '../../ui/labels.ts';

/** The index in the language status of a file: the number of indexed files and its state. It never interrupts. */
export function showIndexStatus(index: SearchIndex): vscode.Disposable {
  const item = vscode.languages.createLanguageStatusItem('farwharf.index', { scheme: 'file' });
  item.name = 'Farwharf Index';
  item.command = { command: 'farwharf.index.focus', title: l10n.t('Show') };
  const update = (): void => {
    const { status, isPaused } = index;
    item.busy = !isPaused && status.some(({ state }) => state === 'building');
    item.text = status.length === 0 ? l10n.t('not started') : withoutIcons(indexSummary(status, isPaused));
    item.detail = l10n.t('Search index');
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
