import { JOB_STATES } from '../../remote/protocol/states.ts';
import {
  choiceFlag,
  type FlagValues,
  jsonFlag,
  numberFlag,
  requiredTextFlag,
  switchFlag,
  textFlag,
} from '../command/flags.ts';

/** The flags of every verb that manages a service. */
export const ADMIN_FLAGS = {
  data: textFlag('--data <dir>', "the service's data folder (default: 'serve' in FARWHARF_HOME)"),
  json: jsonFlag(),
};
export type AdminFlags = FlagValues<typeof ADMIN_FLAGS>;

export const ADD_ACCOUNT_FLAGS = {
  name: textFlag('--name <name>', 'name of the owner'),
  plan: textFlag('--plan <name>', 'plan that the account shows (default: team)'),
  credits: textFlag('--credits <n>', 'initial credits (default: none)'),
  group: textFlag('--group <name>', 'group that the account belongs to (default: none)'),
  ...ADMIN_FLAGS,
};
export type AddAccountFlags = FlagValues<typeof ADD_ACCOUNT_FLAGS>;

export const EDIT_ACCOUNT_FLAGS = {
  name: textFlag('--name <name>', 'new name of the owner'),
  plan: textFlag('--plan <name>', 'new plan that the account shows'),
  group: textFlag('--group <name>', 'group that the account belongs to from now on, or none'),
  ...ADMIN_FLAGS,
};
export type EditAccountFlags = FlagValues<typeof EDIT_ACCOUNT_FLAGS>;

export const LINK_FLAGS = {
  issuer: requiredTextFlag('--issuer <url>', 'issuer of the identity provider, as in the configuration'),
  subject: requiredTextFlag('--subject <id>', "the person's ID at the provider (sub), which the service's log shows"),
  ...ADMIN_FLAGS,
};
export type LinkFlags = FlagValues<typeof LINK_FLAGS>;

export const GROUP_FLAGS = {
  credits: textFlag('--credits <n>', 'limit on the total cost of all jobs of the group, or none'),
  runningJobs: textFlag('--running-jobs <n>', 'how many jobs of the group can run at once, or none for no limit'),
  ...ADMIN_FLAGS,
};
export type GroupFlags = FlagValues<typeof GROUP_FLAGS>;

export const PROJECT_FLAGS = {
  credits: requiredTextFlag('--credits <n>', 'limit on the total cost of all jobs of the project'),
  ...ADMIN_FLAGS,
};
export type ProjectFlags = FlagValues<typeof PROJECT_FLAGS>;

export const LIMIT_FLAGS = {
  runningJobs: textFlag('--running-jobs <n>', 'jobs that run at once; others wait'),
  queuedJobs: textFlag('--queued-jobs <n>', 'jobs that can wait'),
  uploadGb: textFlag('--upload-gb <n>', 'size of one archive'),
  diskGb: textFlag('--disk-gb <n>', 'disk for all files of its jobs'),
  runTime: textFlag('--run-time <time>', 'time limit that a job can request, such as 2h'),
  uploads: textFlag('--uploads <n>', 'uploads at once'),
  streams: textFlag('--streams <n>', 'event streams and downloads at once'),
  requestsPerMinute: textFlag('--requests-per-minute <n>', 'requests per minute; a stream counts once'),
  ...ADMIN_FLAGS,
};
export type LimitFlags = FlagValues<typeof LIMIT_FLAGS>;

export const ADD_KEY_FLAGS = {
  label: textFlag('--label <text>', 'purpose of the key'),
  expires: textFlag('--expires <when>', 'a day (2027-01-31), or a period from now (90d, 12h)'),
  budget: textFlag('--budget <credits>', 'limit on the total cost of all jobs of this key (default: none)'),
  scope: textFlag(
    '--scope <scopes>',
    'only these uses, such as submit,read: submit, read, cancel, secrets, connect (default: all)',
  ),
  ...ADMIN_FLAGS,
};
export type AddKeyFlags = FlagValues<typeof ADD_KEY_FLAGS>;

export const GRANT_FLAGS = {
  note: textFlag('--note <text>', 'reason, for the records'),
  reference: textFlag('--reference <text>', 'unique reference: repeating the command with it has no effect'),
  ...ADMIN_FLAGS,
};
export type GrantFlags = FlagValues<typeof GRANT_FLAGS>;

export const GRANT_ALL_FLAGS = {
  note: textFlag('--note <text>', 'reason, for the records'),
  reference: textFlag(
    '--reference <text>',
    'each account gets it once for this reference (default: the current month)',
  ),
  ...ADMIN_FLAGS,
};
export type GrantAllFlags = FlagValues<typeof GRANT_ALL_FLAGS>;

export const LIST_CREDITS_FLAGS = {
  limit: numberFlag('--limit <n>', 'maximum number of entries', { min: 1, max: 9999, fallback: 50 }),
  ...ADMIN_FLAGS,
};
export type ListCreditsFlags = FlagValues<typeof LIST_CREDITS_FLAGS>;

export const JOBS_FLAGS = {
  account: textFlag('--account <account>', 'only jobs of this account'),
  state: choiceFlag('--state <state>', 'only jobs in this state', JOB_STATES),
  project: textFlag('--project <name>', 'only jobs of this project'),
  machineClass: textFlag('--machine-class <name>', 'only jobs of this machine class'),
  since: textFlag(
    '--since <when>',
    'only jobs submitted since a day (2027-01-31, UTC), or in a period until now (12h, 7d)',
  ),
  limit: numberFlag('--limit <n>', 'maximum number of jobs to list', { min: 1, max: 1000, fallback: 50 }),
  before: textFlag('--before <job>', 'only jobs older than this one, for the next page'),
  ...ADMIN_FLAGS,
};
export type JobsFlags = FlagValues<typeof JOBS_FLAGS>;

export const CANCEL_FLAGS = {
  account: textFlag('--account <account>', 'all unfinished jobs of this account'),
  reason: textFlag('--reason <text>', 'reason that the owner of the job sees'),
  ...ADMIN_FLAGS,
};
export type CancelFlags = FlagValues<typeof CANCEL_FLAGS>;

export const DRAIN_FLAGS = {
  reason: textFlag('--reason <text>', 'reason shown to people whose jobs are refused or waiting'),
  wait: switchFlag('--wait', 'return when no job runs any more'),
  ...ADMIN_FLAGS,
};
export type DrainFlags = FlagValues<typeof DRAIN_FLAGS>;

export const AUDIT_FLAGS = {
  account: textFlag('--account <account>', 'only entries about this account'),
  key: textFlag('--key <key>', 'only entries about this key ID'),
  job: textFlag('--job <job>', 'only entries about this job ID'),
  verb: textFlag('--verb <verb>', 'only this action, such as keys.revoke, or all of a kind, such as keys'),
  user: textFlag('--user <user>', 'only actions of this user of the machine, also through sudo'),
  from: textFlag('--from <day>', 'from this day on, UTC (default: all)'),
  limit: numberFlag('--limit <n>', 'maximum number of entries', { min: 1, max: 9999, fallback: 50 }),
  verify: switchFlag('--verify', 'check every entry against the one before it, and name the first broken one'),
  expect: textFlag('--expect <hash>', 'with --verify, fail if no entry has this hash, which an earlier check printed'),
  ...ADMIN_FLAGS,
};
export type AuditFlags = FlagValues<typeof AUDIT_FLAGS>;

export const USAGE_FLAGS = {
  from: textFlag('--from <day>', 'first day, UTC (default: the first of the month)'),
  to: textFlag('--to <day>', 'last day, UTC (default: today)'),
  account: textFlag('--account <account>', 'only this account'),
  by: textFlag(
    '--by <groups>',
    'account, group, project, class, or several, separated by commas (default: account,class)',
  ),
  csv: switchFlag('--csv', 'print comma-separated values'),
  ...ADMIN_FLAGS,
};
export type UsageFlags = FlagValues<typeof USAGE_FLAGS>;
