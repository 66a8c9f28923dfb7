import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import { formatCount } from '../../core/text/format.ts';
import { DisposableStore } from '../../core/processes/lifetime.ts';
import { repeat } from '../../core/processes/repeat.ts';
import { jobIcon } from '../../jobs/describe.ts';
import { isOver, type JobRecord } from '../../jobs/ledger/record.ts';
import { changedGroups, GROUP_TITLES, groupJobs } from './jobGroups.ts';
import { JOB_GROUPS, type JobGroup, type JobNode } from './jobNodes.ts';
import { jobRow, jobTooltip, type RowContext } from './jobRow.ts';
import { sweepItem } from './sweepRow.ts';
import type { JobsChange, JobStore } from '../jobs/jobStore.ts';
import type { LostContacts } from '../jobs/lostContacts.ts';
import { treeRow, hover } from '../ui/show.ts';
import { label } from '../ui/labels.ts';

// Durations are in seconds at first and in minutes later; rows are updated only while the view is visible.
const TICK_MS = 5000;
const OPEN_GROUPS: ReadonlySet<JobGroup> = new Set<JobGroup>(['active', 'today']);

export interface JobTreeShell {
  readonly view: vscode.TreeView<JobNode>;
  readonly changed: vscode.EventEmitter<JobNode | undefined>;
}

/** Rows of the Jobs view. Only changed rows are drawn again. */
export class JobTree implements vscode.TreeDataProvider<JobNode>, vscode.Disposable {
  readonly #store: JobStore;
  readonly #lostContacts: LostContacts;
  readonly #shell: JobTreeShell;
  readonly #disposables = new DisposableStore();
  readonly #jobs = new Map<string, JobNode>();
  readonly #sweeps = new Map<string, JobNode>();
  readonly #groupNodes = new Map(JOB_GROUPS.map((group) => [group, { type: 'group', group } as const]));
  readonly #more: JobNode = { type: 'more' };
  #groups: Map<JobGroup, string[]> = new Map();
  #variety = varietyOf([]);
  #hadMore = false;
  #unseenFailures = 0;

  constructor({ store, lostContacts }: { store: JobStore; lostContacts: LostContacts }, shell: JobTreeShell) {
    this.#store = store;
    this.#lostContacts = lostContacts;
    this.#shell = shell;
    this.#disposables.add(store.onDidChange((change) => this.#update(change)));
    this.#disposables.add(lostContacts.onDidChange((id) => this.#update({ ids: new Set([id]) })));
    this.#disposables.add(
      shell.view.onDidChangeVisibility(({ visible }) => {
        if (visible) this.#unseenFailures = 0;
        this.#showBadge();
      }),
    );
  }

  async getChildren(node?: JobNode): Promise<JobNode[]> {
    if (!this.#store.isLoaded) await this.#store.refresh();
    if (node === undefined) {
      this.#groups = groupJobs(this.#store.records, Date.now());
      this.#variety = varietyOf(this.#store.records);
      const groups = JOB_GROUPS.filter((group) => this.#groups.has(group)).flatMap(
        (group) => this.#groupNodes.get(group) ?? [],
      );
      return this.#store.hasMore ? [...groups, this.#more] : groups;
    }
    if (node.type === 'group') return this.#rowsOf(this.#groups.get(node.group) ?? []);
    return node.type === 'sweep' ? this.#jobsOf(node.sweep).map(({ id }) => this.#jobNode(id)) : [];
  }

  getTreeItem(node: JobNode): vscode.TreeItem {
    if (node.type === 'group') return this.#groupItem(node.group);
    if (node.type === 'more') return this.#moreItem();
    if (node.type === 'sweep') return sweepItem(node, this.#jobsOf(node.sweep));
    const record = this.#store.get(node.id);
    if (!record) return treeRow(label``);
    const row = jobRow(record, { ...this.#variety, now: Date.now(), lost: this.#lostContacts.get(record.id) });
    const item = treeRow(row.label);
    item.id = record.id;
    item.description = row.description;
    item.iconPath = new vscode.ThemeIcon(
      row.icon,
      row.color === undefined ? undefined : new vscode.ThemeColor(row.color),
    );
    item.contextValue = row.contextValue;
    item.accessibilityInformation = { label: row.spoken };
    item.command = { command: 'farwharf.showLog', title: 'Show Log', arguments: [node] };
    return item;
  }

  /** Adds the hover, when the pointer rests on a row. */
  resolveTreeItem(item: vscode.TreeItem, node: JobNode): vscode.TreeItem {
    const record = node.type === 'job' ? this.#store.get(node.id) : undefined;
    if (record) item.tooltip = hover(jobTooltip(record, Date.now()));
    return item;
  }

  /** Keeps the durations of running jobs up to date while the view is visible. */
  keepTime(signal: AbortSignal): Promise<void> {
    const tick = (): void => {
      if (this.#shell.view.visible) this.#update({ ids: new Set(this.#groups.get('active')) });
    };
    return repeat(tick, TICK_MS, signal);
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  #update({ ids, ended = [] }: Pick<JobsChange, 'ids'> & Partial<JobsChange>): void {
    const groups = groupJobs(this.#store.records, Date.now());
    const changed = changedGroups(this.#groups, groups);
    const isMoreSame = this.#hadMore === this.#store.hasMore;
    const variety = varietyOf(this.#store.records);
    const isVarietySame = isDeepStrictEqual(variety, this.#variety);
    this.#variety = variety;
    this.#groups = groups;
    this.#hadMore = this.#store.hasMore;
    if (changed === 'all' || !isMoreSame || !isVarietySame) this.#shell.changed.fire(undefined);
    else for (const group of changed) this.#shell.changed.fire(this.#groupNodes.get(group));
    const redrawn = new Set(changed === 'all' ? [] : changed.flatMap((group) => groups.get(group) ?? []));
    for (const id of ids) {
      if (!this.#store.get(id)) this.#jobs.delete(id);
      else if (changed !== 'all' && !redrawn.has(id)) this.#redraw(id);
    }
    if (!this.#shell.view.visible)
      this.#unseenFailures += ended.filter((record) => jobIcon(record) === 'failed').length;
    this.#showBadge();
  }

  /** The number of running jobs, or, if there are none, of jobs that failed since the view was last visible. */
  #showBadge(): void {
    const running = this.#store.records.filter((record) => record.jobId !== null && !isOver(record)).length;
    const failed = this.#unseenFailures;
    this.#shell.view.badge =
      running > 0
        ? { value: running, tooltip: formatCount(running, 'job runs', 'jobs run') }
        : failed > 0
          ? { value: failed, tooltip: formatCount(failed, 'job failed', 'jobs failed') }
          : undefined;
  }

  /** Draws a job again, and the row of its sweep. */
  #redraw(id: string): void {
    this.#shell.changed.fire(this.#jobNode(id));
    const sweep = this.#sweeps.get(this.#store.get(id)?.sweep?.id ?? '');
    if (sweep !== undefined) this.#shell.changed.fire(sweep);
  }

  /** The rows of a group: its jobs, those of a sweep as one row. */
  #rowsOf(ids: readonly string[]): JobNode[] {
    const rows = ids.map((id) => {
      const sweep = this.#store.get(id)?.sweep?.id;
      return sweep === undefined ? this.#jobNode(id) : this.#sweepNode(sweep);
    });
    return [...new Set(rows)];
  }

  #jobsOf(sweep: string): readonly JobRecord[] {
    const jobs = this.#store.records.filter((record) => record.sweep?.id === sweep);
    return jobs.toSorted((a, b) => (a.sweep?.index ?? 0) - (b.sweep?.index ?? 0));
  }

  #sweepNode(sweep: string): JobNode {
    const node = this.#sweeps.get(sweep) ?? { type: 'sweep', sweep };
    this.#sweeps.set(sweep, node);
    return node;
  }

  #jobNode(id: string): JobNode {
    const known = this.#jobs.get(id);
    if (known) return known;
    const node: JobNode = { type: 'job', id };
    this.#jobs.set(id, node);
    return node;
  }

  #groupItem(group: JobGroup): vscode.TreeItem {
    const { Expanded, Collapsed } = vscode.TreeItemCollapsibleState;
    const item = treeRow(label`${GROUP_TITLES[group]}`, OPEN_GROUPS.has(group) ? Expanded : Collapsed);
    const count = this.#groups.get(group)?.length ?? 0;
    item.id = `group ${group}`;
    item.description = label`${count}`;
    item.contextValue = 'group';
    item.accessibilityInformation = { label: `${GROUP_TITLES[group]}, ${formatCount(count, 'job')}` };
    return item;
  }

  #moreItem(): vscode.TreeItem {
    const item = treeRow(label`Show older jobs`);
    item.id = 'more';
    item.iconPath = new vscode.ThemeIcon('ellipsis');
    item.command = { command: 'farwharf.showMoreJobs', title: 'Show More Jobs' };
    return item;
  }
}

/** What the rows must distinguish. */
function varietyOf(records: readonly JobRecord[]): Pick<RowContext, 'hasSeveralFolders' | 'hasSeveralHosts'> {
  const hasSeveral = (values: readonly string[]): boolean => new Set(values).size > 1;
  return {
    hasSeveralFolders: hasSeveral(records.map(({ folder }) => folder)),
    hasSeveralHosts: hasSeveral(records.map(({ host }) => host)),
  };
}
