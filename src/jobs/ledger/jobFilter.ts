import { describeParameters } from './parameters.ts';
import { type JobIcon, jobIcon } from './jobIcon.ts';
import type { JobRecord } from './record.ts';

/** Which jobs a list shows. An empty field allows every job. */
export interface JobFilter {
  /** Each word must be in the script, folder, project, service, IDs, parameters, reason or last line of the job. Case is ignored. */
  readonly text: string;
  readonly states: readonly JobIcon[];
  readonly hosts: readonly string[];
  /** The empty name is that of jobs without a project. */
  readonly projects: readonly string[];
}

export const NO_FILTER: JobFilter = { text: '', states: [], hosts: [], projects: [] };

export function isFiltering({ text, states, hosts, projects }: JobFilter): boolean {
  return text.trim() !== '' || states.length + hosts.length + projects.length > 0;
}

/** A function that returns whether a job passes the filter. */
export function jobMatcher({ text, states, hosts, projects }: JobFilter): (record: JobRecord) => boolean {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const allows = <T>(allowed: readonly T[], value: T): boolean => allowed.length === 0 || allowed.includes(value);
  return (record) => {
    if (!allows(hosts, record.host) || !allows(projects, record.project ?? '')) return false;
    if (states.length > 0 && !states.includes(jobIcon(record))) return false;
    if (words.length === 0) return true;
    const searched = searchedText(record);
    return words.every((word) => searched.includes(word));
  };
}

function searchedText(record: JobRecord): string {
  const { script, folder, project, host, jobId, id, sweep, reason, lastLogLine, machineClass } = record;
  const parameters = sweep === null ? '' : `${sweep.name} ${describeParameters(sweep.parameters)}`;
  return [script, folder, project, host, jobId, id, parameters, reason, lastLogLine, machineClass]
    .join('\n')
    .toLowerCase();
}
