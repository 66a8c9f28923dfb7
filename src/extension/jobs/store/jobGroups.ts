import * as l10n from '@vscode/l10n';
import { assertNever } from '../../../core/errors.ts';
import { isOver, type JobRecord } from '../../../jobs/ledger/record.ts';
import { JOB_ICONS, type JobIcon, jobIcon, stateWord } from '../../../jobs/ledger/jobIcon.ts';
import type { Grouping } from './jobNodes.ts';

/** A group of the Jobs view, with its jobs in the order of the list. */
export interface JobGroup {
  /** Unique among the groups of all groupings. */
  readonly key: string;
  readonly title: string;
  readonly ids: readonly string[];
  /** Whether it is expanded until the user changes that. */
  readonly isOpen: boolean;
  /** Whether the jobs of a sweep are one row. */
  readonly joinsSweeps: boolean;
}

type GroupName = Omit<JobGroup, 'ids'>;

const DAYS_OF_A_WEEK = 7;
const PINNED: GroupName = { key: 'pinned', title: l10n.t('Pinned'), isOpen: true, joinsSweeps: false };
const ACTIVE: GroupName = { key: 'active', title: l10n.t('Running and queued'), isOpen: true, joinsSweeps: true };
const DAYS = {
  today: { key: 'today', title: l10n.t('Today'), isOpen: true, joinsSweeps: true },
  yesterday: { key: 'yesterday', title: l10n.t('Yesterday'), isOpen: false, joinsSweeps: true },
  week: { key: 'week', title: l10n.t('This week'), isOpen: false, joinsSweeps: true },
  older: { key: 'older', title: l10n.t('Older'), isOpen: false, joinsSweeps: true },
} satisfies Record<string, GroupName>;
const BY_DAY: readonly GroupName[] = [ACTIVE, ...Object.values(DAYS)];
const BY_STATE = new Map(
  JOB_ICONS.map((icon) => [
    icon,
    { key: `state ${icon}`, title: stateTitle(icon), isOpen: isOpenState(icon), joinsSweeps: false },
  ]),
);
const BY_SWEEP = {
  sweeps: { key: 'sweeps', title: l10n.t('Sweeps'), isOpen: true, joinsSweeps: true },
  single: { key: 'single', title: l10n.t('Other jobs'), isOpen: true, joinsSweeps: false },
} satisfies Record<string, GroupName>;

/** The non-empty groups in the order of the view. Pinned jobs have their own, on top. `now` is in milliseconds; days are those of the local calendar. */
export function groupJobs(
  records: readonly JobRecord[],
  { now, grouping }: { readonly now: number; readonly grouping: Grouping },
): readonly JobGroup[] {
  const nameOf = namer(records, now, grouping);
  const groups = new Map<string, { name: GroupName; ids: string[] }>();
  for (const record of records) {
    const name = record.pinned ? PINNED : nameOf(record);
    const group = groups.get(name.key);
    if (group) group.ids.push(record.id);
    else groups.set(name.key, { name, ids: [record.id] });
  }
  const found = [...groups.values()].map(({ name, ids }) => ({ ...name, ids }));
  return inOrder(found, grouping);
}

/** The keys of groups whose rows differ; `all` if a group appeared, disappeared or moved. */
export function changedGroups(before: readonly JobGroup[], after: readonly JobGroup[]): readonly string[] | 'all' {
  if (before.length !== after.length) return 'all';
  const changed: string[] = [];
  for (const [index, { key, ids }] of after.entries()) {
    const old = before[index];
    if (old?.key !== key) return 'all';
    if (old.ids.length !== ids.length || old.ids.some((id, place) => id !== ids[place])) changed.push(key);
  }
  return changed;
}

/** The title of jobs in a state: `Timed out`. */
function stateTitle(icon: JobIcon): string {
  const word = stateWord(icon);
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}

function isOpenState(icon: JobIcon): boolean {
  return icon !== 'succeeded' && icon !== 'cancelled';
}

function namer(records: readonly JobRecord[], now: number, grouping: Grouping): (record: JobRecord) => GroupName {
  switch (grouping) {
    case 'day':
      return namerByDay(records, now);
    case 'state':
      return (record) => BY_STATE.get(jobIcon(record)) ?? ACTIVE;
    case 'project':
      return ({ project }) => {
        const title = project ?? l10n.t('No project');
        return { key: `project ${project ?? ''}`, title, isOpen: true, joinsSweeps: true };
      };
    case 'sweep':
      return ({ sweep }) => (sweep === null ? BY_SWEEP.single : BY_SWEEP.sweeps);
    default:
      return assertNever(grouping);
  }
}

/** The jobs of a sweep stay together, in the first of their groups. */
function namerByDay(records: readonly JobRecord[], now: number): (record: JobRecord) => GroupName {
  const dayOf = dayNamer(now);
  const sweeps = new Map<string, GroupName>();
  for (const record of records) {
    if (record.sweep === null) continue;
    const [known, own] = [sweeps.get(record.sweep.id), dayOf(record)];
    if (known === undefined || BY_DAY.indexOf(own) < BY_DAY.indexOf(known)) sweeps.set(record.sweep.id, own);
  }
  return (record) => (record.sweep === null ? undefined : sweeps.get(record.sweep.id)) ?? dayOf(record);
}

/** A week is the last seven days. Days are counted by midnights, because a day can have 23 hours. */
function dayNamer(now: number): (record: JobRecord) => GroupName {
  const date = new Date(now);
  const daysAgo = (days: number): number =>
    new Date(date.getFullYear(), date.getMonth(), date.getDate() - days).getTime();
  const [today, yesterday, week] = [daysAgo(0), daysAgo(1), daysAgo(DAYS_OF_A_WEEK - 1)];
  return (record) => {
    if (!isOver(record)) return ACTIVE;
    const created = Date.parse(record.createdAt);
    if (created >= today) return DAYS.today;
    if (created >= yesterday) return DAYS.yesterday;
    return created >= week ? DAYS.week : DAYS.older;
  };
}

function inOrder(groups: readonly JobGroup[], grouping: Grouping): readonly JobGroup[] {
  const keys = [PINNED.key, ...BY_DAY.map(({ key }) => key), ...[...BY_STATE.values()].map(({ key }) => key)];
  keys.push(BY_SWEEP.sweeps.key, BY_SWEEP.single.key);
  return groups.toSorted((one, other) => {
    const placeOf = ({ key }: JobGroup): number => (keys.includes(key) ? keys.indexOf(key) : keys.length);
    const places = placeOf(one) - placeOf(other);
    if (grouping !== 'project' || places !== 0) return places;
    // Jobs without a project come last.
    const isLast = Number(one.key === 'project ') - Number(other.key === 'project ');
    return isLast || one.title.localeCompare(other.title);
  });
}
