import type { JobRecord } from '../../../jobs/ledger/record.ts';
import type { JobGroup } from '../store/jobGroups.ts';
import type { JobNode } from '../store/jobNodes.ts';

// VS Code draws all rows of an expanded group whenever one is added.
const ROWS = 200;

/** The rows that VS Code knows: one object for each, as the tree needs to recognize them. */
export class JobRows {
  readonly #nodes = new Map<string, JobNode>();
  readonly #limits = new Map<string, number>();

  group(group: string): JobNode {
    return this.#node(`group ${group}`, { type: 'group', group });
  }

  job(id: string): JobNode {
    return this.#node(`job ${id}`, { type: 'job', id });
  }

  more(group?: string): JobNode {
    return this.#node(`more ${group ?? ''}`, { type: 'more', ...(group !== undefined && { group }) });
  }

  /** The first rows of a group: its jobs, those of a sweep as one row where the group joins them, and a row for more. */
  rowsOf(group: JobGroup, find: (id: string) => JobRecord | undefined): JobNode[] {
    const limit = this.#limitOf(group.key);
    const rows = group.ids.slice(0, limit).map((id) => {
      const parent = this.parentOf(id, group, find);
      return parent.type === 'sweep' ? parent : this.job(id);
    });
    if (group.ids.length > limit) rows.push(this.more(group.key));
    return [...new Set(rows)];
  }

  /** The row of a job's sweep where its group joins them, else the group. */
  parentOf(id: string, group: JobGroup, find: (id: string) => JobRecord | undefined): JobNode {
    const sweep = group.joinsSweeps ? find(id)?.sweep?.id : undefined;
    if (sweep === undefined) return this.group(group.key);
    return this.#node(`sweep ${sweep} ${group.key}`, { type: 'sweep', sweep, group: group.key });
  }

  /** How many jobs of a group have no row yet. */
  hidden(group: JobGroup): number {
    return Math.max(0, group.ids.length - this.#limitOf(group.key));
  }

  showMoreOf(group: string): void {
    this.#limits.set(group, this.#limitOf(group) + ROWS);
  }

  /** The rows of a job and its sweep that VS Code has asked for. */
  drawnOf(id: string, sweep: string | undefined): JobNode[] {
    const job = this.#nodes.get(`job ${id}`);
    if (sweep === undefined) return job ? [job] : [];
    const sweeps = [...this.#nodes.values()].filter((node) => node.type === 'sweep' && node.sweep === sweep);
    return job ? [job, ...sweeps] : sweeps;
  }

  /** Forgets a job that is gone. */
  forget(id: string): void {
    this.#nodes.delete(`job ${id}`);
  }

  #limitOf(group: string): number {
    return this.#limits.get(group) ?? ROWS;
  }

  #node(key: string, node: JobNode): JobNode {
    const cachedNode = this.#nodes.get(key);
    if (cachedNode) return cachedNode;
    this.#nodes.set(key, node);
    return node;
  }
}
