import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { printableLine } from '../../core/text/printable.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { countJobs, describeCounts } from '../../jobs/sweeps/sweepProgress.ts';
import { withoutIcons } from '../ui/labels.ts';
import { treeRow, type TreeRow } from '../ui/show.ts';
import type { JobNode } from '../store/jobNodes.ts';

/** The row of a sweep: its profile, and what became of its jobs that are in the list. */
export function sweepItem(node: JobNode & { readonly type: 'sweep' }, jobs: readonly JobRecord[]): TreeRow {
  const [first] = jobs;
  const { name = '', count = jobs.length } = first?.sweep ?? {};
  // Jobs that are not in the list were removed from it, are on an older page, or were not sent.
  const counts = { ...countJobs(count, jobs, Date.now()), unsent: 0 };
  const item = treeRow(withoutIcons(name), vscode.TreeItemCollapsibleState.Collapsed);
  item.id = `sweep ${node.sweep} ${node.group}`;
  item.description = withoutIcons(describeCounts(counts));
  const isDone = counts.unfinished === 0;
  const icon = isDone ? (counts.failed > 0 ? 'error' : 'pass') : 'sync~spin';
  const color = isDone ? (counts.failed > 0 ? 'testing.iconFailed' : 'testing.iconPassed') : 'progressBar.background';
  item.iconPath = new vscode.ThemeIcon(icon, new vscode.ThemeColor(color));
  item.contextValue = 'sweep';
  item.accessibilityInformation = { label: printableLine(l10n.t('Sweep {0}, {1}', name, describeCounts(counts))) };
  item.command = { command: 'farwharf.showSweep', title: l10n.t('Show Sweep'), arguments: [node] };
  return item;
}
