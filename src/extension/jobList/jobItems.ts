import * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { plural } from '../../core/text/format.ts';
import type { JobRecord } from '../../jobs/ledger/record.ts';
import type { JobGroup } from '../store/jobGroups.ts';
import type { JobNode } from '../store/jobNodes.ts';
import { jobRow, type RowContext } from './jobRow.ts';
import { treeRow } from '../ui/show.ts';
import { label } from '../ui/labels.ts';

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
