import * as l10n from '@vscode/l10n';
import { type Grouping, GROUPINGS } from '../../jobs/store/jobNodes.ts';
import { label } from '../../ui/labels.ts';
import { pickRow } from '../../ui/show.ts';
import { type Command, readText } from '../command.ts';

const TITLES: Readonly<Record<Grouping, string>> = {
  day: l10n.t('Day'),
  state: l10n.t('State'),
  project: l10n.t('Project'),
  sweep: l10n.t('Sweep'),
};

/** Groups the list by what the argument names, or by what the user picks. */
export const groupJobs: Command = async ({ services }, argument) => {
  const { listOptions } = services;
  const asked = GROUPINGS.find((grouping) => grouping === readText(argument));
  const rows = GROUPINGS.map((grouping) => ({
    label: label`${TITLES[grouping]}`,
    ...(grouping === listOptions.grouping && { description: label`${l10n.t('current')}` }),
    grouping,
  }));
  const chosen = asked ?? (await pickRow(rows, { title: l10n.t('Group jobs by') }))?.grouping;
  if (chosen !== undefined) listOptions.setGrouping(chosen);
};
