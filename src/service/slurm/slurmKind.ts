import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod';
import { AppError } from '../../core/errors.ts';
import { machineClassList } from '../config/machineClasses.ts';
import { defineExecutor } from '../executor/executorKind.ts';
import { type ClusterUsers, findClusterUsers, openFilesFolder } from './clusterUsers.ts';
import { PrivacyCheck } from './privacyCheck.ts';
import { checkCluster } from './slurmCheck.ts';
import { slurmMachineClass, slurmSettings } from './batch/slurmConfig.ts';
import { SlurmExecutor } from './slurmExecutor.ts';

/** Runs jobs on a Slurm cluster. */
export const slurmKind = defineExecutor({
  shape: {
    // Without the section, the message is about the folder that it must name.
    slurm: z.preprocess((section) => section ?? {}, slurmSettings),
    machine_classes: machineClassList(slurmMachineClass, 'the executor "slurm" needs at least one'),
  },

  sharedFolder: ({ slurm }) => slurm.folder,

  mayLeaveJobs: ({ slurm }) => slurm.service === 'while-connected',

  async create({ slurm, machine_classes: classes }, context) {
    const { runner, data, filesFolder, accounts: countAccounts, isPersonal, log } = context;
    if (!isPersonal && slurm.service === 'while-connected') {
      throw new AppError(
        'bad-input',
        'slurm.service: only the service of one person, which farwharf connect starts, can be "while-connected".',
      );
    }
    const users = await findClusterUsers(slurm);
    const [first] = users.all;
    if (first === undefined) throw new AppError('bad-input', 'No account has a user of the cluster.');
    log.info(describeClusterJobs(users));
    openFilesFolder(filesFolder, first.isPerson);
    const { node = process.execPath, max_jobs: capacity, poll_seconds: seconds, scripts: scriptKinds } = slurm;
    const accounts = new Map(Object.entries(slurm.accounts));
    for (const { id } of users.all) {
      const changeable = changeableByJobs([node, runner], id);
      if (changeable !== undefined) log.warn(changeable);
    }
    // On a personal service, jobs may read the person's own home, which clusters share with their nodes.
    const isNeeded = (): boolean => !isPersonal || countAccounts() > 1;
    const privacy = new PrivacyCheck({ data, filesFolder, user: first, classes, isNeeded, log });
    try {
      await privacy.start();
    } catch (error) {
      await privacy.stop();
      throw error;
    }
    const program = { node, runner, hasLoginEnvironment: slurm.login_environment };
    // Jobs of persons cannot write to folders of the service; otherwise jobs of all accounts are those of one user.
    const keepsEnvironments = (): boolean => users.all.every(({ isPerson }) => !isPerson) && countAccounts() < 2;
    const pollMs = seconds * 1000;
    const separation = { privacy, users, keepsEnvironments };
    return new SlurmExecutor({ ...separation, program, classes, accounts, scriptKinds, capacity, pollMs, log });
  },

  async check({ slurm, machine_classes: classes }, { data, volumes }) {
    const users = await findClusterUsers(slurm);
    const folders = { data, filesFolder: slurm.folder };
    if (slurm.submit_as === 'account') openFilesFolder(slurm.folder, true);
    const { accounts, login_environment: hasLoginEnvironment } = slurm;
    const checked = { classes, accounts, users, hasLoginEnvironment, volumes };
    const checks = await checkCluster(checked, folders);
    return [...checks, { what: describeClusterJobs(users), problem: undefined }];
  },
});
const OTHERS_MAY_WRITE = 0o002;

/** One line about what separates jobs on the cluster besides their resources. */
function describeClusterJobs({ all }: ClusterUsers): string {
  const names = all.map(({ name }) => name).join(', ');
  return all.some(({ isPerson }) => isPerson)
    ? `jobs are separated by the permissions of their users: on the nodes they run as ${names}, and cannot access the files of other users' jobs`
    : `jobs are NOT isolated: on the nodes they run as the user ${names}, like the service, and can access the files of all other jobs`;
}

/**
 * A sentence about a file that jobs could change; undefined if they cannot. Jobs on a cluster run as the service's user, so they can
 * replace what that user owns on a shared file system, and the next start of the service would run it.
 *
 * @param user the ID of the user that the service and its jobs run as. Root can change everything, so it is not checked.
 */
export function changeableByJobs(paths: readonly string[], user = process.geteuid?.()): string | undefined {
  if (user === undefined || user === 0) return undefined;
  const changeable = paths
    .map((path) => realpathSync(path))
    .flatMap((path) => [path, dirname(path)])
    .find((path) => {
      const { uid, mode } = statSync(path);
      return uid === user || (mode & OTHERS_MAY_WRITE) !== 0;
    });
  if (changeable === undefined) return undefined;
  return `jobs may be able to change ${changeable}, which this service runs: it belongs to their user, or everyone can write it. If the nodes see it, make root the owner of it and of the folders above it.`;
}
