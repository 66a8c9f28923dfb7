import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type Disposable, DisposableStore } from '../core/processes/lifetime.ts';
import type { ExecutorCalls } from './executor/executorCalls.ts';
import type { Health } from './health/health.ts';
import type { HealthPart } from './health/parts.ts';
import type { FinishedRequest, RequestMonitor } from './http/requestMonitor.ts';
import { toCredits } from './store/accounts/creditLedger.ts';
import type { Store } from './store/store.ts';
import type { StoreChange } from './store/jobs/jobTable.ts';

// Gauges that prom-client names like counters. The gauges by type, without the suffix, have the same numbers.
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];
const SUBMIT_ROUTE = '/v1/jobs';
const REQUEST_SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600];
const WAIT_SECONDS = [0.1, 1, 10, 60, 600, 3_600, 6 * 3_600, 24 * 3_600];

export interface MetricsOptions {
  readonly store: Pick<Store, 'onDidChange' | 'jobs'>;
  readonly monitor: RequestMonitor;
  readonly health: Health;
  readonly calls: ExecutorCalls;
  /** Returns the size of all results; undefined while that is not known. */
  readonly resultsBytes: () => number | undefined;
  /** Returns when the certificate expires, in milliseconds since 1970; undefined without one. */
  readonly certificateExpiresAt: () => number | undefined;
  readonly version: string;
}

/**
 * The metrics of the service, in Prometheus' text format (https://prometheus.io/docs/instrumenting/exposition_formats/).
 *
 * Labels are routes, states, machine classes and error codes, of which there are few; never jobs, accounts or paths, whose
 * number is not bounded.
 */
export class Metrics implements Disposable {
  readonly #registry = new Registry();
  readonly #options: MetricsOptions;
  readonly #subscriptions = new DisposableStore();
  readonly #requests = this.#counter(
    'farwharf_http_requests_total',
    'Answered requests by route and status (499: the client disconnected).',
    ['method', 'route', 'status'],
  );
  readonly #requestSeconds = this.#histogram(
    'farwharf_http_request_seconds',
    'Time from a request to the end of its response, without event streams.',
    { labelNames: ['route'], buckets: REQUEST_SECONDS },
  );
  readonly #uploaded = this.#counter(
    'farwharf_uploaded_bytes_total',
    'Bytes received with submissions, accepted or not.',
  );
  readonly #submitted = this.#counter('farwharf_jobs_submitted_total', 'Jobs accepted.', ['machine_class']);
  readonly #ended = this.#counter('farwharf_jobs_ended_total', 'Jobs ended, by state.', ['state', 'machine_class']);
  readonly #wait = this.#histogram('farwharf_job_wait_seconds', 'Time from the submission of a job to its start.', {
    labelNames: ['machine_class'],
    buckets: WAIT_SECONDS,
  });
  readonly #events = this.#counter('farwharf_events_appended_total', 'Job events stored.');
  readonly #credits = this.#counter('farwharf_credits_spent_total', 'Credits charged for jobs.', ['machine_class']);
  readonly #executorErrors = this.#counter(
    'farwharf_executor_errors_total',
    'Failed calls of the executor, by call and code.',
    ['call', 'code'],
  );

  constructor(options: MetricsOptions) {
    this.#options = options;
    const { store, monitor, calls, version } = options;
    collectDefaultMetrics({ register: this.#registry });
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name);
    this.#addGauges();
    this.#gauge('farwharf_info', 'The running version.', ['version']).set({ version }, 1);
    this.#subscriptions.add(calls.onDidFail(({ call, code }) => this.#executorErrors.inc({ call, code })));
    this.#subscriptions.add(monitor.onDidFinish((request) => this.#countRequest(request)));
    this.#subscriptions.add(store.onDidChange((change) => this.#countChange(change)));
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
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

  /** @param collect sets the value before each scrape. */
  #counter<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
    collect?: (counter: Counter<Label>) => void,
  ): Counter<Label> {
    const hook = collect && { collect: (): void => collect(counter) };
    const counter: Counter<Label> = new Counter({ registers: [this.#registry], name, help, labelNames, ...hook });
    return counter;
  }

  #histogram<Label extends string>(
    name: string,
    help: string,
    options: { readonly labelNames: readonly Label[]; readonly buckets: number[] },
  ): Histogram<Label> {
    return new Histogram({ registers: [this.#registry], name, help, ...options });
  }

  /** @param collect sets the value before each scrape. */
  #gauge<Label extends string = never>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
    collect?: (gauge: Gauge<Label>) => void | Promise<void>,
  ): Gauge<Label> {
    const gauge: Gauge<Label> = new Gauge({
      registers: [this.#registry],
      name,
      help,
      labelNames,
      ...(collect && { collect: () => collect(gauge) }),
    });
    return gauge;
  }

  #addGauges(): void {
    const { store, monitor, health, calls, resultsBytes, certificateExpiresAt } = this.#options;
    const measured = (
      name: string,
      help: string,
      value: () => number | undefined | Promise<number | undefined>,
    ): void => {
      this.#gauge(name, help, [], async (gauge) => {
        const now = await value();
        // Without a value, the library would report 0.
        if (now === undefined) gauge.remove();
        else gauge.set(now);
      });
    };
    this.#gauge('farwharf_jobs', 'Unfinished jobs.', ['state', 'machine_class'], (gauge) => {
      gauge.reset();
      for (const { state, machineClass, count } of store.jobs.countByState()) {
        gauge.set({ state, machine_class: machineClass }, count);
      }
    });
    measured('farwharf_queue_oldest_seconds', 'Age of the oldest queued job; 0 without one.', () => {
      const { oldestAt } = health.queued;
      return oldestAt === undefined ? 0 : Math.max(0, Date.now() - oldestAt) / 1000;
    });
    measured('farwharf_slots', 'Jobs that the executor can have at once.', () => health.slots?.all);
    measured('farwharf_slots_free', 'Jobs that the executor could take now.', () => health.slots?.free);
    const { cluster } = calls.executor;
    if (cluster !== undefined) {
      measured('farwharf_cluster_up', 'Whether the cluster answered when it was last asked.', () =>
        Number(cluster.failingSince === undefined && cluster.answeredAt !== undefined),
      );
      const help = "The cluster's last answer, in seconds since 1970.";
      measured('farwharf_cluster_last_answer_timestamp_seconds', help, () =>
        cluster.answeredAt === undefined ? undefined : (Date.now() - performance.now() + cluster.answeredAt) / 1000,
      );
    }
    const clockHelp = 'How often the clock was set, according to the monotonic one.';
    this.#counter('farwharf_clock_steps_total', clockHelp, [], (counter) => {
      counter.reset();
      counter.inc(health.clock.steps);
    });
    measured('farwharf_event_streams_open', 'Open event streams.', () => monitor.openStreams);
    measured('farwharf_disk_free_bytes', 'Free space of the data folder.', () =>
      health.freeBytes().catch(() => undefined),
    );
    measured('farwharf_disk_min_free_bytes', 'Free space below which jobs are refused.', () => health.minFreeBytes);
    measured('farwharf_results_bytes', 'Stored results, as of the last sweep.', resultsBytes);
    const isFine = (status: HealthPart['status']): boolean => status === 'ok' || status === 'draining';
    measured('farwharf_healthy', 'Whether no part of /healthz needs attention.', async () =>
      Number(isFine((await health.report()).status)),
    );
    measured('farwharf_accepting_jobs', 'Whether jobs are accepted.', async () =>
      Number(!health.isStopping && health.drain === undefined && (await health.report()).status !== 'unavailable'),
    );
    measured('farwharf_draining', 'Whether an operator has drained the service.', () =>
      Number(health.drain !== undefined),
    );
    this.#gauge('farwharf_part_healthy', 'Whether a part of /healthz needs no attention.', ['part'], async (gauge) => {
      const { parts } = await health.report();
      for (const [part, { status }] of Object.entries(parts)) gauge.set({ part }, Number(isFine(status)));
    });
    measured('farwharf_certificate_expires_seconds', 'Expiry of the certificate, in seconds since 1970.', () => {
      const at = certificateExpiresAt();
      return at === undefined ? undefined : at / 1000;
    });
  }
}
