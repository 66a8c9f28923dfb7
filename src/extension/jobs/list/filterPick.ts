import * as l10n from '@vscode/l10n';
import { type JobFilter, jobMatcher } from '../../../jobs/ledger/jobFilter.ts';
import { JOB_ICONS, type JobIcon, jobIcon, stateWord } from '../../../jobs/ledger/jobIcon.ts';
import type { JobRecord } from '../../../jobs/ledger/record.ts';
import { plural } from '../../../core/text/format.ts';
import type { JobStore } from '../store/jobStore.ts';
import { label, messageText } from '../../ui/labels.ts';
import { createPick, type PickItem } from '../../ui/show.ts';
import { hostTitle } from '../../ui/words.ts';
import type { ListOptions } from '../store/listOptions.ts';

/** One condition of the filter. */
type Condition =
  | { readonly type: 'state'; readonly value: JobIcon }
  | { readonly type: 'project'; readonly value: string }
  | { readonly type: 'host'; readonly value: string };
type ConditionRow = PickItem & { readonly condition: Condition };

/** Asks which jobs the list shows. The list follows each key; Escape restores the filter from before. */
export function filterPick({
  store,
  listOptions,
}: {
  readonly store: JobStore;
  readonly listOptions: ListOptions;
}): Promise<void> {
  const before = listOptions.filter;
  const pick = createPick<ConditionRow>();
  pick.title = messageText(l10n.t('Filter jobs'));
  pick.placeholder = messageText(
    l10n.t('Words of the script, folder, project, ID or last output; or check conditions'),
  );
  pick.canSelectMany = true;
  pick.ignoreFocusOut = true;
  const rows = conditionRows(store.records, before);
  pick.items = rows;
  pick.value = before.text;
  pick.selectedItems = rows.filter(({ condition }) => isInFilter(condition, before));
  const apply = (): void => {
    const conditions = pick.selectedItems.map(({ condition }) => condition);
    const filter: JobFilter = {
      text: pick.value,
      states: conditions.flatMap((each) => (each.type === 'state' ? [each.value] : [])),
      projects: conditions.flatMap((each) => (each.type === 'project' ? [each.value] : [])),
      hosts: conditions.flatMap((each) => (each.type === 'host' ? [each.value] : [])),
    };
    listOptions.setFilter(filter);
    const count = store.records.filter(jobMatcher(filter)).length;
    pick.title = messageText(
      store.hasMore
        ? plural(count, l10n.t('Filter jobs: 1 job and older ones'), l10n.t('Filter jobs: {0} jobs and older ones'))
        : plural(count, l10n.t('Filter jobs: 1 job found'), l10n.t('Filter jobs: {0} jobs found')),
    );
  };
  return new Promise((resolve) => {
    let isAccepted = false;
    pick.onDidChangeValue(apply);
    pick.onDidChangeSelection(apply);
    pick.onDidAccept(() => {
      isAccepted = true;
      pick.hide();
    });
    pick.onDidHide(() => {
      if (!isAccepted) listOptions.setFilter(before);
      pick.dispose();
      resolve();
    });
    pick.show();
  });
}

/** The conditions that distinguish the jobs in the list, and those of the filter, with how many jobs fulfil each. */
function conditionRows(records: readonly JobRecord[], filter: JobFilter): readonly ConditionRow[] {
  const states = Map.groupBy(records, (record) => jobIcon(record));
  const projects = Map.groupBy(records, ({ project }) => project ?? '');
  const hosts = Map.groupBy(records, ({ host }) => host);
  const row = (condition: Condition, name: string, jobs: readonly JobRecord[] = []): ConditionRow => ({
    label: label`${name}`,
    description: label`${plural(jobs.length, l10n.t('1 job'), l10n.t('{0} jobs'))}`,
    // The typed text filters the jobs, not these rows.
    alwaysShow: true,
    condition,
  });
  const several = (groups: ReadonlyMap<string, unknown>, chosen: readonly string[]): readonly string[] =>
    groups.size > 1 || chosen.length > 0 ? [...new Set([...groups.keys(), ...chosen])].toSorted() : [];
  return [
    ...JOB_ICONS.filter((value) => states.has(value) || filter.states.includes(value)).map((value) =>
      row({ type: 'state', value }, l10n.t('State: {0}', stateWord(value)), states.get(value)),
    ),
    ...several(projects, filter.projects).map((value) =>
      row(
        { type: 'project', value },
        value === '' ? l10n.t('No project') : l10n.t('Project: {0}', value),
        projects.get(value),
      ),
    ),
    ...several(hosts, filter.hosts).map((value) =>
      row({ type: 'host', value }, l10n.t('Service: {0}', hostTitle(value)), hosts.get(value)),
    ),
  ];
}

function isInFilter(condition: Condition, { states, projects, hosts }: JobFilter): boolean {
  const values: readonly string[] = { state: states, project: projects, host: hosts }[condition.type];
  return values.includes(condition.value);
}
