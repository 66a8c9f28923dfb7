import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AppError, messageOf, systemCode } from '../../core/errors.ts';
import { findProgram } from '../../core/processes/findProgram.ts';
import { shellWord } from '../../core/text/shellWord.ts';
import type { SlurmSettings } from './batch/slurmConfig.ts';

const run = promisify(execFile);
const ROOT = 0;
// Others may pass through to a path that they know, but list nothing.
const PASSABLE = 0o711;
const PRIVATE = 0o700;

/** A user of this machine and of the cluster. */
export interface ClusterUser {
  readonly name: string;
  readonly id: number;
  /** Whether it is another user than the service's, so that its jobs are submitted through sudo. */
  readonly isPerson: boolean;
}

/** The users as whom the jobs of each account are submitted. */
export interface ClusterUsers {
  readonly all: readonly ClusterUser[];
  /** Undefined for an account whose jobs cannot be submitted, because the configuration has no user for it. */
  of(account: string): ClusterUser | undefined;
}

/**
 * Looks up the users that the configuration names.
 *
 * @throws AppError `bad-input` for one that does not exist, or whose jobs could do what the service can.
 */
export async function findClusterUsers({ submit_as: submitAs, accounts }: ClusterAccounts): Promise<ClusterUsers> {
  if (submitAs === 'service') {
    const { username: name, uid: id } = userInfo();
    const own = { name, id, isPerson: false };
    return { all: [own], of: () => own };
  }
  const users = new Map<string, ClusterUser>();
  for (const [account, { user }] of Object.entries(accounts)) {
    if (user !== undefined) users.set(account, { name: user, id: await idOf(user, account), isPerson: true });
  }
  // Accounts may share a user.
  const all = new Map([...users.values()].map((user) => [user.id, user]));
  return { all: [...all.values()], of: (account) => users.get(account) };
}

type ClusterAccounts = Pick<SlurmSettings, 'submit_as' | 'accounts'>;

async function idOf(user: string, account: string): Promise<number> {
  const where = `slurm.accounts.${account}.user`;
  const id = await run('id', ['-u', '--', user]).then(
    ({ stdout }) => Number(stdout),
    () => undefined,
  );
  if (id === undefined) {
    const message = `${where}: the user ${user} does not exist on this machine. Create it, or correct the name.`;
    throw new AppError('bad-input', message);
  }
  if (id === ROOT || id === process.getuid?.()) {
    const message = `${where}: jobs of ${user} could read the service's keys and credits. Name the person's own user.`;
    throw new AppError('bad-input', message);
  }
  return id;
}

/** The command that runs a program as another user. The rule of sudo names the program by its path. */
export function asUser(user: string, program: string, args: readonly string[]): readonly [string, ...string[]] {
  return ['sudo', '-n', '-u', user, '--', pathOf(program), ...args];
}

/** The lines for sudoers that let the service submit and cancel jobs as these users, and connect to them. */
export function sudoersLines(users: readonly Pick<ClusterUser, 'name'>[]): string {
  const { username } = userInfo();
  const programs = ['sbatch', 'scancel', 'srun'].map(pathOf).join(', ');
  const rule = `${username} ALL=(${users.map(({ name }) => name).join(', ')}) NOPASSWD: ${programs}`;
  // sudo removes all other variables, and this one says where the cluster is.
  return process.env['SLURM_CONF'] === undefined ? rule : `Defaults:${username} env_keep += "SLURM_CONF"\n${rule}`;
}

function pathOf(program: string): string {
  return findProgram(program, process.env['PATH'] ?? '') ?? program;
}

/**
 * Lets the users of jobs reach their own folders below the folder of all jobs' files, or nobody.
 *
 * @throws the system's error.
 */
export function openFilesFolder(filesFolder: string, arePersons: boolean): void {
  for (const folder of [filesFolder, join(filesFolder, 'jobs'), join(filesFolder, 'probes')]) {
    mkdirSync(folder, { recursive: true, mode: PRIVATE });
    chmodSync(folder, arePersons ? PASSABLE : PRIVATE);
  }
}

/**
 * Lets a user read and write a folder of the service with all its contents, and the service what the user will make in it. Nobody else
 * can pass the folder. Access control lists need no group that only the two are in, and keep the umask of the user's programs.
 *
 * @throws AppError `missing` if setfacl is not installed, `refused` if the file system has no such lists.
 */
export async function shareFolder(folder: string, { id }: Pick<ClusterUser, 'id'>): Promise<void> {
  const both = [id, process.getuid?.() ?? ROOT];
  const entries = both.flatMap((user) => [`u:${user}:rwX`, `d:u:${user}:rwX`]);
  try {
    await run('setfacl', ['--recursive', '--physical', '--modify', entries.join(','), '--', folder]);
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') {
      const message = 'setfacl was not found. Install it on this machine (on Debian and Ubuntu the package acl).';
      throw new AppError('missing', message, { cause });
    }
    const message = `The folder ${shellWord(folder)} cannot be shared with the user of its job: ${messageOf(cause)}. Choose a file system with POSIX access control lists for [slurm] folder.`;
    throw new AppError('refused', message, { cause });
  }
}
