import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { printableLine } from '../../core/text/printable.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import { countJobs, describeCounts } from '../../jobs/sweeps/sweepProgress.ts';
import { withoutIcons } from '../ui/labels.ts';
import { treeRow, type TreeRow } from '../ui/show.ts';
import type { JobNode } from '../store/jobNodes.ts';
import { describeLostService, type LostContact, lostOfSweep } from '../store/lostContacts.ts';
import { ICONS, LOST_ICON } from './jobRow.ts';

/**
 * The row of a sweep: its profile, and what became of its jobs that are in the list.
 *
 * @param lostOf set for a job while its service cannot be asked.
 */
export function sweepItem(
  node: JobNode & { readonly type: 'sweep' },
  jobs: readonly JobRecord[],
  lostOf: (id: string) => LostContact | undefined,
): TreeRow {
  const [first] = jobs;
  const { name = '', count = jobs.length } = first?.sweep ?? {};
  // Jobs that are not in the list were removed from it, are on an older page, or were not sent.
  const lost = lostOfSweep(jobs, lostOf);
  const counts = { ...countJobs(count, jobs, lost?.since ?? Date.now()), unsent: 0 };
  const text = [...(lost === undefined ? [] : [describeLostService(lost)]), describeCounts(counts)].join(' · ');
  const item = treeRow(withoutIcons(name), vscode.TreeItemCollapsibleState.Collapsed);
  item.id = `sweep ${node.sweep} ${node.group}`;
  item.description = withoutIcons(text);
  const [icon, color] =
    lost !== undefined
      ? LOST_ICON
      : counts.unfinished > 0
        ? ICONS.running
        : counts.failed > 0
          ? ICONS.failed
          : ICONS.succeeded;
  item.iconPath = new vscode.ThemeIcon(icon, new vscode.ThemeColor(color));
  item.contextValue = 'sweep';
  item.accessibilityInformation = { label: printableLine(l10n.t('Sweep {0}, {1}', name, text)) };
  item.command = { command: 'farwharf.showSweep', title: l10n.t('Show Sweep'), arguments: [node] };
  return item;
}
