import { AppError } from '../../core/errors.ts';
import type { VolumeSettings } from '../config/volumesConfig.ts';
import { type ExecutorCheck, problemOf } from '../executor/executorKind.ts';
import { canJobsRead, dataIsReadable, type Probe } from './privacyCheck.ts';
import { checkClass } from './classProbe.ts';
import { type ClusterUser, type ClusterUsers, sudoersLines } from './clusterUsers.ts';
import { optionArguments } from './batch/jobOptions.ts';
import { slurm } from './slurmCommand.ts';
import type { SlurmAccount, SlurmMachineClass } from './batch/slurmConfig.ts';
import { resourceArguments } from './batch/sbatchSubmission.ts';

// Enough for a cluster with free nodes. A busy one is not waited for.
const PROBE_WAIT_MS = 60_000;
const UNANSWERED = `a probe reported nothing within ${PROBE_WAIT_MS / 1000} s. The cluster may be busy, or its nodes may not see the folder of jobs' files. No job starts before a probe has reported.`;

interface Checked {
  readonly classes: readonly SlurmMachineClass[];
  readonly accounts: Readonly<Record<string, SlurmAccount>>;
  readonly users: ClusterUsers;
  /** Whether jobs start with the login environment of their node. */
  readonly hasLoginEnvironment: boolean;
  readonly volumes: readonly VolumeSettings[];
}

/**
 * Checks Slurm's programs, each machine class with what its jobs need of their node, as whom jobs are submitted, each account's settings,
 * and that jobs cannot read the data folder.
 */
export async function checkCluster(
  { classes, accounts, users, hasLoginEnvironment, volumes }: Checked,
  folders: Omit<Probe, 'user'>,
): Promise<readonly ExecutorCheck[]> {
  let partitions = new Set<string>();
  const cluster = {
    what: 'the cluster answers',
    problem: await problemOf(async () => {
      partitions = new Set((await slurm('sinfo', ['-h', '-o', '%R'])).split('\n').filter((name) => name !== ''));
    }),
  };
  const submit = { what: 'jobs can be submitted', problem: await problemOf(() => slurm('sbatch', ['--version'])) };
  if (cluster.problem !== undefined) return [cluster, submit];
  const checks: ExecutorCheck[] = [cluster, submit];
  const { check, allowed } = await checkRule(users.all);
  checks.push(...(check === undefined ? [] : [check]));
  // Whatever else is submitted would fail for the same reason.
  const [user] = allowed;
  if (user === undefined) return checks;
  for (const one of classes) {
    const where = one.partition === undefined ? "the cluster's own default partition" : `partition ${one.partition}`;
    checks.push({ what: `machine class ${one.name}: ${where}`, problem: await problemOfClass(one, partitions, user) });
  }
  for (const [id, account] of Object.entries(accounts)) {
    const what = `account ${id}: jobs with its settings`;
    checks.push({ what, problem: await problemOfAccount(account, classes, users.of(id)) });
  }
  const places = new Map(classes.map((one) => [JSON.stringify([one.partition, one.sbatch]), one]));
  const { filesFolder } = folders;
  const probes = [
    ...[...places.values()].map((place) => checkPrivacy(place, { ...folders, user })),
    ...classes.map((one) => checkClass(one, { filesFolder, user, hasLoginEnvironment }, volumes)),
  ];
  return [...checks, ...(await Promise.all(probes)).filter((check) => check !== undefined)];
}

/** Submits a job that tries to read the data folder. */
async function checkPrivacy(place: SlurmMachineClass, probe: Probe): Promise<ExecutorCheck> {
  const where = place.partition === undefined ? 'jobs' : `jobs of partition ${place.partition}`;
  try {
    const isReadable = await canJobsRead(probe, place, AbortSignal.timeout(PROBE_WAIT_MS));
    const problem = isReadable ? dataIsReadable(probe.data, place).message : undefined;
    return { what: `${where} cannot read the data folder`, problem };
  } catch (error) {
    const why = error instanceof AppError ? error.message : UNANSWERED;
    return { what: `NOT KNOWN whether ${where} can read the data folder: ${why}`, problem: undefined };
  }
}

/** Runs what the rule of sudo must allow. No check without other users than the service's. */
async function checkRule(
  users: readonly ClusterUser[],
): Promise<{ readonly check?: ExecutorCheck; readonly allowed: readonly ClusterUser[] }> {
  const persons = users.filter(({ isPerson }) => isPerson);
  if (persons.length === 0) return { allowed: users };
  const problems: string[] = [];
  const allowed: ClusterUser[] = [];
  for (const user of persons) {
    const problem = await problemOf(async () => {
      for (const program of ['sbatch', 'scancel', 'srun'] as const) await slurm(program, ['--version'], { user });
    });
    if (problem === undefined) allowed.push(user);
    else problems.push(problem);
  }
  const what = `jobs can be submitted and cancelled as ${persons.map(({ name }) => name).join(', ')}`;
  const [first] = problems;
  const howTo = `Run  visudo -f /etc/sudoers.d/farwharf  and add:\n${sudoersLines(persons)}`;
  return { check: { what, problem: first === undefined ? undefined : `${first} ${howTo}` }, allowed };
}

/** Asks the cluster whether it would ever start such a job, without submitting one. */
async function problemOfClass(
  one: SlurmMachineClass,
  partitions: ReadonlySet<string>,
  user: ClusterUser,
): Promise<string | undefined> {
  if (one.partition !== undefined && !partitions.has(one.partition)) {
    return `the cluster has ${[...partitions].join(', ')}`;
  }
  return problemOf(() => testOnly(resourceArguments(one), user));
}

/** Undefined if the cluster accepts an account's jobs of at least one class: a reservation or QoS may be for some partitions. */
async function problemOfAccount(
  account: SlurmAccount,
  classes: readonly SlurmMachineClass[],
  user: ClusterUser | undefined,
): Promise<string | undefined> {
  if (user === undefined) return 'it has no user, as whom its jobs would be submitted: add  user = "…"';
  let problem: string | undefined;
  for (const one of classes) {
    problem = await problemOf(() => testOnly([...resourceArguments(one), ...optionArguments(account)], user));
    if (problem === undefined) return undefined;
  }
  return problem;
}

async function testOnly(args: readonly string[], user: ClusterUser): Promise<void> {
  await slurm('sbatch', ['--test-only', '--time=1', '--wrap=true', ...args], { user });
}
