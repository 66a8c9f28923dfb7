import { isDeepStrictEqual } from 'node:util';
import type * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { plural } from '../../../core/text/format.ts';
import { DisposableStore } from '../../../core/processes/lifetime.ts';
import { repeat } from '../../../core/processes/repeat.ts';
import { isFiltering, jobMatcher } from '../../../jobs/ledger/jobFilter.ts';
import { jobIcon } from '../../../jobs/ledger/jobIcon.ts';
import { isOver, type JobRecord } from '../../../jobs/ledger/record.ts';
import { changedGroups, groupJobs, type JobGroup } from '../store/jobGroups.ts';
import { groupItem, jobItem, moreItem } from './jobItems.ts';
import type { JobNode } from '../store/jobNodes.ts';
import { jobTooltip, type RowContext } from './jobRow.ts';
import { JobRows } from './jobRows.ts';
import type { ListOptions } from '../store/listOptions.ts';
import { sweepItem } from './jobItems.ts';
import type { JobsChange, JobStore } from '../store/jobStore.ts';
import type { LostContacts } from '../store/lostContacts.ts';
import { treeRow, hover } from '../../ui/show.ts';
import { label } from '../../ui/labels.ts';

// Durations are in seconds at first and in minutes later; rows are updated only while the view is visible.
const TICK_MS = 5000;

export interface JobTreeShell {
  readonly view: vscode.TreeView<JobNode>;
  readonly changed: vscode.EventEmitter<JobNode | undefined>;
}

interface JobTreeDeps {
  readonly store: JobStore;
  readonly lostContacts: LostContacts;
  readonly listOptions: ListOptions;
}

/** Rows of the Jobs view. Only rows that VS Code has asked for are drawn again, when they change and the view is visible. */
export class JobTree implements vscode.TreeDataProvider<JobNode>, vscode.Disposable {
  readonly #deps: JobTreeDeps;
  readonly #shell: JobTreeShell;
  readonly #disposables = new DisposableStore();
  readonly #rows = new JobRows();
  #groups: readonly JobGroup[] = [];
  #sweepJobs: ReadonlyMap<string | undefined, readonly JobRecord[]> | undefined;
  #variety = varietyOf([]);
  #hadMore = false;
  /** The jobs that changed while the view was hidden. */
  #missed: ReadonlySet<string> = new Set();
  #unseenFailures = 0;

  constructor(deps: JobTreeDeps, shell: JobTreeShell) {
    this.#deps = deps;
    this.#shell = shell;
    this.#disposables.add(deps.store.onDidChange((change) => this.#update(change)));
    this.#disposables.add(deps.lostContacts.onDidChange((id) => this.#update({ ids: new Set([id]) })));
    this.#disposables.add(deps.listOptions.onDidChange(() => shell.changed.fire(undefined)));
    this.#disposables.add(
      shell.view.onDidChangeVisibility(({ visible }) => {
        if (visible) this.#unseenFailures = 0;
        if (visible) this.#update({ ids: this.#missed });
        else this.#showBadge();
      }),
    );
  }

  async getChildren(node?: JobNode): Promise<JobNode[]> {
    const { store } = this.#deps;
    if (!store.isLoaded) await store.refresh();
    if (node === undefined) {
      this.#missed = new Set();
      this.#arrange();
      const groups: JobNode[] = this.#groups.map(({ key }) => this.#rows.group(key));
      return store.hasMore ? [...groups, this.#rows.more()] : groups;
    }
    if (node.type === 'sweep') return this.#jobsOf(node.sweep).map(({ id }) => this.#rows.job(id));
    const group = node.type === 'group' ? this.#groupOf(node.group) : undefined;
    return group === undefined ? [] : this.#rows.rowsOf(group, (id) => store.get(id));
  }

  getTreeItem(node: JobNode): vscode.TreeItem {
    const { store, lostContacts } = this.#deps;
    if (node.type === 'more') {
      const group = node.group === undefined ? undefined : this.#groupOf(node.group);
      return moreItem(node, group === undefined ? undefined : this.#rows.hidden(group));
    }
    if (node.type === 'group') {
      const group = this.#groupOf(node.group);
      return group === undefined ? treeRow(label``) : groupItem(group);
    }
    if (node.type === 'sweep') return sweepItem(node, this.#jobsOf(node.sweep), (id) => lostContacts.get(id));
    const record = store.get(node.id);
    if (!record) return treeRow(label``);
    return jobItem(node, record, { ...this.#variety, now: Date.now(), lost: lostContacts.get(record.id) });
  }

  /** Adds the hover, when the pointer rests on a row. */
  resolveTreeItem(item: vscode.TreeItem, node: JobNode): vscode.TreeItem {
    const record = node.type === 'job' ? this.#deps.store.get(node.id) : undefined;
    if (record) item.tooltip = hover(jobTooltip(record, Date.now(), this.#deps.lostContacts.get(record.id)));
    return item;
  }

  /** Shows more rows of a group. */
  showMoreOf(group: string): void {
    this.#rows.showMoreOf(group);
    this.#shell.changed.fire(this.#rows.group(group));
  }

  /** Selects the row of a job if the view shows one. */
  async reveal(id: string): Promise<void> {
    const node = this.#groups.some(({ ids }) => ids.includes(id)) ? this.#rows.job(id) : undefined;
    if (node !== undefined && this.#shell.view.visible) await this.#shell.view.reveal(node);
  }

  /** The parent of a row, which VS Code needs to reveal it. */
  getParent(node: JobNode): JobNode | undefined {
    if (node.type === 'group') return undefined;
    if (node.type !== 'job') return node.group === undefined ? undefined : this.#rows.group(node.group);
    const group = this.#groups.find(({ ids }) => ids.includes(node.id));
    return group === undefined ? undefined : this.#rows.parentOf(node.id, group, (id) => this.#deps.store.get(id));
  }

  /** Keeps the durations of running jobs up to date while the view is visible. */
  keepTime(signal: AbortSignal): Promise<void> {
    const tick = (): void => {
      if (!this.#shell.view.visible) return;
      const unfinished = this.#deps.store.records.filter((record) => !isOver(record));
      this.#update({ ids: new Set(unfinished.map(({ id }) => id)) });
    };
    return repeat(tick, TICK_MS, signal);
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  /** Returns whether the rows must all be drawn again, else the groups that must. */
  #arrange(): readonly string[] | 'all' {
    const { store, listOptions } = this.#deps;
    const { filter, grouping } = listOptions;
    const [groups, variety] = [this.#groups, this.#variety];
    const records = isFiltering(filter) ? store.records.filter(jobMatcher(filter)) : store.records;
    this.#sweepJobs = undefined;
    this.#groups = groupJobs(records, { now: Date.now(), grouping });
    this.#variety = varietyOf(store.records);
    const isSame = this.#hadMore === store.hasMore && isDeepStrictEqual(variety, this.#variety);
    this.#hadMore = store.hasMore;
    return isSame ? changedGroups(groups, this.#groups) : 'all';
  }

  #update({ ids, ended = [] }: Pick<JobsChange, 'ids'> & Partial<JobsChange>): void {
    const { store } = this.#deps;
    for (const id of ids) if (!store.get(id)) this.#rows.forget(id);
    if (!this.#shell.view.visible) {
      this.#missed = this.#missed.union(ids);
      this.#unseenFailures += ended.filter((record) => jobIcon(record) === 'failed').length;
    } else {
      this.#missed = new Set();
      const changed = this.#arrange();
      // Not all rows where some will do: until VS Code has asked for a row again, its buttons do not know their job.
      if (changed === 'all') this.#shell.changed.fire(undefined);
      else this.#redraw(changed, ids);
    }
    this.#showBadge();
  }

  #redraw(groups: readonly string[], ids: ReadonlySet<string>): void {
    for (const group of groups) this.#shell.changed.fire(this.#rows.group(group));
    const redrawn = new Set(groups.flatMap((group) => this.#groupOf(group)?.ids ?? []));
    for (const id of ids) {
      if (redrawn.has(id)) continue;
      const sweep = this.#deps.store.get(id)?.sweep?.id;
      for (const node of this.#rows.drawnOf(id, sweep)) this.#shell.changed.fire(node);
    }
  }

  /** The number of running jobs, or, if there are none, of jobs that failed since the view was last visible. */
  #showBadge(): void {
    const running = this.#deps.store.records.filter((record) => record.jobId !== null && !isOver(record)).length;
    const failed = this.#unseenFailures;
    this.#shell.view.badge =
      running > 0
        ? { value: running, tooltip: plural(running, l10n.t('1 job runs'), l10n.t('{0} jobs run')) }
        : failed > 0
          ? { value: failed, tooltip: plural(failed, l10n.t('1 job failed'), l10n.t('{0} jobs failed')) }
          : undefined;
  }

  #groupOf(key: string): JobGroup | undefined {
    return this.#groups.find((group) => group.key === key);
  }

  /** The jobs in the row of a sweep. */
  #jobsOf(sweep: string): readonly JobRecord[] {
    this.#sweepJobs ??= Map.groupBy(
      this.#groups
        .flatMap(({ ids, joinsSweeps }) => (joinsSweeps ? ids : []))
        .flatMap((id) => this.#deps.store.get(id) ?? []),
      (record) => record.sweep?.id,
    );
    const jobs = this.#sweepJobs.get(sweep) ?? [];
    return jobs.toSorted((a, b) => (a.sweep?.index ?? 0) - (b.sweep?.index ?? 0));
  }
}

/** Whether the rows must distinguish folders and hosts. */
function varietyOf(records: readonly JobRecord[]): Pick<RowContext, 'hasSeveralFolders' | 'hasSeveralHosts'> {
  const [first] = records;
  return {
    hasSeveralFolders: records.some(({ folder }) => folder !== first?.folder),
    hasSeveralHosts: records.some(({ host }) => host !== first?.host),
  };
}
