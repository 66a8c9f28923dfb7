import { type Grouping, GROUPINGS } from '../../store/jobNodes.ts';
import { label } from '../../ui/labels.ts';
import { pickRow } from '../../ui/show.ts';
import { type Command, readText } from '../command.ts';

const TITLES: Readonly<Record<Grouping, string>> = {
  day: 'Day',
  state: 'State',
  project: 'Project',
  sweep: 'Sweep',
};

/** Groups the list by what the argument names, or by what the user picks. */
export const groupJobs: Command = async ({ services }, argument) => {
  const { listOptions } = services;
  const asked = GROUPINGS.find((grouping) => grouping === readText(argument));
  const rows = GROUPINGS.map((grouping) => ({
    label: label`${TITLES[grouping]}`,
    ...(grouping === listOptions.grouping && { description: label`current` }),
    grouping,
  }));
  const chosen = asked ?? (await pickRow(rows, { title: 'Group jobs by' }))?.grouping;
  if (chosen !== undefined) listOptions.setGrouping(chosen);
};
