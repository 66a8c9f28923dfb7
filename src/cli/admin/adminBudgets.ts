import { AppError } from '../../core/errors.ts';
import { formatCount, formatCredits } from '../../core/text/format.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { AdminBudget, AdminGroup } from '../../service/admin/budgetOperations.ts';
import { adminCommand } from './dataFolder.ts';
import type { Context } from '../command/commandContext.ts';
import { answerTable, type RecordColumn } from '../command/recordTable.ts';
import { parseCredits } from './adminAccounts.ts';
import type { AdminFlags, GroupFlags, ProjectFlags } from './adminFlags.ts';
import { askAdmin, findAdmin } from './adminService.ts';

const SHARED: readonly RecordColumn<AdminBudget>[] = [
  { title: 'CREDITS', cell: ({ credits }) => limitOf(credits), align: 'right' },
  { title: 'USED', cell: ({ credits_used: used }) => formatCredits(used), align: 'right' },
  { title: 'LEFT', cell: ({ credits_left: left }) => limitOf(left), align: 'right' },
];
const PROJECT_COLUMNS: readonly RecordColumn<AdminBudget>[] = [
  { title: 'PROJECT', cell: ({ name }) => name, minWidth: 8 },
  ...SHARED,
];
const GROUP_COLUMNS: readonly RecordColumn<AdminGroup>[] = [
  { title: 'GROUP', cell: ({ name }) => name },
  ...SHARED,
  { title: 'RUNNING', cell: ({ running_jobs: most }) => (most === null ? '' : `at most ${most}`), dropOrder: 2 },
  { title: 'ACCOUNTS', cell: ({ account_ids: ids }) => ids.join(', '), minWidth: 10, dropOrder: 1 },
];

/** `farwharf admin group add NAME`. JSON: the group. */
export async function addGroup(context: Context, name: string, flags: GroupFlags): Promise<void> {
  using admin = await findAdmin(context, flags, { mayCreate: true });
  const group = await admin.call('groups.add', { name, ...limitsOf(flags) });
  answerGroup(context, group);
  context.terminal.note(`Add an account to it:  ${adminCommand(`account edit ada --group ${name}`, flags)}`);
}

/** `farwharf admin group edit NAME`: changes what is named. JSON: the group. */
export async function editGroup(context: Context, name: string, flags: GroupFlags): Promise<void> {
  const limits = limitsOf(flags);
  if (Object.keys(limits).length === 0)
    throw new AppError('bad-input', 'Nothing to change. Use --credits, --running-jobs, or both.');
  using admin = await findAdmin(context, flags);
  answerGroup(context, await admin.call('groups.edit', { name, ...limits }));
}

/** `farwharf admin group list`. JSON: `{ groups: [...] }`. */
export async function listGroups(context: Context, _: string, flags: AdminFlags): Promise<void> {
  const answer = await askAdmin(context, flags, 'groups.list', {});
  const none = `There are no groups. Add one with:  ${adminCommand('group add NAME', flags)}`;
  if (answer !== undefined) answerTable(context.terminal, GROUP_COLUMNS, answer.groups, { none });
}

/** `farwharf admin group remove NAME`. JSON: the group as it was. */
export async function removeGroup(context: Context, name: string, flags: AdminFlags): Promise<void> {
  const group = await askAdmin(context, flags, 'groups.remove', { name });
  if (group === undefined) return;
  const members = formatCount(group.account_ids.length, 'account');
  context.terminal.answer(`Group ${name} was removed. It had ${members}, whose jobs continue.`);
}

/** `farwharf admin project add NAME`. JSON: the project. */
export async function addProject(context: Context, name: string, flags: ProjectFlags): Promise<void> {
  using admin = await findAdmin(context, flags, { mayCreate: true });
  const project = await admin.call('projects.add', { name, credits: parseCredits(flags.credits) });
  answerBudget(context, 'Project', project);
}

/** `farwharf admin project edit NAME`. JSON: the project. */
export async function editProject(context: Context, name: string, flags: ProjectFlags): Promise<void> {
  using admin = await findAdmin(context, flags);
  const project = await admin.call('projects.edit', { name, credits: parseCredits(flags.credits) });
  answerBudget(context, 'Project', project);
}

/** `farwharf admin project list`. JSON: `{ projects: [...] }`. */
export async function listProjects(context: Context, _: string, flags: AdminFlags): Promise<void> {
  const answer = await askAdmin(context, flags, 'projects.list', {});
  const none = `No project has a budget. What each used:  ${adminCommand('usage --by project', flags)}`;
  if (answer !== undefined) answerTable(context.terminal, PROJECT_COLUMNS, answer.projects, { none });
}

/** `farwharf admin project remove NAME`. JSON: the project as it was. */
export async function removeProject(context: Context, name: string, flags: AdminFlags): Promise<void> {
  if ((await askAdmin(context, flags, 'projects.remove', { name })) === undefined) return;
  context.terminal.answer(`Project ${printableLine(name)} has no budget any more. Its jobs continue.`);
}

function limitsOf({ credits, runningJobs }: GroupFlags) {
  return {
    ...(credits !== undefined && { credits: credits === 'none' ? null : parseCredits(credits) }),
    ...(runningJobs !== undefined && { running_jobs: runningJobs === 'none' ? null : parseCount(runningJobs) }),
  };
}

function parseCount(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new AppError('bad-input', 'Invalid value for --running-jobs. Enter a number, or the word none.');
}

function answerGroup(context: Context, group: AdminGroup): void {
  const { running_jobs: most, account_ids: ids } = group;
  const quota = most === null ? '' : `, at most ${formatCount(most, 'job')} at once`;
  answerBudget(
    context,
    'Group',
    group,
    `${quota}; ${ids.length === 0 ? 'no accounts' : formatCount(ids.length, 'account')}`,
  );
}

function answerBudget({ terminal }: Context, kind: string, budget: AdminBudget, rest = ''): void {
  if (terminal.json(budget)) return;
  const { name, credits, credits_used: used } = budget;
  const most = credits === null ? 'no limit of credits' : `${formatCredits(credits)} credits`;
  terminal.answer(`${kind} ${printableLine(name)}: ${most}, ${formatCredits(used)} used${rest}`);
}

function limitOf(credits: number | null): string {
  return credits === null ? 'no limit' : formatCredits(credits);
}
