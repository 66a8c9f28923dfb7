import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { readArchive } from '../../test/service/support/archive.ts';
import { isFinalState } from '../../src/remote/protocol/states.ts';
import type { JobAnswer, LoadClient, SeenEvent } from './client.ts';
import type { Load, SentJob } from './load.ts';
import { processesOfJobs } from './processes.ts';
import type { LoadedSite } from './site.ts';
import type { Witness } from './witness.ts';

const END_TIMEOUT_MS = 180_000;
const ORPHAN_WAIT_MS = 10_000;
const POLL_MS = 500;
const NEEDED_LATER = new Set(['results.tar.gz']);

export interface Verdict {
  /** Every job that the service has. */
  readonly jobs: number;
  /** By ID, the state that it has ended in. */
  readonly endings: ReadonlyMap<string, string>;
  readonly states: ReadonlyMap<string, number>;
  /** Submissions whose answer was lost and that became a job. */
  readonly keptUnanswered: number;
  /** Jobs whose own processes were killed. */
  readonly harmed: number;
  readonly ledgerError: number;
  readonly faults: readonly string[];
}

/** Waits until every job of a service has ended after the last kill, and returns what is wrong. */
export async function judge(site: LoadedSite, load: Load, witness: Witness, signal: AbortSignal): Promise<Verdict> {
  const faults = load.wrongAnswers.map((answer) => `an answer: ${answer}`);
  const client = await site.client(signal);
  for (const job of load.accepted.values()) if (job.kind.isCancelled) await load.cancel(job, signal);
  const jobs = await untilAllEnded(client, load, signal, faults);
  const states = new Map<string, number>();
  const byName = new Map(load.sent.map((sent) => [sent.name, sent]));
  const known = new Map<string, number>();
  for (const job of jobs) {
    states.set(job.state, (states.get(job.state) ?? 0) + 1);
    const sent = byName.get(job.project ?? '');
    if (sent === undefined) {
      faults.push(`${job.job_id}: it was not sent by this run`);
      continue;
    }
    known.set(sent.name, (known.get(sent.name) ?? 0) + 1);
    const problems = await examine(job, sent, { client, load, witness, signal });
    faults.push(
      ...problems.map((problem) => `${job.job_id} (${sent.kind.name}, ${job.state}, ${job.reason}): ${problem}`),
    );
  }
  for (const { name, id } of load.sent) {
    const count = known.get(name) ?? 0;
    if (count > 1) faults.push(`${name} was sent once and exists ${count} times`);
    if (id !== undefined && count === 0) faults.push(`${id}: it was accepted and is not there`);
  }
  const ids = new Set(jobs.map(({ job_id: id }) => id));
  faults.push(...(await orphans(site.files, ids)));
  await site.end('SIGTERM');
  faults.push(...leftFolders(site.files, ids));
  return {
    jobs: jobs.length,
    endings: new Map(jobs.map(({ job_id: id, state }) => [id, state])),
    states,
    keptUnanswered: load.sent.filter(({ name, id }) => id === undefined && known.has(name)).length,
    harmed: load.sent.filter(({ isHarmed }) => isHarmed).length,
    ledgerError: ledgerError(site.data, faults),
    faults,
  };
}

async function untilAllEnded(
  client: LoadClient,
  load: Load,
  signal: AbortSignal,
  faults: string[],
): Promise<readonly JobAnswer[]> {
  const deadline = performance.now() + END_TIMEOUT_MS;
  const unanswered = new Set(
    load.sent.filter(({ id, kind }) => id === undefined && kind.isCancelled).map(({ name }) => name),
  );
  for (;;) {
    const jobs: JobAnswer[] = [];
    for (let page = await client.jobs(signal); page.length > 0; page = await client.jobs(signal, page.at(-1)?.job_id)) {
      jobs.push(...page);
    }
    const open = jobs.filter(({ state }) => !isFinalState(state));
    if (open.length === 0) return jobs;
    for (const job of open) {
      // This job was unknown until now, so it has not been cancelled yet.
      if (unanswered.has(job.project ?? '')) await client.cancel(job.job_id, signal);
    }
    if (performance.now() > deadline) {
      faults.push(...open.map((job) => `${job.job_id} is still ${job.state}: ${job.reason}`));
      return jobs;
    }
    await sleep(POLL_MS, undefined, { signal });
  }
}

interface Examination {
  readonly client: LoadClient;
  readonly load: Load;
  readonly witness: Witness;
  readonly signal: AbortSignal;
}

async function examine(
  job: JobAnswer,
  sent: SentJob,
  { client, load, witness, signal }: Examination,
): Promise<readonly string[]> {
  const { kind, name, isHarmed } = sent;
  const problems: string[] = [];
  const [starts, ends] = [witness.count(name, 'begin'), witness.count(name, 'end')];
  if (starts > 1) problems.push(`it ran ${starts} times`);
  const events = await Array.fromAsync(client.events(job.job_id, 0, signal));
  problems.push(...compareEvents(events, load.seen.get(job.job_id)));
  const output = events
    .filter(({ type }) => type === 'log')
    .map(textOf)
    .join('');
  const isCancelled = job.state === 'cancelled' && (sent.isCancelAsked || kind.isCancelled);
  if (isHarmed && ['lost', 'failed', 'cancelled'].includes(job.state)) return problems;
  if (isCancelled) {
    if (!kind.output.startsWith(output)) problems.push(`it wrote ${JSON.stringify(output.slice(0, 200))}`);
    return problems;
  }
  if (job.state !== kind.state) problems.push(`it should be ${kind.state}; it began ${starts} and ended ${ends} times`);
  if (job.exit_code !== kind.exitCode) problems.push(`its exit code is ${job.exit_code}`);
  if (output !== kind.output) problems.push(`it wrote ${JSON.stringify(output.slice(0, 200))}`);
  if (starts !== 1 || ends !== Number(kind.isEnding)) problems.push(`it began ${starts} and ended ${ends} times`);
  const files = await readArchive(await client.results(job.job_id, signal));
  const bytes = files['made.txt']?.length ?? 0;
  if (bytes !== kind.artifactBytes) problems.push(`its result has ${bytes} bytes`);
  return problems;
}

function compareEvents(events: readonly SeenEvent[], seen: ReadonlyMap<number, string> = new Map()): readonly string[] {
  const problems: string[] = [];
  const texts = new Map(events.map(({ id, type, data }) => [id, `${type} ${data}`]));
  const gap = events.findIndex(({ id }, index) => id !== index + 1);
  if (gap >= 0) problems.push(`its event ${gap + 1} is missing`);
  if (events.filter(({ type }) => type === 'end').length !== 1) problems.push('its events have not one end');
  for (const [id, text] of seen) {
    if (texts.get(id) !== text)
      problems.push(`a reader received the event ${id} as ${text}, and it is ${texts.get(id)}`);
  }
  return problems;
}

function textOf({ data }: SeenEvent): string {
  const { stream, text } = JSON.parse(data) as { stream: string; text: string };
  return stream === 'stdout' ? text : '';
}

async function orphans(data: string, ids: ReadonlySet<string>): Promise<readonly string[]> {
  const find = () => processesOfJobs(data, (id) => ids.has(id)).filter(({ command }) => !/\bserve\b/.test(command));
  for (const deadline = performance.now() + ORPHAN_WAIT_MS; performance.now() < deadline; await sleep(POLL_MS)) {
    if (find().length === 0) return [];
  }
  return find().map(({ pid, command }) => `an orphan: ${pid} ${command}`);
}

function leftFolders(data: string, ids: ReadonlySet<string>): readonly string[] {
  const faults: string[] = [];
  for (const id of readdirSync(join(data, 'jobs'))) {
    if (!ids.has(id)) faults.push(`the folder ${id} is of no job`);
    const left = readdirSync(join(data, 'jobs', id)).filter((name) => !NEEDED_LATER.has(name));
    if (left.length > 0) faults.push(`the folder of ${id} still has ${left.join(', ')}`);
  }
  return faults;
}

/** By how many micro-credits the books are wrong, all deviations added up. */
function ledgerError(data: string, faults: string[]): number {
  using database = new DatabaseSync(join(data, 'service.db'), { readOnly: true });
  const value = (sql: string): unknown => Object.values(database.prepare(sql).get() ?? {})[0];
  const integrity = value('PRAGMA integrity_check');
  if (integrity !== 'ok') faults.push(`the store is damaged: ${String(integrity)}`);
  return [
    'SELECT abs(coalesce(sum(amount), 0)) FROM credit_entries',
    `SELECT coalesce(sum(abs(balance - (SELECT coalesce(sum(amount), 0) FROM credit_entries WHERE account = name))), 0)
     FROM credit_accounts`,
    "SELECT abs(coalesce(sum(balance), 0)) FROM credit_accounts WHERE name LIKE '%:held'",
    `SELECT abs((SELECT coalesce(sum(balance), 0) FROM credit_accounts WHERE name LIKE '%:spent')
     - (SELECT coalesce(sum(charged), 0) FROM jobs))`,
  ].reduce((sum, sql) => sum + Number(value(sql)), 0);
}
