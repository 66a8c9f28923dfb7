import type * as vscode from 'vscode';
import type { TraceEvent } from '../../../agents/records/trace.ts';
import { isAbort } from '../../../core/errors.ts';
import { type Disposable, DisposableStore, untilTrue } from '../../../core/processes/lifetime.ts';
import type { Logger } from '../../../core/log.ts';
import { JobFlowEvents } from '../../../flows/run/start/jobFlowEvents.ts';
import { firstTrace } from '../../../flows/run/history/runQueries.ts';
import type { RunEvent } from '../../../flows/run/protocol/runEvent.ts';
import { type RunTimeline, timelinesOf } from '../../../flows/run/protocol/runTimeline.ts';
import { describeJob } from '../../../jobs/report/describeJob.ts';
import { isOver, isWaiting, type JobRecord } from '../../../jobs/ledger/record.ts';
import { EventSpool } from '../../../jobs/log/spool.ts';
import type { RunInfo } from '../../../webview/canvas/state/canvasMessages.ts';
import type { JobStore } from '../../jobs/store/jobStore.ts';
import {
  describeLastSeen,
  describeLostService,
  type LostContact,
  type LostContacts,
} from '../../jobs/store/lostContacts.ts';
import { hostTitle } from '../../ui/words.ts';

const KEY = 'flow jobs';
const MAX_KEPT = 50;

interface FlowJobEntry {
  readonly job: string;
  /** The path of the flow's file. */
  readonly file: string;
  readonly flow: string;
}

export interface FlowJobsDeps {
  /** FARWHARF_HOME. */
  readonly home: string;
  readonly store: JobStore;
  readonly lostContacts: Pick<LostContacts, 'get' | 'onDidChange'>;
  readonly memory: vscode.Memento;
  readonly log: Logger;
}

/** Receives the runs to show. */
export interface RunSink {
  begin(file: string, run: RunInfo): void;
  events(file: string, run: RunInfo, events: readonly RunEvent[]): void;
  end(file: string, run: RunInfo): void;
  /** The information about a run has changed, other than by its events. */
  changed(file: string, run: RunInfo): void;
}

/** Flows submitted as jobs from this window's folder. Their runs look like those on this machine, also after a reload. */
export class FlowJobs implements Disposable {
  readonly #deps: FlowJobsDeps;
  readonly #sink: RunSink;
  readonly #following = new Map<string, AbortController>();
  readonly #disposables = new DisposableStore();

  constructor(deps: FlowJobsDeps, sink: RunSink) {
    this.#deps = deps;
    this.#sink = sink;
    this.#disposables.add(
      deps.store.onDidChange(() => {
        this.#leaveRemoved();
        this.#followUnfinished();
      }),
    );
    this.#disposables.add(
      deps.lostContacts.onDidChange((job) => {
        for (const entry of this.#entries().filter((each) => each.job === job)) {
          const run = this.#infoOf(entry);
          if (run !== undefined) sink.changed(entry.file, run);
        }
      }),
    );
    this.#followUnfinished();
  }

  /** Shows the run of a new job from its start. */
  async add(job: string, file: string, flow: string): Promise<void> {
    const entries = [{ job, file, flow }, ...this.#entries()].slice(0, MAX_KEPT);
    await this.#deps.memory.update(KEY, entries);
    this.#followUnfinished({ alsoEnded: job });
  }

  /** Shows the run of a job that continues another with an answer, if that one is shown. */
  async addAnswer(job: string, answered: string): Promise<void> {
    const entry = this.#entries().find((each) => each.job === answered);
    if (entry !== undefined) await this.add(job, entry.file, entry.flow);
  }

  /** @param renamed returns the new path of a file; undefined if it has not changed. */
  async followRenames(renamed: (file: string) => string | undefined): Promise<void> {
    const entries = this.#entries().map((entry) => ({ ...entry, file: renamed(entry.file) ?? entry.file }));
    await this.#deps.memory.update(KEY, entries);
  }

  /** The runs of a file, the newest first. */
  list(file: string): readonly RunInfo[] {
    const entries = this.#entries().filter((entry) => entry.file === file);
    return entries.map((entry) => this.#infoOf(entry)).filter((run) => run !== undefined);
  }

  isJob(run: string): boolean {
    return this.#entries().some(({ job }) => job === run);
  }

  async events(job: string): Promise<readonly TraceEvent[]> {
    return firstTrace(await this.#read(job));
  }

  /** The known steps of a job's run; undefined before the first. */
  async timeline(job: string): Promise<RunTimeline | undefined> {
    return timelinesOf(await this.#read(job))[0];
  }

  dispose(): void {
    this.#disposables.dispose();
    for (const following of this.#following.values()) following.abort();
  }

  #infoOf(entry: FlowJobEntry): RunInfo | undefined {
    const record = this.#deps.store.get(entry.job);
    return record && infoOf(entry, record, this.#deps.lostContacts.get(entry.job));
  }

  #entries(): readonly FlowJobEntry[] {
    return this.#deps.memory.get<readonly FlowJobEntry[]>(KEY) ?? [];
  }

  /** @param alsoEnded a job whose run is shown even if it has ended by now. */
  #followUnfinished({ alsoEnded = '' } = {}): void {
    for (const entry of this.#entries()) {
      const record = this.#deps.store.get(entry.job);
      if (record === undefined || (isOver(record) && entry.job !== alsoEnded) || this.#following.has(entry.job))
        continue;
      this.#follow(entry, record).catch((error: unknown) => {
        if (!isAbort(error)) this.#deps.log.error('the run of a job could not be followed', { error });
      });
    }
  }

  /** No more events arrive for a removed job, not even its end. */
  #leaveRemoved(): void {
    for (const [job, following] of this.#following) {
      if (this.#deps.store.get(job) === undefined) following.abort();
    }
  }

  async #follow(entry: FlowJobEntry, record: JobRecord): Promise<void> {
    const following = new AbortController();
    this.#following.set(entry.job, following);
    this.#sink.begin(entry.file, infoOf(entry, record));
    const reader = new JobFlowEvents();
    const now = (): RunInfo => this.#infoOf(entry) ?? infoOf(entry, record);
    try {
      for await (const event of new EventSpool(this.#deps.home, entry.job).follow({ signal: following.signal })) {
        const events = reader.push(event);
        if (events.length > 0) this.#sink.events(entry.file, now(), events);
      }
      await this.#settled(entry.job, following.signal);
    } finally {
      this.#sink.end(entry.file, now()); // also if it can no longer be followed, so that no caller waits forever
    }
  }

  /** Waits until the ledger has the end of the job, which is written just after its events. */
  async #settled(job: string, signal: AbortSignal): Promise<void> {
    const { store } = this.#deps;
    const isSettled = (): boolean => {
      const record = store.get(job);
      return record === undefined || isOver(record);
    };
    await untilTrue(store.onDidChange, isSettled, signal);
  }

  async #read(job: string): Promise<readonly RunEvent[]> {
    const reader = new JobFlowEvents();
    const events: RunEvent[] = [];
    for await (const event of new EventSpool(this.#deps.home, job).read()) events.push(...reader.push(event));
    return events;
  }
}

/** @param lost set while the service of the job cannot be asked. */
function infoOf({ flow }: FlowJobEntry, record: JobRecord, lost?: LostContact): RunInfo {
  const startedAt = Date.parse(record.startedAt ?? record.createdAt);
  const hasEnded = isOver(record);
  return {
    id: record.id,
    flow,
    state: stateOf(record),
    startedAt,
    durationMs: hasEnded ? Date.parse(record.finishedAt ?? record.createdAt) - startedAt : undefined,
    remote: `${hostTitle(record.host)} ${record.jobId ?? ''}`.trim(),
    message: hasEnded
      ? failureOf(record)
      : lost && `${describeLastSeen(record, lost)} · ${describeLostService({ ...lost, host: record.host })}`,
    ...(isWaiting(record) && { pause: record.waiting }),
    isRecorded: false,
  };
}

function failureOf(record: JobRecord): string | undefined {
  return record.state === 'succeeded' ? undefined : describeJob(record, Date.now());
}

function stateOf(record: JobRecord): RunInfo['state'] {
  if (!isOver(record)) return 'running';
  if (record.waiting !== null) return record.answeredBy === null ? 'waiting' : 'answered';
  if (record.state === 'succeeded') return 'done';
  return record.state === 'cancelled' ? 'stopped' : 'failed';
}
