import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type * as z from 'zod';
import { parseJson } from '../../core/jsonFields.ts';
import { withDrainReason } from '../jobs/drainTexts.ts';
import type { Scheduler } from '../jobs/scheduler.ts';
import { jobColumns, type StoredJob } from '../store/jobs/jobTable.ts';
import type { Store } from '../store/store.ts';
import { EventStreams } from '../streams/eventStreams.ts';
import { abortOnRevocation } from './access/abortOnRevocation.ts';
import { retryLater } from './access/accountGauge.ts';
import type { AppContext } from './access/appEnv.ts';
import { findJob } from './access/findJob.ts';
import type { KeyAuthenticator } from './access/keyAuthenticator.ts';
import { isAllowed, outOfScope, restrictedKey } from './access/keyScopes.ts';
import { refusal } from './access/httpRefusal.ts';
import { requireOpenForSubmissions, type SubmissionGate } from './healthRoutes.ts';
import { MAX_LIST, type RouteHandlers, ROUTES } from './apiRoutes.ts';
import type { AcceptContext } from './submit/acceptJob.ts';
import type { Submissions } from './submit/submissions.ts';
import { job } from '../../remote/protocol/schemas.ts';
import { toCredits } from '../store/accounts/creditLedger.ts';

const MAX_UNFINISHED_JOBS = 10_000;
// Jobs end after minutes rather than seconds.
const QUEUE_RETRY_SECONDS = 30;

/** What `submissions` needs, except for what is different for each request. */
type AcceptOptions = Omit<
  AcceptContext,
  | 'account'
  | 'diskRefusal'
  | 'freeBytes'
  | 'keyId'
  | 'maxRunTime'
  | 'maxUploadBytes'
  | 'mayUseSecrets'
  | 'restrictedKey'
>;

export interface JobOptions extends SubmissionGate, AcceptOptions {
  readonly scheduler: Scheduler;
  readonly submissions: Submissions;
  readonly authenticator: KeyAuthenticator;
  /** Its abort ends open event streams. */
  readonly shutdown: AbortSignal;
}

/** Submits, lists and cancels jobs, and streams their events. */
export function jobHandlers(
  options: JobOptions,
): Pick<RouteHandlers, 'listJobs' | 'submitJob' | 'submissionStatus' | 'job' | 'cancelJob' | 'events'> {
  const { store, scheduler, submissions, shutdown, gauge, authenticator } = options;
  const show = (job: StoredJob) => showJob(withDrainReason(job, store.drain.get()));
  const streams = new EventStreams(store, shutdown);
  return {
    listJobs: (context) => ({ jobs: listJobs(context, store).map(show) }),
    submitJob: (context) => submitJob(context, options),
    submissionStatus: (context) => submissions.status(context.var.account.id, context.req.param('key') ?? '', store),
    job: (context) => show(findJob(context, store)),
    cancelJob: async (context) => {
      const job = findJob(context, store);
      requireAccessTo(job, context);
      await scheduler.cancelAndWait(job, shutdown);
      return { job_id: job.id, state: findJob(context, store).state };
    },
    events: (context) => {
      const job = findJob(context, store);
      gauge.take(context, 'streams');
      return sendEvents(context, job, streams, abortOnRevocation(context, authenticator, { isTransfer: false }));
    },
  };
}

async function submitJob(context: AppContext, options: JobOptions) {
  const { store, scheduler, submissions, gauge, health } = options;
  await requireOpenForSubmissions(context, options);
  if (store.unfinished.count >= MAX_UNFINISHED_JOBS) {
    const why = `The service has ${MAX_UNFINISHED_JOBS} waiting and running jobs, the most that it accepts.`;
    throw retryLater(context, QUEUE_RETRY_SECONDS, why);
  }
  const { account, caller } = context.var;
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
  const { accepted, isNew } = await submissions.accept(
    context.env.incoming,
    {
      ...options,
      account: account.id,
      maxUploadBytes,
      maxRunTime,
      keyId: caller.key?.id,
      restrictedKey: restrictedKey(context),
      mayUseSecrets: isAllowed(context, 'secrets'),
      diskRefusal: async (bytes) => options.disk.refusal(account.id, bytes) ?? (await health.refusal(bytes)),
      freeBytes: () => health.freeBytes(),
    },
    signal,
  );
  const job = isNew ? store.jobs.find(account.id, accepted.job_id) : undefined;
  if (job !== undefined) scheduler.enqueue(job);
  return accepted;
}

/** A key that may submit a job may also cancel it. @throws HTTPException 403. */
function requireAccessTo(job: StoredJob, context: AppContext): void {
  const { access, accessToOwn } = ROUTES.cancelJob;
  const isOwn = job.keyId !== null && job.keyId === context.var.caller.key?.id;
  if (!isAllowed(context, access) && !(isOwn && isAllowed(context, accessToOwn))) throw outOfScope(access);
}

function listJobs(context: AppContext, store: Store): readonly StoredJob[] {
  const { data: limit } = ROUTES.listJobs.parameters.query.limit.safeParse(context.req.query('limit'));
  if (limit === undefined) throw refusal(400, `limit: must be 1 to ${MAX_LIST}.`);
  const before = context.req.query('before');
  const account = context.var.account.id;
  const start = before === undefined ? undefined : store.jobs.find(account, before);
  if (before !== undefined && start === undefined) throw refusal(404, 'before: this job does not exist.');
  return store.jobs.list(account, limit, start);
}

/** Until the job or the signal ends it. Bypasses the framework, whose streams cost several times as much memory per reader. */
function sendEvents(context: AppContext, job: StoredJob, streams: EventStreams, signal: AbortSignal): Response {
  const lastId = context.req.header('last-event-id') ?? '0';
  if (!/^\d{1,15}$/.test(lastId)) throw refusal(400, 'Last-Event-ID: must be the ID of an event of this job.');
  const isGzipped = acceptsGzip(context.req.header('accept-encoding') ?? '');
  streams.add(job, context.env.outgoing, { after: Number(lastId), isGzipped, signal });
  return RESPONSE_ALREADY_SENT;
}

/** Whether the header names gzip or `*` with a weight above zero (RFC 9110, section 12.5.3). */
function acceptsGzip(header: string): boolean {
  const weights = new Map(
    header.split(',').map((item) => {
      const [name = '', weight = 'q=1'] = item.split(';').map((part) => part.trim().toLowerCase());
      return [name, Number(weight.replace(/^q=/, ''))];
    }),
  );
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0;
}

/**
 * The response to `GET /v1/jobs/{id}`. A field of the protocol's job has the value of the column with its name, a time (`…_at`) in ISO
 * 8601; only the ID and the credits have columns of their own kind.
 */
export function showJob(storedJob: StoredJob): z.infer<typeof job> {
  const { id, hold, charged, command, debug, frozen, finishedAt } = storedJob;
  const columns = Object.entries(jobColumns(storedJob)).map(([name, value]) => [name, shown(name, value)]);
  return job.parse({
    ...Object.fromEntries(columns),
    job_id: id,
    command: command === null ? null : parseJson(command),
    debug: debug === null ? null : parseJson(debug),
    frozen: frozen === null || finishedAt !== null ? null : parseJson(frozen),
    credit_hold: toCredits(hold),
    credits_charged: charged === null ? null : toCredits(charged),
  });
}

function shown(name: string, value: unknown): unknown {
  return name.endsWith('_at') && typeof value === 'number' ? new Date(value).toISOString() : value;
}
