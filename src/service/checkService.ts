import { access, constants, lstat, mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { formatBytes, formatCount } from '../core/text/format.ts';
import { previewRetention, type RetentionPreview } from './admin/diskOperations.ts';
import { type ExecutorCheck, problemOf } from './executor/executorKind.ts';
import { EXECUTORS, type Executors } from './executors.ts';
import { filesFolderOf, refuseNested } from './folders/filesFolder.ts';
import { refuseNetworkFileSystem } from './folders/networkFileSystem.ts';
import { checkDisk } from './health/parts.ts';
import { ServiceLogFile } from './serviceLog.ts';
import {
  executorOf,
  hiddenFiles,
  leastAccounts,
  ownPaths,
  type ServiceConfig,
  sharedFolderOf,
} from './serviceConfig.ts';
import { readCertificate } from './http/certificate.ts';
import { checkVolume } from './folders/checkVolumes.ts';
import { openAdmin } from './admin/adminClient.ts';
import type { RetentionSettings } from './config/configSections.ts';
import { JobFiles } from './jobFiles/jobFiles.ts';
import { ExpiryTable } from './store/jobs/expiry.ts';
import { RetentionRecord } from './store/jobs/retentionRecord.ts';

/**
 * Checks whether a service with this configuration could run its jobs: its folders and their disk, the log, the certificate,
 * the identity provider, what its retention would delete, and what the executor needs. Folders and files that it creates for that are removed
 * again: somebody else than the user of the service may run it.
 */
export async function checkService(
  config: ServiceConfig,
  data: string,
  executors: Executors = EXECUTORS,
): Promise<{ readonly checks: readonly ExecutorCheck[]; readonly retention: RetentionPreview | undefined }> {
  const shared = await sharedFolderOf(config, executors);
  const paths = [data, shared, config.log.file].filter((path) => path !== undefined);
  await using _created = await TemporaryPaths.of(paths);
  const folders = shared === undefined ? [] : await checkFolders(data, shared);
  const machineChecks = await checkMachine(config, data);
  const accounts = async (): Promise<number> => Math.max(leastAccounts(config), await countEnabledAccounts(data));
  const executor = await executorOf(config, executors);
  const retention = await checkRetention(data, config.retention);
  const jobs = await executor.check(config, { data, hidden: hiddenFiles(config), volumes: config.volumes, accounts });
  const signIns = await checkSignIns(config);
  const volumes = await checkVolumes(config, shared === undefined ? [data] : [data, shared]);
  const checks = [...folders, ...machineChecks, ...volumes, ...signIns, retention.check, ...jobs];
  return { checks, retention: retention.preview };
}

async function checkFolders(data: string, shared: string): Promise<readonly ExecutorCheck[]> {
  return [
    {
      what: `the data folder and the files of jobs in ${shared} are separate`,
      problem: await problemOf(() => refuseNested(data, shared)),
    },
    { what: `${shared} can be written`, problem: await problemOf(() => makeWritable(shared)) },
  ];
}

async function checkMachine({ log, retention, tls }: ServiceConfig, data: string): Promise<readonly ExecutorCheck[]> {
  const checks: ExecutorCheck[] = [
    { what: `the data folder ${data} can be written`, problem: await problemOf(() => makeWritable(data)) },
    { what: 'it is on a disk of this machine', problem: await problemOf(() => refuseNetworkFileSystem(data)) },
  ];
  const minFreeBytes = retention.min_free_gb * 1e9;
  const disk = await checkDisk([data], minFreeBytes);
  const problem = disk.status === 'unavailable' ? disk.message : undefined;
  checks.push({ what: `its disk has more than ${formatBytes(minFreeBytes)} left`, problem });
  if (log.file !== undefined) {
    const { file } = log;
    const problemOfLog = await problemOf(() => new ServiceLogFile(file).dispose());
    checks.push({ what: `the log file ${file} can be written`, problem: problemOfLog });
  }
  if (tls !== undefined) {
    const problemOfTls = await problemOf(() => readCertificate(tls));
    checks.push({ what: `the certificate ${tls.cert} and its key belong together`, problem: problemOfTls });
  }
  return checks;
}

function checkVolumes(config: ServiceConfig, folders: readonly string[]): Promise<readonly ExecutorCheck[]> {
  const { volumes } = config;
  const paths = ownPaths(config, folders);
  const check = async (volume: (typeof volumes)[number]): Promise<ExecutorCheck> => ({
    what: `the volume ${volume.name}: ${volume.folder}, which jobs can ${volume.writable ? 'write' : 'read'}`,
    problem: await problemOf(() => checkVolume(volume, { volumes, own: paths })),
  });
  return Promise.all(volumes.map(check));
}

async function checkSignIns({ oidc }: ServiceConfig): Promise<readonly ExecutorCheck[]> {
  if (oidc === undefined) return [];
  const { checkProvider } = await import('./signIn/checkProvider.ts');
  return [await checkProvider(oidc)];
}

async function makeWritable(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await access(folder, constants.W_OK);
}

/**
 * How many accounts of a data folder are enabled, according to the service that runs on it or, if none does, its store, which is
 * not upgraded. 0 without a store, or if the store is older than accounts.
 */
async function countEnabledAccounts(data: string): Promise<number> {
  const path = join(data, 'service.db');
  if (!existsSync(path)) return 0;
  try {
    return countIn(path);
  } catch {
    // A service has locked it.
    using admin = await openAdmin(data, { mayCreate: false });
    const { accounts } = await admin.call('accounts.list', {});
    return accounts.filter(({ disabled_at: disabledAt }) => disabledAt === null).length;
  }
}

function countIn(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  try {
    const table = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name = 'accounts'").get();
    if (table === undefined) return 0;
    return Number(
      database.prepare('SELECT count(*) AS count FROM accounts WHERE disabled_at IS NULL').get()?.['count'],
    );
  } finally {
    database.close();
  }
}

/** Paths that do not exist yet, with their missing parents. Disposing it removes what was created there, unless something is in it. */
class TemporaryPaths implements AsyncDisposable {
  readonly #tops: readonly string[];

  private constructor(tops: readonly string[]) {
    this.#tops = tops;
  }

  /** @param paths absolute. */
  static async of(paths: readonly string[]): Promise<TemporaryPaths> {
    const tops = await Promise.all(paths.map(firstMissing));
    return new TemporaryPaths(tops.filter((top) => top !== undefined));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const top of this.#tops) await removeEmpty(top);
  }
}

/** The highest part of a path that does not exist; undefined if all of it does. */
async function firstMissing(path: string): Promise<string | undefined> {
  if ((await find(path)) !== undefined) return undefined;
  return (await firstMissing(dirname(path))) ?? path;
}

async function removeEmpty(path: string): Promise<void> {
  const found = await find(path);
  if (found === undefined) return;
  if (found.isFile) {
    if (found.bytes === 0) await rm(path);
    return;
  }
  for (const name of await readdir(path)) await removeEmpty(join(path, name));
  // Something is in it, or it is in use.
  await rmdir(path).catch(() => {});
}

async function find(path: string): Promise<{ readonly isFile: boolean; readonly bytes: number } | undefined> {
  return lstat(path).then(
    (stats) => ({ isFile: !stats.isDirectory(), bytes: stats.size }),
    () => undefined,
  );
}

/** Checks what a start with these settings would delete, and previews what they delete in the days after it. */
async function checkRetention(
  data: string,
  settings: RetentionSettings,
): Promise<{ readonly check: ExecutorCheck; readonly preview: RetentionPreview | undefined }> {
  let preview: RetentionPreview | undefined;
  const problem = await problemOf(async () => (preview = await retentionPreviewOf(data, settings)));
  if (problem !== undefined) {
    return { check: { what: 'what [retention] would delete is known', problem }, preview };
  }
  const warning =
    preview?.surprise === undefined
      ? undefined
      : `${preview.surprise} The start refuses to do that without --confirm-retention.`;
  return { check: { what: describe(preview, settings), problem, ...(warning !== undefined && { warning }) }, preview };
}

function describe(preview: RetentionPreview | undefined, settings: RetentionSettings): string {
  if (preview === undefined)
    return '[retention] has nothing to preview: the data folder has no store yet, or that of a version without retention';
  const { stored, stored_logs: logs, plans } = preview;
  const parts = plans.map((plan) => {
    const when = plan.in_days === 0 ? 'at the next start' : `within ${plan.in_days} days`;
    return `${when} ${describePlan(plan, settings)}`;
  });
  return `[retention] deletes, of the results of ${formatCount(stored.jobs, 'job')} (${formatBytes(stored.bytes)}) and ${formatCount(logs, 'log')}: ${parts.join('; ')}`;
}

function describePlan(
  { expired, overflow, logs }: RetentionPreview['plans'][number],
  { days, results_days: resultsDays = days, max_total_gb: maxGb }: RetentionSettings,
): string {
  const results = ({ jobs, bytes }: { jobs: number; bytes: number }): string =>
    `the results of ${formatCount(jobs, 'job')} (${formatBytes(bytes)})`;
  const parts = [
    ...(expired.jobs > 0 ? [`${results(expired)} older than ${resultsDays} days`] : []),
    ...(overflow.jobs > 0 ? [`${results(overflow)} beyond max_total_gb = ${maxGb}`] : []),
    ...(logs > 0 ? [`${formatCount(logs, 'log')} older than ${days} days`] : []),
  ];
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}

/**
 * Previews what a start with these settings would delete, according to the service that runs on a data folder or, if none does, its
 * store, which is not upgraded.
 *
 * @returns undefined without a store, or if it is older than retention.
 * @throws AppError of `filesFolderOf` and `openAdmin`.
 */
async function retentionPreviewOf(data: string, settings: RetentionSettings): Promise<RetentionPreview | undefined> {
  const path = join(data, 'service.db');
  if (!existsSync(path)) return undefined;
  const database = openUnlocked(path);
  if (database === undefined) {
    using admin = await openAdmin(data, { mayCreate: false });
    return await admin.call('disk.retention', { settings });
  }
  try {
    const table = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name = ?");
    if (table.get('accounts') === undefined) return undefined;
    const retention = table.get('retention') === undefined ? { get: () => undefined } : new RetentionRecord(database);
    const files = new JobFiles(filesFolderOf(data));
    return await previewRetention({ expiry: new ExpiryTable(database), retention, files }, settings);
  } finally {
    database.close();
  }
}

/** Opens a store to read it; undefined if a service has locked it. */
function openUnlocked(path: string): DatabaseSync | undefined {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  try {
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return database;
  } catch {
    database.close();
    return undefined;
  }
}
