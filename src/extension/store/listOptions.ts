import type * as vscode from 'vscode';
import * as z from 'zod';
import { formatCount } from '../../core/text/format.ts';
import { Emitter } from '../../core/processes/lifetime.ts';
import { isFiltering, type JobFilter, NO_FILTER } from '../../jobs/ledger/jobFilter.ts';
import { JOB_ICONS } from '../../jobs/ledger/jobIcon.ts';
import { hostLabel } from '../ui/words.ts';
import { stateTitle } from './jobGroups.ts';
import { type Grouping, GROUPINGS } from './jobNodes.ts';

const KEY = 'jobList';

const stored = z.object({
  grouping: z.enum(GROUPINGS).catch('day'),
  filter: z
    .object({
      text: z.string(),
      states: z.array(z.enum(JOB_ICONS)),
      hosts: z.array(z.string()),
      projects: z.array(z.string()),
    })
    .catch({ text: '', states: [], hosts: [], projects: [] }),
});

/** How the Jobs view of this folder shows its jobs. It is the same after a reload. */
export class ListOptions {
  readonly #memory: vscode.Memento;
  readonly #changed = new Emitter<void>();
  #grouping: Grouping;
  #filter: JobFilter;
  readonly onDidChange = this.#changed.event;

  constructor(memory: vscode.Memento) {
    this.#memory = memory;
    const found = stored.safeParse(memory.get(KEY)).data;
    this.#grouping = found?.grouping ?? 'day';
    this.#filter = found?.filter ?? NO_FILTER;
  }

  get grouping(): Grouping {
    return this.#grouping;
  }

  get filter(): JobFilter {
    return this.#filter;
  }

  setGrouping(grouping: Grouping): void {
    this.#grouping = grouping;
    this.#store();
  }

  setFilter(filter: JobFilter): void {
    this.#filter = filter;
    this.#store();
  }

  #store(): void {
    void this.#memory.update(KEY, { grouping: this.#grouping, filter: this.#filter });
    this.#changed.fire();
  }
}

/** `failed · project vision · "lr=0.1"`; empty without a filter. */
export function describeFilter(filter: JobFilter): string {
  if (!isFiltering(filter)) return '';
  const { text, states, hosts, projects } = filter;
  const several = (values: readonly string[], one: string, many: string): string =>
    values.length > 2 ? formatCount(values.length, one, many) : values.join(' or ');
  const parts = [
    several(
      states.map((state) => stateTitle(state).toLowerCase()),
      'state',
      'states',
    ),
    several(
      projects.map((project) => (project === '' ? 'no project' : `project ${project}`)),
      'project',
      'projects',
    ),
    several(hosts.map(hostLabel), 'service', 'services'),
    text.trim() === '' ? '' : `"${text.trim()}"`,
  ];
  return parts.filter((part) => part !== '').join(' · ');
}
