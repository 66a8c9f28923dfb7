import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { METHOD_NAME_ALL } from 'hono/router';
import type { Logger } from '../core/log.ts';
import { startAdminServer } from './admin/adminServer.ts';
import { Housekeeping } from './disk/housekeeping.ts';
import { AccountGauge } from './http/accountGauge.ts';
import { createApp } from './http/app.ts';
import { isLoopback } from './http/auth.ts';
import { Gate } from './http/gate.ts';
import { Health } from './http/health.ts';
import { HttpServer } from './http/httpServer.ts';
import { logRequests } from './http/requestLog.ts';
import { RequestMonitor } from './http/requestMonitor.ts';
import { WrongKeys } from './http/wrongKeys.ts';
import { machineClassesOf, type ServiceConfig } from './config.ts';
import { Submissions } from './http/submissions.ts';
import { JobFiles } from './jobFiles.ts';
import { localMachineClasses } from './machineClasses.ts';
import { createExecutor } from './createExecutor.ts';
import { Scheduler } from './scheduler.ts';
import type { Metrics, MetricsOptions } from './metrics/metrics.ts';
import { removeStateFile, writeStateFile } from './stateFile.ts';
import { toMicro } from './store/credits.ts';
import { Store } from './store/store.ts';

const DEFAULT_CREDITS = 1_000;
const DEFAULT_KILL_GRACE_MS = 5_000;
const KEY_BYTES = 32;
// Uploads that are under way when the service is told to end may take this long.
const DEFAULT_DRAIN_MS = 30_000;

export interface ServeOptions {
  /** Address to listen on; `127.0.0.1` unless a person asked for another. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Folder of the store and of the jobs' files; made where missing, for this user only. */
  readonly data: string;
  /** What runs the jobs, and what they can ask for. */
  readonly config: ServiceConfig;
  /** Path of the built `jobRunner.mjs`, or of `jobRunner.ts` when running from the sources. */
  readonly runner: string;
  /** Version of the program, told by `/healthz`, `/openapi.json` and the state file. */
  readonly version: string;
  /** The key of the account `local`; made (256 random bits) where missing. Other accounts have theirs in the store. */
  readonly apiKey?: string;
  /** Credits that the account `local` begins with, 1000 unless given; one that exists keeps what it has. */
  readonly credits?: number;
  /** Practice credits: once a day (UTC) the balance is topped up to `credits`. */
  readonly isToppedUpDaily?: boolean;
  /** Ends the service after this long without unfinished jobs and requests. */
  readonly idleExitMs?: number;
  /** Where to tell url, key and pid, readable by this user only, while the service runs. */
  readonly stateFile?: string;
  /** Time between SIGTERM and SIGKILL for a job that must end; 5000 unless given. */
  readonly killGraceMs?: number;
  /** How long requests that are under way may go on when the service is told to end; 30 s unless given. */
  readonly drainMs?: number;
}

export interface RunningService {
  readonly url: string;
  readonly key: string;
  /** Settles once the service has ended: by its signal or because it was idle. Jobs that run go on. */
  readonly closed: Promise<void>;
  /** Reads the files of its certificate again. */
  reload(): void;
  /** All that it answers to. */
  readonly routes: readonly Route[];
}

interface Route {
  readonly method: string;
  /** With parameters as `:name`. */
  readonly path: string;
}

/**
 * Starts the job service in this process.
 *
 * @throws AppError `conflict` when another service uses the data folder or the port, `corrupt` when the store is damaged
 * or its ledger does not balance; `missing` or `bad-input` for a certificate that cannot be used.
 */
export async function serve(
  options: ServeOptions,
  { log, signal }: { log: Logger; signal: AbortSignal },
): Promise<RunningService> {
  const { apiKey: key = randomBytes(KEY_BYTES).toString('base64url'), version, stateFile } = options;
  const store = new Store(options.data, {
    start: toMicro(options.credits ?? DEFAULT_CREDITS),
    isToppedUpDaily: options.isToppedUpDaily ?? false,
  });
  const shutdown = new AbortController();
  const monitor = new RequestMonitor(options.config.proxy);
  if (options.config.log.requests) logRequests(monitor, log);
  try {
    const gate = new Gate(store, key);
    const { server, scheduler, health, housekeeping, metrics, routes } = await build(options, {
      key,
      gate,
      store,
      log,
      monitor,
      shutdown: shutdown.signal,
    });
    await server.listen();
    const { url } = server;
    scheduler.start();
    housekeeping.start();
    const onDidRun = (): void => {
      gate.recheck();
      scheduler.startNext();
    };
    const closeAdmin = await startAdminServer({ store, data: options.data, log, version, onDidRun });
    if (stateFile !== undefined) writeStateFile(stateFile, { url, key, pid: process.pid, version });
    log.info('service started', { url, data: options.data });
    const run = async (): Promise<void> => {
      await untilDone(options.idleExitMs, signal, () => {
        if (store.jobs.countUnfinished() > 0) monitor.touch();
        return monitor.idleMs();
      });
      if (stateFile !== undefined) removeStateFile(stateFile, process.pid);
      log.info('service ends', { openStreams: monitor.openStreams });
      // Nothing new is taken. What is under way ends; streams and jobs are followed meanwhile, so that nobody waits for this.
      health.stop();
      await monitor.untilQuiet(AbortSignal.timeout(options.drainMs ?? DEFAULT_DRAIN_MS));
      closeAdmin();
      shutdown.abort();
      await Promise.all([scheduler.stop(), housekeeping.stop(), server.close()]);
      metrics?.dispose();
      store.dispose();
      log.info('service ended');
    };
    return { url, key, closed: run(), reload: () => server.certificate?.reload(), routes };
  } catch (error) {
    store.dispose();
    throw error;
  }
}

interface Parts {
  readonly key: string;
  readonly gate: Gate;
  readonly store: Store;
  readonly log: Logger;
  readonly monitor: RequestMonitor;
  readonly shutdown: AbortSignal;
}

async function build(options: ServeOptions, { key, gate, store, log, monitor, shutdown }: Parts) {
  const { runner, killGraceMs = DEFAULT_KILL_GRACE_MS, version, config, host, port } = options;
  const health = new Health({ store, data: options.data, minFreeBytes: config.retention.min_free_gb * 1e9 });
  const files = new JobFiles(options.data);
  const { expiry } = store;
  const housekeeping = new Housekeeping({ expiry, files, health, settings: config.retention, log });
  await files.sweep((id) => store.jobs.get(id), log);
  const machineClasses =
    machineClassesOf(config) ?? localMachineClasses({ isPractice: options.isToppedUpDaily ?? false });
  const metrics = config.metrics.enabled
    ? await openMetrics({
        store,
        monitor,
        health,
        version,
        resultsBytes: () => housekeeping.resultsBytes,
        certificateExpiresAt: () => server.certificate?.expiresAt,
      })
    : undefined;
  const { data } = options;
  const plainExecutor = await createExecutor(config, { runner, killGraceMs, machineClasses, data, log });
  const executor = metrics?.watch(plainExecutor) ?? plainExecutor;
  const gauge = new AccountGauge(config.limits);
  const maxRunningJobs = (id: string): number => {
    const account = store.accounts.get(id);
    return account.disabledAt === null ? gauge.limitsOf(account).maxRunningJobs : 0;
  };
  const scheduler = new Scheduler({ store, files, log, executor, machineClasses, maxRunningJobs });
  const app = createApp({
    store,
    scheduler,
    submissions: new Submissions(options.data),
    files,
    log,
    key,
    gate,
    gauge,
    wrongKeys: new WrongKeys(config.limits.wrong_keys_per_minute),
    version,
    killGraceMs,
    maxLogBytes: config.logs.max_mb_per_job * 1e6,
    shutdown,
    health,
    monitor,
    metrics: metrics && { source: metrics, token: config.metrics.token },
    loopbackPort: isLoopback(host) && config.proxy === undefined ? () => server.port : undefined,
    machineClasses,
  });
  const server = new HttpServer(app.fetch, { host, port, tls: config.tls, log });
  const routes = app.routes.filter(({ method }) => method !== METHOD_NAME_ALL);
  return { server, scheduler, health, housekeeping, metrics, routes };
}

/** Loads what counts only where somebody may ask for it. */
async function openMetrics(options: MetricsOptions): Promise<Metrics> {
  const { Metrics } = await import('./metrics/metrics.ts');
  return new Metrics(options);
}

async function untilDone(idleExitMs: number | undefined, signal: AbortSignal, idleMs: () => number): Promise<void> {
  if (idleExitMs === undefined) {
    if (!signal.aborted) await once(signal, 'abort');
    return;
  }
  const interval = Math.min(1_000, idleExitMs / 4);
  while (!signal.aborted && idleMs() < idleExitMs) await sleep(interval, undefined, { signal }).catch(() => {});
}
