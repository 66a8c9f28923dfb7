import { setTimeout as sleep } from 'node:timers/promises';
import { makeArchive } from '../../test/service/support/archive.ts';
import { type LoadClient, RefusedError, type SeenEvent } from './client.ts';
import { type JobKind, randomKind, scriptOf } from './jobKind.ts';
import { pick, type Random } from '../../test/random.ts';
import type { LoadedSite } from './site.ts';
import type { Witness } from './witness.ts';

// Every second client whose answer was lost sends its submission again, under the same key.
const STUBBORN = 0.5;
const IS_BEING_TAKEN = 409;
const CANCEL_WITHIN_MS = 3_000;
// Some of the jobs that would end by themselves are cancelled as well, at an instant that may be before or after their end.
const STRAY_CANCELS = 0.05;
const LIST_EVERY_MS = 1_000;
const BUSY_MS = 200;
// Readers choose from the newest jobs: those are still written to.
const NEWEST = 20;

/** A submission: what was sent, and what the client knows of it. */
export interface SentJob {
  readonly name: string;
  readonly kind: JobKind;
  /** Set once the service has answered that it has the job. */
  id?: string;
  isCancelAsked: boolean;
  isCancelAnswered: boolean;
  /** Something that the job itself runs in was killed. */
  isHarmed: boolean;
}

export interface LoadOptions {
  readonly site: LoadedSite;
  readonly witness: Witness;
  readonly random: Random;
  readonly senders: number;
  readonly readers: number;
  /** Longest pause of a sender between two jobs; its pauses are of any length up to this. */
  readonly pauseMs: number;
  /** Jobs that may wait or run before senders wait. */
  readonly maxUnfinished: number;
  readonly machineClasses: readonly string[];
}

/** What clients do to one service, again and again, whether it lives or not. */
export class Load {
  readonly sent: SentJob[] = [];
  readonly accepted = new Map<string, SentJob>();
  readonly finished = new Set<string>();
  /** The events that readers have received, by job and number. */
  readonly seen = new Map<string, Map<number, string>>();
  /** Answers that no client should get. */
  readonly wrongAnswers: string[] = [];
  readonly counts = { lostAnswers: 0, sentAgain: 0, cancels: 0, reads: 0, events: 0, downloads: 0, listings: 0 };
  readonly #options: LoadOptions;
  #sending = Promise.withResolvers<void>();

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  /** The beginning of the next submission. */
  get nextSubmission(): Promise<void> {
    return this.#sending.promise;
  }

  /** Goes on until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const { senders, readers } = this.#options;
    const repeat = async (work: () => Promise<void>): Promise<void> => {
      while (!signal.aborted) await work().catch(() => sleep(BUSY_MS));
    };
    const many = (count: number, work: () => Promise<void>) => Array.from({ length: count }, () => repeat(work));
    await Promise.all([
      ...many(senders, () => this.#send(signal)),
      ...many(readers, () => this.#read(signal)),
      repeat(() => this.#download(signal)),
      repeat(() => this.#list(signal)),
      repeat(() => this.#cancelSome(signal)),
    ]);
  }

  /** Cancels a job, and repeats that until the service has answered. */
  async cancel(job: SentJob, signal: AbortSignal): Promise<void> {
    job.isCancelAsked = true;
    while (!job.isCancelAnswered) {
      await this.#ask(signal, (client) => client.cancel(job.id ?? '', signal)).then(
        () => (job.isCancelAnswered = true),
        () => sleep(BUSY_MS, undefined, { signal }),
      );
    }
    this.counts.cancels += 1;
  }

  async #send(signal: AbortSignal): Promise<void> {
    const { site, witness, random, pauseMs, maxUnfinished, machineClasses } = this.#options;
    if (this.accepted.size - this.finished.size >= maxUnfinished) {
      await sleep(BUSY_MS, undefined, { signal });
      return;
    }
    await site.client(signal);
    const kind = randomKind(random);
    const name = `${site.name}-${this.sent.length}`;
    const job: SentJob = { name, kind, isCancelAsked: false, isCancelAnswered: false, isHarmed: false };
    const meta = { project: name, max_runtime: kind.maxRuntime, machine_class: pick(machineClasses, random) };
    const pause = random() * pauseMs;
    this.sent.push(job);
    this.#sending.resolve();
    this.#sending = Promise.withResolvers();
    const archive = await makeArchive({ 'job.sh': scriptOf(kind, name, witness) });
    // A job that is not recorded would not be cancelled, and would hold its slot.
    const isStubborn = kind.isCancelled || random() < STUBBORN;
    while (job.id === undefined) {
      try {
        job.id = await this.#ask(signal, (client) => client.submit(archive, meta, { key: name, signal }));
        this.accepted.set(job.id, job);
      } catch (error) {
        if (signal.aborted || (error instanceof RefusedError && error.status !== IS_BEING_TAKEN)) break;
        if (!(error instanceof RefusedError)) this.counts.lostAnswers += 1;
        if (!isStubborn) break;
        this.counts.sentAgain += 1;
        await sleep(BUSY_MS, undefined, { signal });
      }
    }
    await sleep(pause, undefined, { signal });
  }

  /** Reads a job to its end, over as many connections as that takes. */
  async #read(signal: AbortSignal): Promise<void> {
    await sleep(BUSY_MS * this.#options.random(), undefined, { signal });
    const id = pick([...this.accepted.keys()].slice(-NEWEST), this.#options.random);
    if (id === undefined) return;
    let last: SeenEvent = { id: 0, type: '', data: '' };
    while (last.type !== 'end') {
      last = await this.#readOn(id, last, signal).catch(() => sleep(BUSY_MS, last, { signal }));
    }
    this.counts.reads += 1;
  }

  /** Reads a job's events after `last` from one connection, and returns the last one that arrived. */
  async #readOn(id: string, last: SeenEvent, signal: AbortSignal): Promise<SeenEvent> {
    const seen = this.seen.get(id) ?? new Map<number, string>();
    this.seen.set(id, seen);
    return this.#ask(signal, async (client) => {
      let newest = last;
      try {
        for await (const event of client.events(id, last.id, signal)) {
          const text = `${event.type} ${event.data}`;
          if (event.id !== newest.id + 1)
            this.wrongAnswers.push(`${id}: the event ${event.id} came after ${newest.id}`);
          if ((seen.get(event.id) ?? text) !== text) this.wrongAnswers.push(`${id}: the event ${event.id} has changed`);
          seen.set(event.id, text);
          newest = event;
          this.counts.events += 1;
        }
      } catch (error) {
        if (newest === last || error instanceof RefusedError) throw error;
      }
      return newest;
    });
  }

  async #download(signal: AbortSignal): Promise<void> {
    await sleep(BUSY_MS * 2 * this.#options.random(), undefined, { signal });
    const id = pick([...this.finished], this.#options.random);
    const job = this.accepted.get(id ?? '');
    // One that was cancelled before it ran, or whose runner was killed, may have nothing to bring.
    if (id === undefined || job?.kind.isEnding !== true || job.isCancelAsked || job.isHarmed) return;
    await this.#ask(signal, (client) => client.results(id, signal));
    this.counts.downloads += 1;
  }

  async #list(signal: AbortSignal): Promise<void> {
    for (const job of await this.#ask(signal, (client) => client.jobs(signal))) {
      if (job.finished_at !== null && this.accepted.has(job.job_id)) this.finished.add(job.job_id);
    }
    this.counts.listings += 1;
    await sleep(LIST_EVERY_MS, undefined, { signal });
  }

  async #cancelSome(signal: AbortSignal): Promise<void> {
    const { random } = this.#options;
    const started = new Set<SentJob>();
    const cancels = new Set<Promise<void>>();
    while (!signal.aborted) {
      for (const job of [...this.accepted.values()].slice(-NEWEST)) {
        if (started.has(job)) continue;
        started.add(job);
        const [isWanted, delay] = [job.kind.isCancelled || random() < STRAY_CANCELS, random() * CANCEL_WITHIN_MS];
        if (!isWanted) continue;
        const cancel = sleep(delay, undefined, { signal })
          .then(() => this.cancel(job, signal))
          .catch(() => {})
          .finally(() => cancels.delete(cancel));
        cancels.add(cancel);
      }
      await sleep(BUSY_MS, undefined, { signal });
    }
  }

  /** Asks the service that listens now or next. A refusal that load does not explain is recorded. */
  async #ask<T>(signal: AbortSignal, work: (client: LoadClient) => Promise<T>): Promise<T> {
    try {
      return await work(await this.#options.site.client(signal));
    } catch (error) {
      if (error instanceof RefusedError && ![IS_BEING_TAKEN, 429].includes(error.status))
        this.wrongAnswers.push(error.message);
      throw error;
    }
  }
}
