import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { plural } from '../../../core/text/format.ts';
import type { JobRecord } from '../../../jobs/ledger/record.ts';
import type { JobGroup } from '../store/jobGroups.ts';
import type { JobNode } from '../store/jobNodes.ts';
import { jobRow, type RowContext, ICONS, LOST_ICON } from './jobRow.ts';
import { treeRow, type TreeRow } from '../../ui/show.ts';
import { label, withoutIcons } from '../../ui/labels.ts';
import { printableLine } from '../../../core/text/printable.ts';
import { countJobs, describeCounts } from '../../../jobs/sweeps/sweepProgress.ts';
import { describeLostService, type LostContact, lostOfSweep } from '../store/lostContacts.ts';

export function jobItem(node: JobNode, record: JobRecord, context: RowContext): vscode.TreeItem {
  const row = jobRow(record, context);
  const item = treeRow(row.label);
  item.id = record.id;
  item.description = row.description;
  item.iconPath = new vscode.ThemeIcon(
    row.icon,
    row.color === undefined ? undefined : new vscode.ThemeColor(row.color),
  );
  item.contextValue = row.contextValue;
  item.accessibilityInformation = { label: row.spoken };
  item.command = { command: 'farwharf.showLog', title: l10n.t('Show Log'), arguments: [node] };
  return item;
}

export function groupItem({ key, title, ids, isOpen }: JobGroup): vscode.TreeItem {
  const { Expanded, Collapsed } = vscode.TreeItemCollapsibleState;
  const name = label`${title}`;
  const item = treeRow(name, isOpen ? Expanded : Collapsed);
  item.id = `group ${key}`;
  item.description = label`${ids.length}`;
  item.contextValue = 'group';
  item.accessibilityInformation = { label: `${name}, ${plural(ids.length, l10n.t('1 job'), l10n.t('{0} jobs'))}` };
  return item;
}

/** @param hidden how many jobs of its group have no row; undefined for those that were not read yet. */
export function moreItem(node: JobNode, hidden: number | undefined): vscode.TreeItem {
  const item = treeRow(
    hidden === undefined ? label`${l10n.t('Show older jobs')}` : label`${l10n.t('Show more ({0} hidden)', hidden)}`,
  );
  item.id = hidden === undefined ? 'more' : `more ${'group' in node ? node.group : ''}`;
  item.iconPath = new vscode.ThemeIcon('ellipsis');
  item.command = { command: 'farwharf.showMoreJobs', title: l10n.t('Show More Jobs'), arguments: [node] };
  return item;
}

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
