import { access, constants, mkdir } from 'node:fs/promises';
import { AppError, messageOf } from '../core/errors.ts';
import { formatBytes } from '../core/text/format.ts';
import { type ServiceConfig, sharedFolderOf, slurmResourcesOf } from './config/config.ts';
import { describeClusterJobs, describeIsolation, findIsolation } from './process/isolation.ts';
import { unisolatedRefusal } from './process/isolationRule.ts';
import { countEnabledAccounts } from './admin/enabledAccounts.ts';
import { Health } from './http/health.ts';
import { LogFile } from './log/logFile.ts';
import { refuseNested } from './folders/filesFolder.ts';
import { readCertificate } from './tls/certificate.ts';
import { dataIsReadable } from './slurm/privacyCheck.ts';
import { canJobsRead } from './slurm/privacyProbe.ts';
import { slurm } from './slurm/slurmCommand.ts';
import type { SlurmResources } from './config/slurmConfig.ts';
import { resourceArguments } from './slurm/submission.ts';

// For a cluster with room; one that is busy is not waited for.
const PROBE_WAIT_MS = 60_000;
const UNANSWERED = `a probe reported nothing within ${PROBE_WAIT_MS / 1000} s. The cluster may be busy, or its nodes may not see the folder of jobs' files. No job starts before a probe has reported.`;

/** Something that was looked at before a service is started. */
export interface CheckedThing {
  readonly what: string;
  /** What is wrong; undefined where nothing is. */
  readonly problem: string | undefined;
}

/**
 * Looks whether a service with this configuration could run its jobs: the data folder and its disk, the log, the certificate,
 * Slurm's programs, each machine class.
 */
export async function checkService(config: ServiceConfig, data: string): Promise<readonly CheckedThing[]> {
  const shared = sharedFolderOf(config);
  const folders = shared === undefined ? [] : await checkFolders(data, shared);
  return [...folders, ...(await checkMachine(config, data)), ...(await checkExecutor(config, data))];
}

async function checkFolders(data: string, shared: string): Promise<readonly CheckedThing[]> {
  const apart = await problemOf(() => refuseNested(data, shared));
  return [
    { what: `the data folder and the files of jobs in ${shared} are apart`, problem: apart },
    { what: `${shared} can be written`, problem: await problemOf(() => makeWritable(shared)) },
  ];
}

async function checkMachine({ log, retention, tls }: ServiceConfig, data: string): Promise<readonly CheckedThing[]> {
  const things = [
    { what: `the data folder ${data} can be written`, problem: await problemOf(() => makeWritable(data)) },
  ];
  const health = new Health({
    store: { file: { probe: () => {} } },
    folders: [data],
    minFreeBytes: retention.min_free_gb * 1e9,
  });
  const [problem] = await health.problems();
  things.push({ what: `its disk has more than ${formatBytes(retention.min_free_gb * 1e9)} left`, problem });
  if (log.file !== undefined) {
    const { file } = log;
    const problemOfLog = await problemOf(() => new LogFile(file).dispose());
    things.push({ what: `the log file ${file} can be written`, problem: problemOfLog });
  }
  if (tls !== undefined) {
    const problemOfTls = await problemOf(() => readCertificate(tls));
    things.push({ what: `the certificate ${tls.cert} and its key belong together`, problem: problemOfTls });
  }
  return things;
}

async function checkExecutor(config: ServiceConfig, data: string): Promise<readonly CheckedThing[]> {
  if (config.executor === 'process') return [await checkIsolation(config, data)];
  let partitions = new Set<string>();
  const cluster = {
    what: 'the cluster answers',
    problem: await problemOf(async () => {
      partitions = new Set((await slurm('sinfo', ['-h', '-o', '%R'])).split('\n').filter((name) => name !== ''));
    }),
  };
  const submit = { what: 'jobs can be submitted', problem: await problemOf(() => slurm('sbatch', ['--version'])) };
  if (cluster.problem !== undefined) return [cluster, submit];
  const classes: CheckedThing[] = [];
  for (const [name, resources] of slurmResourcesOf(config)) {
    const { partition } = resources;
    const where = partition === undefined ? "the cluster's own default partition" : `partition ${partition}`;
    classes.push({ what: `machine class ${name}: ${where}`, problem: await problemOfClass(resources, partitions) });
  }
  const privacy = await checkPrivacy(config, data);
  return [cluster, submit, ...classes, ...privacy, { what: describeClusterJobs(), problem: undefined }];
}

/** Lets a job in each partition try to read the data folder. */
function checkPrivacy(config: ServiceConfig, data: string): Promise<readonly CheckedThing[]> {
  const filesFolder = sharedFolderOf(config) ?? data;
  const places = new Map(
    [...slurmResourcesOf(config).values()].map((each) => [JSON.stringify([each.partition, each.sbatch]), each]),
  );
  return Promise.all(
    [...places.values()].map(async (place): Promise<CheckedThing> => {
      const where = place.partition === undefined ? 'jobs' : `jobs of partition ${place.partition}`;
      const what = `${where} cannot read the data folder`;
      try {
        const isReadable = await canJobsRead({ data, filesFolder }, place, AbortSignal.timeout(PROBE_WAIT_MS));
        return { what, problem: isReadable ? dataIsReadable(data, place).message : undefined };
      } catch (error) {
        const why = error instanceof AppError ? messageOf(error) : UNANSWERED;
        return { what: `NOT KNOWN whether ${where} can read the data folder: ${why}`, problem: undefined };
      }
    }),
  );
}

/** Asks the cluster whether it would ever start such a job, without submitting one. */
async function problemOfClass(resources: SlurmResources, partitions: ReadonlySet<string>): Promise<string | undefined> {
  const { partition } = resources;
  if (partition !== undefined && !partitions.has(partition)) return `the cluster has ${[...partitions].join(', ')}`;
  const trial = ['--test-only', '--time=1', '--wrap=true', ...resourceArguments(resources)];
  return problemOf(() => slurm('sbatch', trial));
}

async function checkIsolation(config: ServiceConfig, data: string): Promise<CheckedThing> {
  try {
    const isolation = await findIsolation(config, data);
    const accounts = await countEnabledAccounts(data);
    return { what: describeIsolation(isolation), problem: unisolatedRefusal(isolation, () => accounts) };
  } catch (error) {
    return { what: 'jobs are isolated', problem: messageOf(error) };
  }
}

async function makeWritable(data: string): Promise<void> {
  await mkdir(data, { recursive: true, mode: 0o700 });
  await access(data, constants.W_OK);
}

async function problemOf(look: () => unknown): Promise<string | undefined> {
  try {
    await look();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
