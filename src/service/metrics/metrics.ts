import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { AppError } from '../../core/errors.ts';
import { type Disposable, DisposableStore } from '../../core/processes/lifetime.ts';
import type { Executor } from '../executor/executor.ts';
import type { Health } from '../http/health.ts';
import type { FinishedRequest, RequestMonitor } from '../http/requestMonitor.ts';
import { toCredits } from '../store/accounts/credits.ts';
import type { Store } from '../store/store.ts';
import type { StoreChange } from '../store/jobs/storeChange.ts';

const SUBMIT_ROUTE = '/v1/jobs';
const REQUEST_SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600];
const WAIT_SECONDS = [0.1, 1, 10, 60, 600, 3_600, 6 * 3_600, 24 * 3_600];

export interface MetricsOptions {
  readonly store: Pick<Store, 'onDidChange' | 'jobs'>;
  readonly monitor: RequestMonitor;
  readonly health: Health;
  /** What the results of all jobs take; undefined while that is not known. */
  readonly resultsBytes: () => number | undefined;
  /** When the certificate ends, in milliseconds since 1970; undefined for a service without one. */
  readonly certificateExpiresAt: () => number | undefined;
  readonly version: string;
}

/**
 * What the service counts, in Prometheus' text format (https://prometheus.io/docs/instrumenting/exposition_formats/).
 *
 * Labels are routes, states, machine classes and codes of errors, of which there are few; never a job, an account or a path,
 * of which there is no end.
 */
export class Metrics implements Disposable {
  readonly #registry = new Registry();
  readonly #options: MetricsOptions;
  readonly #subscriptions = new DisposableStore();
  readonly #common = { registers: [this.#registry] };
  readonly #requests = new Counter({
    ...this.#common,
    name: 'farwharf_http_requests_total',
    help: 'Requests that were answered, by route and status (499: the client left).',
    labelNames: ['method', 'route', 'status'],
  });
  readonly #requestSeconds = new Histogram({
    ...this.#common,
    name: 'farwharf_http_request_seconds',
    help: 'Time from a request to the end of its answer; event streams are not in it.',
    labelNames: ['route'],
    buckets: REQUEST_SECONDS,
  });
  readonly #uploaded = new Counter({
    ...this.#common,
    name: 'farwharf_uploaded_bytes_total',
    help: 'Bytes received with submissions, accepted or not.',
  });
  readonly #submitted = new Counter({
    ...this.#common,
    name: 'farwharf_jobs_submitted_total',
    help: 'Jobs accepted.',
    labelNames: ['machine_class'],
  });
  readonly #ended = new Counter({
    ...this.#common,
    name: 'farwharf_jobs_ended_total',
    help: 'Jobs ended, by how.',
    labelNames: ['state', 'machine_class'],
  });
  readonly #wait = new Histogram({
    ...this.#common,
    name: 'farwharf_job_wait_seconds',
    help: 'Time from the submission of a job to its start.',
    labelNames: ['machine_class'],
    buckets: WAIT_SECONDS,
  });
  readonly #events = new Counter({
    ...this.#common,
    name: 'farwharf_events_appended_total',
    help: 'Events of jobs that were stored.',
  });
  readonly #credits = new Counter({
    ...this.#common,
    name: 'farwharf_credits_spent_total',
    help: 'Credits charged for jobs.',
    labelNames: ['machine_class'],
  });
  readonly #executorErrors = new Counter({
    ...this.#common,
    name: 'farwharf_executor_errors_total',
    help: 'Failed calls of what runs the jobs, by call and code.',
    labelNames: ['call', 'code'],
  });

  constructor(options: MetricsOptions) {
    this.#options = options;
    const { store, monitor, version } = options;
    collectDefaultMetrics({ register: this.#registry });
    this.#addGauges();
    new Gauge({
      ...this.#common,
      name: 'farwharf_info',
      help: 'The version that runs.',
      labelNames: ['version'],
    }).set({ version }, 1);
    this.#subscriptions.add(monitor.onDidFinish((request) => this.#countRequest(request)));
    this.#subscriptions.add(store.onDidChange((change) => this.#countChange(change)));
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** The same executor, whose failed calls are counted. */
  watch(executor: Executor): Executor {
    const count = <T>(call: string, work: Promise<T>): Promise<T> =>
      work.catch((error: unknown) => {
        this.#executorErrors.inc({ call, code: error instanceof AppError ? error.code : 'other' });
        throw error;
      });
    return {
      capacity: executor.capacity,
      isLocal: executor.isLocal,
      refusal: () => executor.refusal(),
      launch: (job, folder, signal) => count('launch', executor.launch(job, folder, signal)),
      status: (jobId, folder) => count('status', executor.status(jobId, folder)),
      reportSecret: (jobId) => executor.reportSecret(jobId),
      cancel: (jobId) => count('cancel', executor.cancel(jobId)),
      cleanUp: (jobId, folder) => count('clean-up', executor.cleanUp(jobId, folder)),
      forget: (jobId) => executor.forget(jobId),
      stop: () => executor.stop(),
    };
  }

  dispose(): void {
    this.#subscriptions.dispose();
    this.#registry.clear();
  }

  #countRequest({ method, route, status, ms, received }: FinishedRequest): void {
    this.#requests.inc({ method, route, status });
    if (!route.endsWith('/events')) this.#requestSeconds.observe({ route }, ms / 1000);
    if (method === 'POST' && route === SUBMIT_ROUTE) this.#uploaded.inc(received);
  }

  #countChange(change: StoreChange): void {
    if (change.type === 'events') {
      this.#events.inc(change.count);
      return;
    }
    const { machineClass } = change.job;
    const labels = { machine_class: machineClass };
    if (change.type === 'submitted') this.#submitted.inc(labels);
    else if (change.type === 'started') this.#wait.observe(labels, (change.at - change.job.createdAt) / 1000);
    else {
      const { state, charged } = change.ending;
      this.#ended.inc({ ...labels, state });
      this.#credits.inc(labels, toCredits(charged));
    }
  }

  /** What is looked up when somebody asks. */
  #addGauges(): void {
    const { store, monitor, health, resultsBytes, certificateExpiresAt } = this.#options;
    const gauge = (name: string, help: string, value: () => number | undefined | Promise<number | undefined>): void => {
      const collected: Gauge = new Gauge({
        ...this.#common,
        name,
        help,
        collect: async () => {
          const now = await value();
          if (now !== undefined) collected.set(now);
        },
      });
    };
    const jobs: Gauge<'state' | 'machine_class'> = new Gauge({
      ...this.#common,
      name: 'farwharf_jobs',
      help: 'Jobs that have not ended.',
      labelNames: ['state', 'machine_class'],
      collect: () => {
        jobs.reset();
        for (const { state, machineClass, count } of store.jobs.countByState()) {
          jobs.set({ state, machine_class: machineClass }, count);
        }
      },
    });
    gauge('farwharf_event_streams_open', 'Event streams that are open.', () => monitor.openStreams);
    gauge('farwharf_disk_free_bytes', 'Free space for the data folder.', () =>
      health.freeBytes().catch(() => undefined),
    );
    gauge('farwharf_disk_min_free_bytes', 'Below this no job is taken.', () => health.minFreeBytes);
    gauge('farwharf_results_bytes', 'Results that are kept, as of the last sweep.', resultsBytes);
    gauge('farwharf_healthy', 'Whether /healthz says ok.', async () =>
      (await health.problems()).length === 0 ? 1 : 0,
    );
    gauge('farwharf_certificate_expires_seconds', 'End of the certificate, in seconds since 1970.', () => {
      const at = certificateExpiresAt();
      return at === undefined ? undefined : at / 1000;
    });
  }
}
