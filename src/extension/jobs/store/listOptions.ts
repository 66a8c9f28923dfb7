import type * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import * as z from 'zod';
import { plural } from '../../../core/text/format.ts';
import { Emitter } from '../../../core/processes/lifetime.ts';
import { isFiltering, type JobFilter, NO_FILTER } from '../../../jobs/ledger/jobFilter.ts';
import { JOB_ICONS, stateWord } from '../../../jobs/ledger/jobIcon.ts';
import { hostTitle } from '../../ui/words.ts';
import { type Grouping, GROUPINGS } from './jobNodes.ts';

const KEY = 'jobList';

const storedOptions = z.object({
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
    const found = storedOptions.safeParse(memory.get(KEY)).data;
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
  const several = (values: readonly string[], many: string): string => {
    const [first = '', second] = values;
    if (values.length > 2) return plural(values.length, first, many);
    return second === undefined ? first : l10n.t('{0} or {1}', first, second);
  };
  const parts = [
    several(
      states.map((state) => stateWord(state)),
      l10n.t('{0} states'),
    ),
    several(
      projects.map((project) => (project === '' ? l10n.t('no project') : l10n.t('project {0}', project))),
      l10n.t('{0} projects'),
    ),
    several(hosts.map(hostTitle), l10n.t('{0} services')),
    text.trim() === '' ? '' : `"${text.trim()}"`,
  ];
  return parts.filter((part) => part !== '').join(' · ');
}
