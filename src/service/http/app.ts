import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { isDiskFull } from '../../core/files/diskSpace.ts';
import { AppError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { Executor } from '../executor/executor.ts';
import type { JobFiles } from '../jobFiles/jobFiles.ts';
import { JOB_ID } from '../jobFiles/jobFiles.ts';
import type { MachineClasses } from '../config/machineClasses.ts';
import { withDrainReason } from '../jobs/drainTexts.ts';
import type { Scheduler } from '../jobs/scheduler.ts';
import type { StoredJob } from '../store/jobs/jobs.ts';
import type { Store } from '../store/store.ts';
import { EventStreams } from '../streams/eventStreams.ts';
import { type AccountGauge, retryLater } from './access/accountGauge.ts';
import type { App, AppContext } from './access/appEnv.ts';
import { refuseBrowsers, requireKey } from './access/auth.ts';
import { isAllowed, outOfScope, requireScope, restrictedKey } from './access/keyScopes.ts';
import { answerAccount, answerEnvironments } from './accountRoute.ts';
import { answerEvents } from './eventRoute.ts';
import type { KeyAuthenticator, TokenAuthenticator } from './access/keyAuthenticator.ts';
import type { DiskWatch } from '../disk/diskWatch.ts';
import type { Health } from '../health/health.ts';
import { answerHealth, refuseSubmissions, refuseWhenStopping } from './healthRoute.ts';
import { showJob } from './submit/showJob.ts';
import { answerMetrics, type MetricsSource } from './metricsRoute.ts';
import type { ConnectionLimit } from './connections/connectionLimit.ts';
import { answerShared } from './connections/sharedResponse.ts';
import { describeApi } from './openapi.ts';
import { LackingContents } from '../contents/submittedContents.ts';
import type { WaitingContents } from '../contents/waitingContents.ts';
import type { ContentStore } from '../contents/contentStore.ts';
import type { KnownLists } from '../contents/knownLists.ts';
import type { ResultPieces } from '../contents/resultPieces.ts';
import { addContentRoutes } from './contentRoutes.ts';
import { addSecretRoutes } from './secretRoutes.ts';
import type { KeptEnvironments } from '../environments/keptEnvironments.ts';
import type { SecretVault } from '../secrets/secretVault.ts';
import type { Volumes } from '../volumes/volumes.ts';
import { SIGN_IN_PATH, type SignInDescription } from '../../remote/protocol/signIn.ts';
import type { RequestMonitor } from './requestMonitor.ts';
import { createPage, FORM_PATHS } from './page/page.ts';
import type { OperatorLinks } from './page/operatorLinks.ts';
import { addResultRoutes } from './resultRoutes.ts';
import type { Submissions } from './submit/submissions.ts';
import { isBrokenOff } from './submit/upload.ts';
import { abortOnRevocation } from './access/abortOnRevocation.ts';
import { refusal } from './access/refusal.ts';
import type { AuthFailureLimiter } from './access/authFailureLimiter.ts';

const MAX_UNFINISHED_JOBS = 10_000;
const BUSY_RETRY_SECONDS = 10;
// Jobs end after minutes rather than seconds.
const QUEUE_RETRY_SECONDS = 30;
const DEFAULT_LIST = 50;
const MAX_LIST = 500;

export interface AppOptions {
  readonly store: Store;
  readonly scheduler: Scheduler;
  readonly submissions: Submissions;
  readonly files: JobFiles;
  readonly log: Logger;
  readonly ownKey: string | undefined;
  readonly authenticator: KeyAuthenticator;
  readonly gauge: AccountGauge;
  readonly authFailures: AuthFailureLimiter;
  /** Undefined if nobody can sign in, so that everybody needs a key. */
  readonly signIn: { readonly tokens: TokenAuthenticator; readonly description: SignInDescription } | undefined;
  readonly version: string;
  readonly health: Health;
  readonly disk: Pick<DiskWatch, 'refusal'>;
  readonly monitor: RequestMonitor;
  readonly connections: Pick<ConnectionLimit, 'keep'>;
  /** Undefined if metrics are disabled. */
  readonly metrics: { readonly source: MetricsSource; readonly token: string | undefined } | undefined;
  /** Returns the allowed values of `Host`; undefined for a service that other machines may reach. */
  readonly hosts: (() => readonly string[]) | undefined;
  /** Undefined if the page is switched off. */
  readonly page: { readonly links: OperatorLinks; readonly isSecure: boolean } | undefined;
  readonly machineClasses: MachineClasses;
  readonly killGraceMs: number;
  readonly maxLogBytes: number;
  readonly vault: SecretVault;
  readonly executor: Pick<Executor, 'refusalOf' | 'keepsEnvironments'>;
  readonly environments: KeptEnvironments;
  readonly volumes: Pick<Volumes, 'of' | 'refusalOf'>;
  readonly contents: ContentStore;
  readonly waiting: WaitingContents;
  readonly resultPieces: ResultPieces;
  readonly knownLists: KnownLists;
  /** Its abort ends open event streams. */
  readonly shutdown: AbortSignal;
}

/** The routes of `/v1`, `/healthz` and `/openapi.json`. */
export function createApp(options: AppOptions): App {
  const { log, version, authenticator, gauge, authFailures, connections } = options;
  const app: App = new Hono();
  app.onError((error, context) => answerFailure(error, context, log));
  app.notFound((context) => context.json({ detail: 'Nothing exists at this address.' }, 404));
  app.use(options.monitor.watch());
  if (options.hosts !== undefined) app.use(refuseBrowsers(options.hosts, options.page === undefined ? [] : FORM_PATHS));

  app.use(refuseWhenStopping(options.health));
  app.get('/healthz', answerHealth(options));
  if (options.metrics) app.get('/metrics', answerMetrics(options.metrics.source, options.metrics.token));
  app.get(
    '/openapi.json',
    answerShared(() => describeApi(version)),
  );
  app.get(SIGN_IN_PATH, (context) =>
    options.signIn === undefined ? context.notFound() : context.json(options.signIn.description),
  );
  if (options.page) app.route('/', createPage({ ...options, ...options.page }));

  app.use('/v1/*', requireKey(authenticator, authFailures, options.signIn?.tokens), gauge.limitRate());
  app.use('/v1/*', (context, next) => {
    connections.keep(context.env.incoming);
    return next();
  });
  app.get('/v1/me', answerAccount(options));
  app.get('/v1/environments', requireScope('submit'), answerEnvironments(options));
  addSecretRoutes(app, options);
  addContentRoutes(app, options);
  addJobRoutes(app, options);
  return app;
}

function addJobRoutes(app: App, options: AppOptions): void {
  const { store, scheduler, submissions, shutdown, gauge } = options;
  const findJob = (context: AppContext): StoredJob => {
    const id = context.req.param('id') ?? '';
    const job = JOB_ID.test(id) ? store.jobs.find(context.var.account.id, id) : undefined;
    if (job === undefined) throw refusal(404, 'This job does not exist.');
    return job;
  };
  const show = (job: StoredJob) => showJob(withDrainReason(job, store.drain.get()));
  const streams = new EventStreams(store, shutdown);

  app.get('/v1/jobs', requireScope('read'), (context) => context.json({ jobs: listJobs(context, store).map(show) }));
  app.post('/v1/jobs', requireScope('submit'), refuseSubmissions(options), async (context) => {
    if (store.unfinished.count >= MAX_UNFINISHED_JOBS) {
      const why = `The service has ${MAX_UNFINISHED_JOBS} waiting and running jobs, the most that it accepts.`;
      throw retryLater(context, QUEUE_RETRY_SECONDS, why);
    }
    const { account } = context.var;
    const { queued_jobs: maxQueuedJobs, upload_bytes: maxUploadBytes, run_time: maxRunTime } = gauge.limitsOf(account);
    const places = maxQueuedJobs - gauge.open('uploads', account.id);
    if (places <= 0 || store.jobs.queuesAtLeast(account.id, places)) {
      throw retryLater(context, QUEUE_RETRY_SECONDS, `The account may have ${maxQueuedJobs} jobs waiting.`);
    }
    gauge.take(context, 'uploads');
    const signal = AbortSignal.any([
      context.req.raw.signal,
      abortOnRevocation(context, options.authenticator, { isTransfer: true }),
    ]);
    const { incoming } = context.env;
    const mayUseSecrets = isAllowed(context, 'secrets');
    const disk = {
      diskRefusal: async (bytes: number) =>
        options.disk.refusal(account.id, bytes) ?? (await options.health.refusal(bytes)),
      freeBytes: () => options.health.freeBytes(),
    };
    const key = { keyId: context.var.visit.key?.id, restrictedKey: restrictedKey(context), mayUseSecrets };
    const owner = { account: account.id, maxUploadBytes, maxRunTime, ...key };
    const { accepted, isNew } = await submissions.accept(incoming, { ...options, ...owner, ...disk }, signal);
    if (isNew) scheduler.enqueue({ id: accepted.job_id, account: account.id });
    return context.json(accepted, 201);
  });
  app.get('/v1/submissions/:key', requireScope('submit'), async (context) =>
    context.json(await submissions.status(context.var.account.id, context.req.param('key'), store)),
  );
  app.get('/v1/jobs/:id', requireScope('read'), (context) => context.json(show(findJob(context))));
  app.delete('/v1/jobs/:id', async (context) => {
    const job = findJob(context);
    // A key that may submit a job may also cancel it.
    const isOwn = isAllowed(context, 'submit') && job.keyId !== null && job.keyId === context.var.visit.key?.id;
    if (!isOwn && !isAllowed(context, 'cancel')) throw outOfScope('cancel');
    await scheduler.cancelAndWait(job, shutdown);
    return context.json({ job_id: job.id, state: findJob(context).state });
  });
  app.get('/v1/jobs/:id/events', requireScope('read'), (context) => {
    const job = findJob(context);
    gauge.take(context, 'streams');
    return answerEvents(context, job, {
      streams,
      signal: abortOnRevocation(context, options.authenticator, { isTransfer: false }),
    });
  });
  addResultRoutes(app, { ...options, findJob });
}

function listJobs(context: AppContext, store: Store): readonly StoredJob[] {
  const limit = Number(context.req.query('limit') ?? DEFAULT_LIST);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIST) throw refusal(400, `limit: must be 1 to ${MAX_LIST}.`);
  const before = context.req.query('before');
  const account = context.var.account.id;
  const start = before === undefined ? undefined : store.jobs.find(account, before);
  if (before !== undefined && start === undefined) throw refusal(404, 'before: this job does not exist.');
  return store.jobs.list(account, limit, start);
}

function answerFailure(error: Error, context: AppContext, log: Logger): Response {
  if (error instanceof HTTPException) {
    // What is in progress now may have finished in a moment.
    if (error.status === 409) context.header('Retry-After', '1');
    // RFC 9110, section 15.5.2: the accepted scheme.
    if (error.status === 401) context.header('WWW-Authenticate', 'Bearer');
    return context.json({ detail: error.message }, error.status);
  }
  if (error instanceof AppError && ['bad-input', 'refused', 'corrupt', 'limit'].includes(error.code)) {
    return context.json({ detail: error.message }, 400);
  }
  if (error instanceof AppError && error.code === 'unreachable') {
    context.header('Retry-After', String(BUSY_RETRY_SECONDS));
    return context.json({ detail: error.message }, 503);
  }
  if (error instanceof LackingContents) return context.json({ detail: error.message }, 424);
  // The client has disconnected, so nobody reads the response.
  if (isBrokenOff(error)) return context.json({ detail: 'The request was interrupted.' }, 400);
  log.error('request failed', { requestId: context.get('requestId'), route: context.get('route'), error });
  if (isDiskFull(error) || (error instanceof AppError && error.code === 'no-space')) {
    return context.json({ detail: 'The disk of the machine that runs jobs is full. Free some space on it.' }, 507);
  }
  return context.json({ detail: 'The service failed to respond. Its log has the cause.' }, 500);
}
