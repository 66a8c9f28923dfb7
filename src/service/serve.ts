import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../core/errors.ts';
import { AsyncDisposableStore, type Disposable } from '../core/processes/lifetime.ts';
import { repeat } from '../core/processes/repeat.ts';
import { growNewObjectSpace } from '../core/processes/newObjectSpace.ts';
import type { Logger } from '../core/log.ts';
import { startAdminServer } from './admin/adminServer.ts';
import { currentOperator } from './admin/operator.ts';
import { removeUnfinishedBackups } from './folders/writeBackup.ts';
import { confirmRetention } from './disk/confirmRetention.ts';
import { EXECUTORS } from './executors.ts';
import { mayLeaveJobsOf, sharedFolderOf } from './serviceConfig.ts';
import { claimFilesFolder, filesFolderOf, refuseNested } from './folders/filesFolder.ts';
import { refuseNetworkFileSystem } from './folders/networkFileSystem.ts';
import { moveFiles, moveStore } from './folders/moveFolders.ts';
import { drainedTunnels } from './jobs/drainTexts.ts';
import { KeyAuthenticator } from './http/access/keyAuthenticator.ts';
import { RequestMonitor } from './http/requestMonitor.ts';
import { JobFiles } from './jobFiles/jobFiles.ts';
import type { ServeOptions } from './serveOptions.ts';
import { buildParts, type RegisteredRoute } from './serviceParts.ts';
import { removeStateFile, writeStateFile } from './stateFile.ts';
import { recordStart } from './store/accounts/startEntry.ts';
import { keyDigest } from './store/accounts/apiKeys.ts';
import { toMicro } from './store/accounts/creditLedger.ts';
import { Store } from './store/store.ts';

const DEFAULT_CREDITS = 1_000;
const KEY_BYTES = 32;
const HEALTH_MS = 10_000;
// Commands that follow each other use the same service.
const DISCONNECTED_EXIT_MS = 10_000;
// How long jobs that the cluster does not accept keep such a service running. The cluster may be down for days.
const HANDOVER_MS = 10 * 60_000;
// Time for uploads in progress when the service stops.
const DEFAULT_DRAIN_MS = 30_000;

export interface RunningService {
  readonly url: string;
  readonly key: string;
  /** Resolves once the service has stopped, by its signal or because it was idle. Running jobs continue. */
  readonly closed: Promise<void>;
  /** Reads the certificate's files again. */
  reload(): void;
  readonly routes: readonly RegisteredRoute[];
}

/**
 * A service with the key of an account as its own would take all requests with it for those of the account `local`: the account could no
 * longer reach its jobs, and would have the rights and credits of another one. A revoked key would be valid again.
 *
 * @throws AppError `refused` if an account has or had this key.
 */
function refuseKeyOfAccount({ keys }: Pick<Store, 'keys'>, apiKey: string): void {
  const found = keys.find(keyDigest(apiKey));
  if (found === undefined) return;
  const message = `FARWHARF_API_KEY is the key ${found.id} of the account "${found.account}", and the key of the service itself must be another one. Unset the variable, or set a new key, such as the output of  openssl rand -base64 32`;
  throw new AppError('refused', message);
}

/**
 * Starts the job service in this process.
 *
 * @throws AppError of the folders; `refused` for the key of an account, for retention settings that have to be confirmed, and for a data folder on a network file system; `conflict` if another service uses the data folder or the port; `corrupt` if the store is damaged
 * or its ledger does not balance; `missing` or `bad-input` for a certificate that cannot be used.
 */
export async function serve(
  options: ServeOptions,
  { log, signal }: { log: Logger; signal: AbortSignal },
): Promise<RunningService> {
  const { apiKey: key = randomBytes(KEY_BYTES).toString('base64url'), version, socket, stateFile } = options;
  const { data } = options;
  // A user's own service lives in the user's home, which is often on a network.
  if (stateFile === undefined) refuseNetworkFileSystem(data);
  const shared = await sharedFolderOf(options.config, options.executors ?? EXECUTORS);
  const mayLeaveJobs = await mayLeaveJobsOf(options.config, options.executors ?? EXECUTORS);
  if (shared !== undefined) {
    refuseNested(data, shared);
    await moveStore(shared, data, log);
  }
  growNewObjectSpace();
  const store = new Store(data, toMicro(options.credits ?? DEFAULT_CREDITS));
  // Releases everything if the rest of the start fails.
  await using undo = new AsyncDisposableStore();
  undo.defer(() => store.dispose());
  if (options.apiKey !== undefined && stateFile === undefined) refuseKeyOfAccount(store, options.apiKey);
  if (shared !== undefined) {
    claimFilesFolder(data, shared);
    await moveFiles(data, shared, { unfinished: store.jobs.unfinished(), log });
  }
  const filesFolder = filesFolderOf(data);
  const deletion = await confirmRetention(
    { expiry: store.expiry, files: new JobFiles(filesFolder) },
    {
      retention: store.retention,
      settings: options.config.retention,
      now: Date.now(),
      isConfirmed: options.isRetentionConfirmed ?? false,
      log,
    },
  );
  // The embedded service starts with each window of its only user.
  if (stateFile === undefined)
    recordStart(store.audit, options.config, { version, deletion, operator: currentOperator(process.env) });
  await removeUnfinishedBackups(data);
  const shutdown = new AbortController();
  const monitor = new RequestMonitor(options.config.proxy);
  if (options.config.log.requests) logRequests(monitor, log);
  const authenticator = new KeyAuthenticator(store, key);
  const { server, scheduler, disk, health, housekeeping, metrics, operatorLinks, tunnels, routes } = await buildParts(
    options,
    {
      filesFolder,
      // A key that a person has chosen could be guessed from a proof.
      ownKey: options.apiKey === undefined || stateFile !== undefined ? key : undefined,
      authenticator,
      store,
      log,
      monitor,
      shutdown: shutdown.signal,
    },
  );
  const onDidRun = (): void => {
    authenticator.recheck();
    scheduler.startNext();
    const drain = store.drain.get();
    if (drain !== undefined) tunnels.endAll(drainedTunnels(drain));
  };
  const closeAdmin = await startAdminServer({
    store,
    data,
    refusal: () => health.executorRefusal,
    activeJobs: () => scheduler.activeJobs,
    ...(operatorLinks && { page: { links: operatorLinks, url: () => server.url } }),
    cancel: (job) => scheduler.cancelAndWait(job, shutdown.signal),
    tunnels: (jobId) => tunnels.of(jobId),
    log,
    version,
    onDidRun,
  });
  undo.defer(closeAdmin);
  await server.listen();
  undo.defer(() => server.close());
  const { url } = server;
  if (stateFile !== undefined) {
    writeStateFile(stateFile, { url, key, pid: process.pid, version, ...(socket !== undefined && { socket }) });
  }
  scheduler.start();
  disk.start();
  housekeeping.start();
  const looking = repeat(() => health.look(), HEALTH_MS, shutdown.signal);
  undo.move();
  const drain = store.drain.get();
  if (drain !== undefined) log.warn('the service is drained: farwharf admin resume', { since: new Date(drain.since) });
  log.info('service started', { url, data, files: filesFolder });
  const run = async (): Promise<void> => {
    const idleExitMs = mayLeaveJobs ? DISCONNECTED_EXIT_MS : options.idleExitMs;
    await untilDone(idleExitMs, signal, () => {
      if (!mayLeaveJobs && store.unfinished.count > 0) monitor.touch();
      const idleMs = monitor.idleMs();
      const mayHandOver = mayLeaveJobs && idleMs >= DISCONNECTED_EXIT_MS && idleMs < HANDOVER_MS;
      return mayHandOver && hasUnsentJobs(store) ? 0 : idleMs;
    });
    if (stateFile !== undefined) removeStateFile(stateFile, process.pid);
    log.info('service ends', { openStreams: monitor.openStreams });
    // Refuses new requests and lets open ones finish, while streams and jobs continue.
    health.stop();
    await monitor.untilQuiet(AbortSignal.timeout(options.drainMs ?? DEFAULT_DRAIN_MS));
    closeAdmin();
    shutdown.abort();
    await Promise.all([scheduler.stop(), disk.stop(), housekeeping.stop(), looking, server.close()]);
    metrics?.dispose();
    store.dispose();
    log.info('service ended');
  };
  return { url, key, closed: run(), reload: () => server.certificate?.reload(), routes };
}

/** Whether jobs wait here that the executor's own system does not know yet, and that it would not start while no service runs. */
function hasUnsentJobs({ jobs }: Pick<Store, 'jobs'>): boolean {
  return jobs.unfinished().some(({ state, executorId }) => state === 'queued' && executorId === null);
}

async function untilDone(idleExitMs: number | undefined, signal: AbortSignal, idleMs: () => number): Promise<void> {
  if (idleExitMs === undefined) {
    if (!signal.aborted) await once(signal, 'abort');
    return;
  }
  const interval = Math.min(1_000, idleExitMs / 4);
  while (!signal.aborted && idleMs() < idleExitMs) await sleep(interval, undefined, { signal }).catch(() => {});
}

// Monitoring programs request these every few seconds, and their lines would hide the others.
const PROBES = new Set(['/healthz', '/metrics']);

/**
 * Logs a line for each finished request. The line names the route, because paths and queries may contain secrets. Successful
 * probes have the level `debug`.
 */
function logRequests(monitor: RequestMonitor, log: Logger): Disposable {
  return monitor.onDidFinish(({ id, ms, ...request }) => {
    const level = PROBES.has(request.route) && request.status < 400 ? 'debug' : 'info';
    log[level]('request', { requestId: id, ...request, ms: Math.round(ms * 10) / 10 });
  });
}
