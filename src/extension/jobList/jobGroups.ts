import { isOver, type JobRecord } from '../../jobs/ledger/record.ts';
import { JOB_GROUPS, type JobGroup } from './jobNodes.ts';

const DAYS_OF_A_WEEK = 7;

export const GROUP_TITLES: Readonly<Record<JobGroup, string>> = {
  active: 'Running and queued',
  today: 'Today',
  yesterday: 'Yesterday',
  week: 'This week',
  older: 'Older',
};

/** The group of a job at `now` (milliseconds), by the local calendar. A week is the last seven days. */
export function groupOf(
  record: Pick<JobRecord, 'state' | 'exitCode' | 'finishedAt' | 'createdAt'>,
  now: number,
): JobGroup {
  if (!isOver(record)) return 'active';
  const days = daysBetween(Date.parse(record.createdAt), now);
  if (days <= 0) return 'today';
  if (days === 1) return 'yesterday';
  return days < DAYS_OF_A_WEEK ? 'week' : 'older';
}

/** IDs of the jobs in each non-empty group, in the order of `records`. The jobs of a sweep stay together, in the first of their groups. */
export function groupJobs(records: readonly JobRecord[], now: number): Map<JobGroup, string[]> {
  const groups = new Map<JobGroup, string[]>();
  const sweeps = new Map<string, JobGroup>();
  for (const record of records) {
    if (record.sweep === null) continue;
    const [known, own] = [sweeps.get(record.sweep.id), groupOf(record, now)];
    if (known === undefined || JOB_GROUPS.indexOf(own) < JOB_GROUPS.indexOf(known)) sweeps.set(record.sweep.id, own);
  }
  for (const record of records) {
    const group = sweeps.get(record.sweep?.id ?? '') ?? groupOf(record, now);
    const ids = groups.get(group);
    if (ids) ids.push(record.id);
    else groups.set(group, [record.id]);
  }
  return groups;
}

/** The groups whose rows differ; `all` if a group appeared or disappeared. */
export function changedGroups(
  before: ReadonlyMap<JobGroup, readonly string[]>,
  after: ReadonlyMap<JobGroup, readonly string[]>,
): JobGroup[] | 'all' {
  if (before.size !== after.size) return 'all';
  const changed: JobGroup[] = [];
  for (const [group, ids] of after) {
    const old = before.get(group);
    if (!old) return 'all';
    if (old.length !== ids.length || old.some((id, index) => id !== ids[index])) changed.push(group);
  }
  return changed;
}

/** Calendar days between two times, counted by midnights, so that a day of 23 hours counts as one. */
function daysBetween(earlier: number, later: number): number {
  const midnight = (time: number): number => new Date(time).setHours(0, 0, 0, 0);
  return Math.round((midnight(later) - midnight(earlier)) / 86_400_000);
}
