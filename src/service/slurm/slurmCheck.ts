import { AppError } from '../../core/errors.ts';
import { type Check, problemOf } from '../executor/executorKind.ts';
import { dataIsReadable } from './privacyCheck.ts';
import { canJobsRead, type ProbedFolders } from './privacyProbe.ts';
import { slurm } from './slurmCommand.ts';
import type { SlurmAccount, SlurmMachineClass } from './slurmConfig.ts';
import { accountArguments, resourceArguments } from './submission.ts';

// Enough for a cluster with free nodes. A busy one is not waited for.
const PROBE_WAIT_MS = 60_000;
const UNANSWERED = `a probe reported nothing within ${PROBE_WAIT_MS / 1000} s. The cluster may be busy, or its nodes may not see the folder of jobs' files. No job starts before a probe has reported.`;

interface Checked {
  readonly classes: readonly SlurmMachineClass[];
  readonly accounts: Readonly<Record<string, SlurmAccount>>;
}

/** Checks Slurm's programs, each machine class, each account's settings, and that jobs cannot read the data folder. */
export async function checkCluster({ classes, accounts }: Checked, folders: ProbedFolders): Promise<readonly Check[]> {
  let partitions = new Set<string>();
  const cluster = {
    what: 'the cluster answers',
    problem: await problemOf(async () => {
      partitions = new Set((await slurm('sinfo', ['-h', '-o', '%R'])).split('\n').filter((name) => name !== ''));
    }),
  };
  const submit = { what: 'jobs can be submitted', problem: await problemOf(() => slurm('sbatch', ['--version'])) };
  if (cluster.problem !== undefined) return [cluster, submit];
  const checks: Check[] = [cluster, submit];
  for (const one of classes) {
    const where = one.partition === undefined ? "the cluster's own default partition" : `partition ${one.partition}`;
    checks.push({ what: `machine class ${one.name}: ${where}`, problem: await problemOfClass(one, partitions) });
  }
  for (const [id, account] of Object.entries(accounts)) {
    checks.push({ what: `account ${id}: jobs with its settings`, problem: await problemOfAccount(account, classes) });
  }
  const places = new Map(classes.map((one) => [JSON.stringify([one.partition, one.sbatch]), one]));
  return [...checks, ...(await Promise.all([...places.values()].map((place) => checkPrivacy(place, folders))))];
}

/** Submits a job that tries to read the data folder. */
async function checkPrivacy(place: SlurmMachineClass, folders: ProbedFolders): Promise<Check> {
  const where = place.partition === undefined ? 'jobs' : `jobs of partition ${place.partition}`;
  try {
    const isReadable = await canJobsRead(folders, place, AbortSignal.timeout(PROBE_WAIT_MS));
    const problem = isReadable ? dataIsReadable(folders.data, place).message : undefined;
    return { what: `${where} cannot read the data folder`, problem };
  } catch (error) {
    const why = error instanceof AppError ? error.message : UNANSWERED;
    return { what: `NOT KNOWN whether ${where} can read the data folder: ${why}`, problem: undefined };
  }
}

/** Asks the cluster whether it would ever start such a job, without submitting one. */
async function problemOfClass(one: SlurmMachineClass, partitions: ReadonlySet<string>): Promise<string | undefined> {
  if (one.partition !== undefined && !partitions.has(one.partition)) {
    return `the cluster has ${[...partitions].join(', ')}`;
  }
  return problemOf(() => testOnly(resourceArguments(one)));
}

/** Undefined if the cluster accepts an account's jobs of at least one class: a reservation or QoS may be for some partitions. */
async function problemOfAccount(
  account: SlurmAccount,
  classes: readonly SlurmMachineClass[],
): Promise<string | undefined> {
  let problem: string | undefined;
  for (const one of classes) {
    problem = await problemOf(() => testOnly([...resourceArguments(one), ...accountArguments(account)]));
    if (problem === undefined) return undefined;
  }
  return problem;
}

async function testOnly(args: readonly string[]): Promise<void> {
  await slurm('sbatch', ['--test-only', '--time=1', '--wrap=true', ...args]);
}
