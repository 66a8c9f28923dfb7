import * as l10n from '@vscode/l10n';
import type { DatabaseSync } from 'node:sqlite';
import { formatCredits } from '../../core/text/format.ts';
import type { MachineHours } from '../../core/text/machineHours.ts';

/** Credits that jobs of one project were charged. Jobs count when they end. */
export interface ProjectSpending {
  /** Null for jobs without a project. */
  readonly project: string | null;
  readonly today: number;
  readonly thisMonth: number;
}

/** What jobs have used of a machine class without a price. Jobs count when they end. */
export interface ClassUse {
  /** Null for the class that a service chose without naming it. */
  readonly machineClass: string | null;
  readonly hours: MachineHours;
}

/** The beginning of the current day and month in this machine's time zone, in milliseconds since 1970. */
export interface CurrentPeriods {
  readonly day: number;
  readonly month: number;
}

const NAMED_PROJECTS = 5;

export function currentPeriods(now: number): CurrentPeriods {
  const date = new Date(now);
  const [year, month] = [date.getFullYear(), date.getMonth()];
  return { day: new Date(year, month, date.getDate()).getTime(), month: new Date(year, month).getTime() };
}

// A service can give times in any zone, or none.
const ENDED_AT = "coalesce(unixepoch(record ->> 'finishedAt'), unixepoch(created_at))";

/** What the jobs of a host in the ledger's database were charged, by project. */
export function spendingOf(database: DatabaseSync, host: string, { day, month }: CurrentPeriods): ProjectSpending[] {
  return database
    .prepare(
      `SELECT record ->> 'project' AS project, sum(record ->> 'creditsCharged') AS thisMonth,
              sum(iif(${ENDED_AT} >= ?, record ->> 'creditsCharged', 0)) AS today
       FROM jobs WHERE host = ? AND record ->> 'creditsCharged' > 0 AND ${ENDED_AT} >= ?
       GROUP BY project ORDER BY project`,
    )
    .all(day / 1000, host, month / 1000)
    .map(({ project, today, thisMonth }) => ({
      project: typeof project === 'string' ? project : null,
      today: Number(today),
      thisMonth: Number(thisMonth),
    }));
}

/** What the jobs of a host that ended since `month` used of machine classes without a price, most first. */
export function useOf(database: DatabaseSync, host: string, { month }: Pick<CurrentPeriods, 'month'>): ClassUse[] {
  const hours =
    "max(0, unixepoch(record ->> 'finishedAt', 'subsec') - unixepoch(record ->> 'startedAt', 'subsec')) / 3600.0";
  return database
    .prepare(
      `SELECT record ->> 'machineClass' AS machineClass, total(${hours} * (record ->> 'unpricedCpus')) AS core,
              total(${hours} * (record ->> 'unpricedGpus')) AS gpu
       FROM jobs WHERE host = ? AND record ->> 'unpricedCpus' IS NOT NULL AND ${ENDED_AT} >= ?
       GROUP BY machineClass HAVING core > 0 ORDER BY core DESC`,
    )
    .all(host, month / 1000)
    .map(({ machineClass, core, gpu }) => ({
      machineClass: typeof machineClass === 'string' ? machineClass : null,
      hours: { core: Number(core), gpu: Number(gpu) },
    }));
}

/** `1.2 credits today, 34.1 this month (vision 20, nlp 14.1)`; undefined if nothing was charged. */
export function describeSpending(projects: readonly ProjectSpending[]): string | undefined {
  const [today, thisMonth] = [sumOf(projects, 'today'), sumOf(projects, 'thisMonth')];
  if (thisMonth === 0) return undefined;
  const text = l10n.t('{0} credits today, {1} this month', formatCredits(today), formatCredits(thisMonth));
  if (projects.every(({ project }) => project === null)) return text;
  const named = projects
    .toSorted((a, b) => b.thisMonth - a.thisMonth)
    .map(({ project, thisMonth: amount }) => `${project ?? l10n.t('no project')} ${formatCredits(amount)}`);
  const more = named.length > NAMED_PROJECTS ? ', …' : '';
  return `${text} (${named.slice(0, NAMED_PROJECTS).join(', ')}${more})`;
}

function sumOf(projects: readonly ProjectSpending[], period: 'today' | 'thisMonth'): number {
  return projects.reduce((sum, project) => sum + project[period], 0);
}
