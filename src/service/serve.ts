import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAdaptorServer } from '@hono/node-server';
import { AppError, systemCode } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import { createApp } from './http/app.ts';
import { isLoopback } from './http/auth.ts';
import { Activity } from './http/activity.ts';
import { machineClassesOf, type ServiceConfig } from './config.ts';
import { JobFiles } from './jobFiles.ts';
import { localMachineClasses } from './machineClasses.ts';
import { createExecutor } from './createExecutor.ts';
import { Scheduler } from './scheduler.ts';
import { removeStateFile, writeStateFile } from './stateFile.ts';
import { toMicro } from './store/credits.ts';
import { Store } from './store/store.ts';

const DEFAULT_CREDITS = 1_000;
const DEFAULT_KILL_GRACE_MS = 5_000;
const DEFAULT_MAX_UPLOAD_BYTES = 20e9;
const KEY_BYTES = 32;
const CLOSE_WAIT_MS = 2_000;

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
  /** The one account's key; made (256 random bits) where missing. */
  readonly apiKey?: string;
  /** Credits of a new account, 1000 unless given; an account that exists keeps what it has. */
  readonly credits?: number;
  /** Practice credits: once a day (UTC) the balance is topped up to `credits`. */
  readonly isToppedUpDaily?: boolean;
  /** Ends the service after this long without unfinished jobs and requests. */
  readonly idleExitMs?: number;
  /** Where to tell url, key and pid, readable by this user only, while the service runs. */
  readonly stateFile?: string;
  /** Time between SIGTERM and SIGKILL for a job that must end; 5000 unless given. */
  readonly killGraceMs?: number;
  /** Largest accepted archive; 20 GB unless given. */
  readonly maxUploadBytes?: number;
}

export interface RunningService {
  readonly url: string;
  readonly key: string;
  /** Settles once the service has ended: by its signal or because it was idle. Jobs that run go on. */
  readonly closed: Promise<void>;
}

/**
 * Starts the job service in this process.
 *
 * @throws AppError `conflict` when another service uses the data folder or the port, `corrupt` when the store is damaged
 * or its ledger does not balance.
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
  try {
    const { server, scheduler } = await build(options, { key, store, log, shutdown: shutdown.signal });
    const activity = new Activity(server);
    const address = await listen(server, options);
    const url = `http://${reachableHost(options.host)}:${address.port}`;
    scheduler.start();
    if (stateFile !== undefined) writeStateFile(stateFile, { url, key, pid: process.pid, version });
    log.info('service started', { url, data: options.data });
    const run = async (): Promise<void> => {
      await untilDone(options.idleExitMs, signal, () => {
        if (store.jobs.countUnfinished() > 0) activity.touch();
        return activity.idleMs();
      });
      if (stateFile !== undefined) removeStateFile(stateFile, process.pid);
      shutdown.abort();
      await Promise.all([scheduler.stop(), close(server)]);
      store.dispose();
      log.info('service ended');
    };
    return { url, key, closed: run() };
  } catch (error) {
    store.dispose();
    throw error;
  }
}

interface Parts {
  readonly key: string;
  readonly store: Store;
  readonly log: Logger;
  readonly shutdown: AbortSignal;
}

async function build(options: ServeOptions, { key, store, log, shutdown }: Parts) {
  const { runner, killGraceMs = DEFAULT_KILL_GRACE_MS, version } = options;
  const files = new JobFiles(options.data);
  await files.sweep((id) => store.jobs.get(id), log);
  const machineClasses =
    machineClassesOf(options.config) ?? localMachineClasses({ isPractice: options.isToppedUpDaily ?? false });
  const executor = createExecutor(options.config, { runner, killGraceMs, log });
  const maxRunningJobs = (id: string): number => {
    const { disabledAt, limits } = store.accounts.get(id);
    return disabledAt === null ? (limits.maxRunningJobs ?? Number.POSITIVE_INFINITY) : 0;
  };
  const scheduler = new Scheduler({ store, files, log, executor, machineClasses, maxRunningJobs });
  const app = createApp({
    store,
    scheduler,
    files,
    log,
    key,
    version,
    killGraceMs,
    shutdown,
    loopbackPort: isLoopback(options.host) ? () => portOf(server) : undefined,
    machineClasses,
    maxUploadBytes: options.maxUploadBytes ?? DEFAULT_MAX_UPLOAD_BYTES,
  });
  // Uploads may take hours; a stalled one is ended where it is read. Only the headers must come soon.
  const serverOptions = { requestTimeout: 0, headersTimeout: 30_000 };
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false, serverOptions }) as Server;
  return { server, scheduler };
}

async function listen(server: Server, { host, port }: ServeOptions): Promise<AddressInfo> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    if (systemCode(cause) !== 'EADDRINUSE') throw cause;
    throw new AppError('conflict', `Port ${port} is taken. Choose another one with --port, or 0 for any.`, { cause });
  }
  return server.address() as AddressInfo;
}

async function untilDone(idleExitMs: number | undefined, signal: AbortSignal, idleMs: () => number): Promise<void> {
  if (idleExitMs === undefined) {
    if (!signal.aborted) await once(signal, 'abort');
    return;
  }
  const interval = Math.min(1_000, idleExitMs / 4);
  while (!signal.aborted && idleMs() < idleExitMs) await sleep(interval, undefined, { signal }).catch(() => {});
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  await Promise.race([closed, sleep(CLOSE_WAIT_MS, undefined, { ref: false })]);
  server.closeAllConnections();
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
