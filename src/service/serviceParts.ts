import { join } from 'node:path';
import { METHOD_NAME_ALL } from 'hono/router';
import type { Logger } from '../core/log.ts';
import { EXECUTORS } from './executors.ts';
import {
  executorOf,
  hiddenFiles,
  leastAccounts,
  machineClassesOf,
  ownPaths,
  type ServiceConfig,
} from './serviceConfig.ts';
import { ExecutorCalls } from './executor/executorCalls.ts';
import { Health } from './health/health.ts';
import { DiskWatch } from './disk/diskWatch.ts';
import { Housekeeping } from './disk/housekeeping.ts';
import { AccountGauge } from './http/access/accountGauge.ts';
import { createApp } from './http/app.ts';
import { isLoopbackAddress } from './http/access/auth.ts';
import type { KeyAuthenticator } from './http/access/keyAuthenticator.ts';
import { OperatorLinks } from './http/page/operatorLinks.ts';
import { ConnectionLimit } from './http/access/connectionLimit.ts';
import { HttpServer } from './http/httpServer.ts';
import { OpenTunnels } from './http/openTunnels.ts';
import type { RequestMonitor } from './http/requestMonitor.ts';
import { Submissions } from './http/submit/submissions.ts';
import { AuthFailureLimiter } from './http/access/authFailureLimiter.ts';
import { JobFiles } from './jobFiles/jobFiles.ts';
import { localMachineClasses } from './config/machineClasses.ts';
import type { Metrics, MetricsOptions } from './metrics.ts';
import { JobSecrets } from './jobs/jobSecrets.ts';
import type { MostAtWork } from './jobs/jobQueue.ts';
import { Scheduler } from './jobs/scheduler.ts';
import { ContentStore } from './contents/contentStore.ts';
import { KnownLists } from './contents/knownLists.ts';
import { ResultPieces } from './contents/resultPieces.ts';
import { WaitingContents } from './contents/waitingContents.ts';
import { currentOperator } from './admin/operator.ts';
import { KeptEnvironments } from './folders/keptEnvironments.ts';
import { Volumes } from './folders/volumes.ts';
import { SecretVault } from './jobs/secretVault.ts';
import type { ServeOptions } from './serveOptions.ts';
import type { TokenSignIns } from './signIn/tokenSignIns.ts';
import type { Store } from './store/store.ts';

const DEFAULT_KILL_GRACE_MS = 4_000;
// Of the space that stays free, the part that the store takes for itself in advance.
const RESERVE_SHARE = 1 / 16;
const MAX_RESERVE_BYTES = 8 * 2 ** 20;

/** What the parts are built from. */
interface Foundation {
  /** The folder that contains those of jobs and uploads. */
  readonly filesFolder: string;
  readonly ownKey: string | undefined;
  readonly authenticator: KeyAuthenticator;
  readonly store: Store;
  readonly log: Logger;
  readonly monitor: RequestMonitor;
  readonly shutdown: AbortSignal;
}

/** A method and path that the service responds to. */
export interface RegisteredRoute {
  readonly method: string;
  /** With parameters as `:name`. */
  readonly path: string;
}

/** The parts of a service, before they are started. */
export interface ServiceParts {
  readonly server: HttpServer;
  readonly scheduler: Scheduler;
  readonly disk: DiskWatch;
  readonly health: Health;
  readonly housekeeping: Housekeeping;
  readonly metrics: Metrics | undefined;
  /** Undefined without a page. */
  readonly operatorLinks: OperatorLinks | undefined;
  readonly tunnels: OpenTunnels;
  readonly routes: readonly RegisteredRoute[];
}

/** Creates and connects the parts of a service. @throws AppError for a certificate or an executor that cannot be used. */
export async function buildParts(
  options: ServeOptions,
  { filesFolder, ownKey, authenticator, store, log, monitor, shutdown }: Foundation,
): Promise<ServiceParts> {
  const { runner, killGraceMs = DEFAULT_KILL_GRACE_MS, version, config, data, host, port } = options;
  const files = new JobFiles(filesFolder);
  const folders = [data, files.root];
  const health = new Health({ store, folders, minFreeBytes: config.retention.min_free_gb * 1e9 });
  const { expiry } = store;
  const submissions = new Submissions(filesFolder);
  const contents = new ContentStore(data);
  const waiting = new WaitingContents(data, contents);
  const environments = new KeptEnvironments(filesFolder, config.limits.environments_gb * 1e9);
  const isWaiting = (id: string): boolean => {
    const job = store.jobs.get(id);
    return job !== undefined && job.finishedAt === null;
  };
  const housekeeping = new Housekeeping({
    expiry,
    files,
    health,
    tidyFiles: async () => {
      await submissions.tidy(store);
      await contents.sweep(Date.now());
      await waiting.sweep(Date.now(), isWaiting);
      await environments.sweep((id) => store.jobs.get(id)?.finishedAt === null);
    },
    settings: config.retention,
    log,
  });
  await files.sweep((id) => store.jobs.get(id), log);
  const machineClasses = machineClassesOf(config) ?? localMachineClasses();
  const kind = await executorOf(config, options.executors ?? EXECUTORS);
  const created = await kind.create(config, {
    runner,
    killGraceMs,
    machineClasses,
    data,
    filesFolder,
    hidden: hiddenFiles(config),
    volumes: config.volumes,
    accounts: () => Math.max(leastAccounts(config), store.accounts.countEnabled()),
    isPersonal: options.isPersonal ?? false,
    log,
  });
  const tunnels = new OpenTunnels();
  const volumes = new Volumes(config.volumes, ownPaths(config, [data, filesFolder]));
  const calls = new ExecutorCalls(created, (job, folder) => volumes.leaveFor(job, folder));
  const { executor } = calls;
  const metrics = config.metrics.enabled
    ? await openMetrics({
        store,
        monitor,
        health,
        calls,
        version,
        resultsBytes: () => housekeeping.resultsBytes,
        certificateExpiresAt: () => server.certificate?.expiresAt,
      })
    : undefined;
  const gauge = new AccountGauge(config.limits, config.inside.connections_per_account);
  const maxRunningJobs: MostAtWork = (id, atWork) => {
    const account = store.accounts.get(id);
    if (account.disabledAt !== null) return 0;
    const { running_jobs: own } = gauge.limitsOf(account);
    const quota = account.group === null ? null : store.budgets.get('group', account.group).runningJobs;
    if (account.group === null || quota === null) return own;
    const others = store.accounts.members(account.group).filter((member) => member !== id);
    return Math.min(own, quota - others.reduce((sum, member) => sum + atWork(member), 0));
  };
  const vault = new SecretVault(store.secrets, config.secrets.key_file ?? join(data, 'secrets.key'));
  const secrets = new JobSecrets(vault);
  const resultPieces = new ResultPieces();
  const maxResultBytes = config.limits.results_gb * 1e9;
  const limitsOf = (id: string) => gauge.limitsOf(store.accounts.get(id));
  const minFreeBytes = config.retention.min_free_gb * 1e9;
  store.reserve.bytes = Math.min(MAX_RESERVE_BYTES, Math.floor(RESERVE_SHARE * minFreeBytes));
  const disk = new DiskWatch({
    store,
    files,
    filesFolder,
    folders,
    minFreeBytes,
    machineClasses,
    quotaOf: (id) => limitsOf(id).disk_bytes,
    environmentsOf: (id) => environments.nameOf(id),
    active: () => scheduler.active,
    stop: (job, stop) => scheduler.stopForDisk(job, stop),
    onRoom: () => scheduler.startNext(),
    log,
  });
  const scheduler: Scheduler = new Scheduler({
    disk,
    store,
    files,
    log,
    executor,
    machineClasses,
    maxRunningJobs,
    maxResultBytes,
    killGraceMs,
    secrets,
    waiting,
    resultPieces,
  });
  health.watch({ calls, countActive: () => scheduler.activeJobs });
  const signIns = await openSignIns(config, { store, log, health });
  // A service that serves one user's own programs has no page.
  const hasPage = config.page.enabled && options.stateFile === undefined && options.socket === undefined;
  const operatorLinks = hasPage ? new OperatorLinks() : undefined;
  const connections = new ConnectionLimit();
  const app = createApp({
    store,
    scheduler,
    submissions,
    files,
    log,
    ownKey,
    authenticator,
    gauge,
    signIn: signIns && { tokens: signIns, description: signIns.description },
    authFailures: new AuthFailureLimiter(config.limits.wrong_keys_per_minute),
    version,
    killGraceMs,
    vault,
    executor,
    inside: config.inside,
    tunnels,
    volumes,
    contents,
    waiting,
    environments,
    knownLists: new KnownLists(),
    resultPieces,
    maxLogBytes: config.logs.max_mb_per_job * 1e6,
    shutdown,
    health,
    disk,
    monitor,
    connections,
    metrics: metrics && { source: metrics, token: config.metrics.token },
    hosts: isLoopbackAddress(host) && config.proxy === undefined ? () => server.hosts : undefined,
    operator: currentOperator(process.env),
    page: operatorLinks && { links: operatorLinks, isSecure: config.tls !== undefined || config.proxy !== undefined },
    machineClasses,
  });
  const server = new HttpServer(app.fetch, { host, port, socket: options.socket, tls: config.tls, log, connections });
  const routes = app.routes.filter(({ method }) => method !== METHOD_NAME_ALL);
  return { server, scheduler, disk, health, housekeeping, metrics, operatorLinks, tunnels, routes };
}

/** Loads the library for metrics only if they are enabled. */
async function openMetrics(options: MetricsOptions): Promise<Metrics> {
  const { Metrics } = await import('./metrics.ts');
  return new Metrics(options);
}

/**
 * Loads the libraries for sign-ins only if they are configured. The provider is contacted in the background, because a service starts
 * without it too.
 */
async function openSignIns(
  { oidc }: ServiceConfig,
  { store, log, health }: { readonly store: Store; readonly log: Logger; readonly health: Health },
): Promise<TokenSignIns | undefined> {
  if (oidc === undefined) return undefined;
  const { TokenSignIns } = await import('./signIn/tokenSignIns.ts');
  const signIns = new TokenSignIns(oidc, { store, log, operator: currentOperator(process.env) });
  health.watchSignIns(signIns);
  void signIns.load();
  return signIns;
}
