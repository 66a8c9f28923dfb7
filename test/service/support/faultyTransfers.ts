import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeFailure } from '../../../src/cli/command/exit.ts';
import { explain } from '../../../src/extension/ui/errorText.ts';
import { directArchiver } from '../../../src/jobs/archives/archiver.ts';
import { directLedger } from '../../../src/jobs/ledger/asyncLedger.ts';
import type { JobService } from '../../../src/jobs/service/api.ts';
import { downloadResults } from '../../../src/jobs/results/resultDownload.ts';
import { watchJob } from '../../../src/jobs/log/follow.ts';
import { JobLedger } from '../../../src/jobs/ledger/ledger.ts';
import { ResultJournals } from '../../../src/jobs/results/resultJournals.ts';
import { settleEarlier } from '../../../src/jobs/send/settle.ts';
import { EventSpool } from '../../../src/jobs/log/spool.ts';
import { ResultCounter } from '../../../src/jobs/log/resultCounter.ts';
import { planSubmit } from '../../../src/jobs/plan/plan.ts';
import { sendPlan } from '../../../src/jobs/send/pack.ts';
import { RemoteClient } from '../../../src/remote/client.ts';
import { makeRecord } from '../../unit/jobs/fixtures.ts';
import { type FaultySite, RESULT, SCRIPT } from './faultySite.ts';

/** One try of a transfer: over which line, and how withRetryAfter. */
export interface Try {
  readonly url: string;
  /** Seconds of silence that end a request. */
  readonly idle: number;
  readonly signal?: AbortSignal;
}

/** How a try came out that kept every promise; one that broke a promise throws. */
export type Outcome = { readonly type: 'recovered' } | { readonly type: 'failed'; readonly error: unknown };

export interface Transfer {
  readonly name: 'upload' | 'answer' | 'events' | 'download';
  /** Whose bytes make up the transfer. */
  readonly side: 'request' | 'response';
  run(site: FaultySite, attempt: Try): Promise<Outcome>;
}

/** The name of the service in records and messages; it is reached by another address, that of the faulty line. */
const HOST = 'https://jobs.example.org';
const BACKOFF = { firstMs: 20, factor: 1 };

export const TRANSFERS: readonly Transfer[] = [
  { name: 'upload', side: 'request', run: upload },
  // Of an upload: what is lost of it may have been acted upon.
  { name: 'answer', side: 'response', run: upload },
  { name: 'events', side: 'response', run: readEvents },
  { name: 'download', side: 'response', run: download },
];

/** A folder is sent: it is one job, whose id and hold are known, or none. */
async function upload(site: FaultySite, attempt: Try): Promise<Outcome> {
  await using place = await Place.make(site, attempt);
  const project = randomUUID();
  const target = { host: HOST, service: HOST, account: undefined };
  const draft = { script: SCRIPT, maxRuntime: 600, project, include: [], exclude: [] };
  const plan = planSubmit(target, draft, site.selection);
  const deps = { service: place.service, selections: site.selections, ledger: place.ledger, home: place.home };
  const outcome = await outcomeOf(() => sendPlan(deps, plan, { isTrusted: true, ...abortOf(attempt) }));
  const [record] = place.jobs.list();
  const jobs = await site.jobsOf(project);
  assert.ok(jobs.length <= 1, `${jobs.length} jobs of one submission`);
  if (outcome.type === 'recovered') assert.equal(record?.jobId, jobs[0] ?? 'none');
  else if (record === undefined) assert.deepEqual(jobs, [], 'a submission is said to have failed, and is a job');
  else {
    // Not known: it is asked for by its key, over a line without faults.
    assert.equal(record.state, 'unknown');
    await using direct = new RemoteClient(site.service.url, site.service.key);
    const settled = await settleEarlier({ service: direct, ledger: place.ledger }, record);
    assert.equal(settled.jobId, jobs[0] ?? null);
    assert.equal(settled.state, jobs.length === 1 ? 'queued' : 'failed');
  }
  for (const id of jobs) await site.takeAway(id);
  return outcome;
}

/** The log of a job is followed: every event once, in order, and no event of our own about a gap. */
async function readEvents(site: FaultySite, attempt: Try): Promise<Outcome> {
  await using place = await Place.make(site, attempt);
  const deps = {
    service: place.service,
    spool: new EventSpool(place.home, place.insertJob(site)),
    ledger: place.ledger,
    results: new ResultCounter(place.home),
  };
  const seen: object[] = [];
  const outcome = await outcomeOf(async () => {
    const { signal = new AbortController().signal } = attempt;
    const [record] = place.jobs.list();
    const events = watchJob(deps, record?.id ?? '', { signal, backoff: BACKOFF });
    for await (const { event, data, id } of events) seen.push({ id: Number(id), event, data });
  });
  if (outcome.type === 'recovered') assert.deepEqual(seen, site.events);
  else assert.deepEqual(seen, site.events.slice(0, seen.length));
  return outcome;
}

/** Results are brought home: all of them, or nothing that was not there before. */
async function download(site: FaultySite, attempt: Try): Promise<Outcome> {
  await using place = await Place.make(site, attempt);
  const id = place.insertJob(site);
  const folder = join(place.home, 'folder');
  await mkdir(folder);
  await writeFile(join(folder, 'mine.txt'), 'mine');
  const journals = new ResultJournals(place.home);
  const deps = { service: place.service, archiver: directArchiver, ledger: place.ledger, home: place.home, journals };
  const outcome = await outcomeOf(() => downloadResults(deps, id, { folder, ...abortOf(attempt) }));
  const names = (await readdir(folder)).toSorted();
  assert.deepEqual(names, outcome.type === 'recovered' ? ['mine.txt', RESULT] : ['mine.txt']);
  if (outcome.type === 'recovered')
    assert.ok((await readFile(join(folder, RESULT))).equals(site.result), 'other bytes');
  assert.deepEqual(await readdir(join(place.home, 'downloads')), []);
  return outcome;
}

/** The message of a failure on the command line, and in the editor. */
export function messagesOf(error: unknown): readonly string[] {
  return [describeFailure(error, HOST).message, explain(error).sentence];
}

function abortOf({ signal }: Try): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal };
}

async function outcomeOf(work: () => Promise<unknown>): Promise<Outcome> {
  try {
    await work();
    return { type: 'recovered' };
  } catch (error) {
    return { type: 'failed', error };
  }
}

/** A client with a FARWHARF_HOME of its own. */
class Place implements AsyncDisposable {
  readonly home: string;
  readonly jobs: JobLedger;
  readonly ledger;
  readonly service: JobService;
  readonly #client: RemoteClient;

  private constructor(home: string, client: RemoteClient, idle: number) {
    this.home = home;
    this.jobs = new JobLedger(home);
    this.ledger = directLedger(this.jobs);
    this.#client = client;
    const timeout = { connect: idle, read: idle };
    this.service = {
      submitJob: (archive, job, options) => client.submitJob(archive, job, { ...options, timeout }),
      getSubmission: (key, options) => client.getSubmission(key, { ...options, timeout }),
      getJob: (id, options) => client.getJob(id, { ...options, timeout }),
      me: (options) => client.me({ ...options, timeout }),
      streamEvents: (id, options) => client.streamEvents(id, { ...options, timeout }),
      downloadArtifacts: (id, dest, options) => client.downloadArtifacts(id, dest, { ...options, timeout }),
    };
  }

  static async make({ root, service }: FaultySite, { url, idle }: Try): Promise<Place> {
    return new Place(await mkdtemp(join(root, 'try-')), new RemoteClient(url, service.key), idle);
  }

  /** Records the job that ended as one that was sent from here. @returns the id of the record. */
  insertJob({ jobId }: FaultySite): string {
    const record = makeRecord({ jobId, host: HOST, folder: this.home });
    this.jobs.insert(record);
    return record.id;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close();
    this.jobs.dispose();
    await rm(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}
