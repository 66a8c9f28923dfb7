// Answers to runs that wait, as windows and the command line give them.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { AppError } from '../../src/core/errors.ts';
import { processOwner } from '../../src/core/processes/processOwner.ts';
import { type AnsweredRun, answerRun } from '../../src/flows/run/history/answerRun.ts';
import { type RecordedRun, runRecorded } from '../../src/flows/run/history/recordedRun.ts';
import { RunHistory } from '../../src/flows/run/history/runHistory.ts';
import { RUNTIME } from './support/flowChild.ts';

const REVIEW = `
import { Flow, Node, pause } from 'farwharf/agents';
class Review extends Node {
  post() { return pause({ question: 'Publish it?', choices: ['yes', 'no'] }); }
  answer(shared, input) { shared.published = input; }
}
const review = new Review();
export const flow = new Flow({ start: review, name: 'Publish' }).connect(review, null);
`;
const options = { signal: new AbortController().signal, onEvent: () => {} };

let home = '';
let waiting: RecordedRun;
let history: RunHistory;

beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-answer-')));
  const file = join(home, 'review.mjs');
  await writeFile(file, REVIEW);
  history = new RunHistory(home);
  waiting = await runRecorded(history, RUNTIME, { file, cwd: home, env: process.env }, options);
  assert.equal(waiting.outcome.type, 'waiting');
});
afterEach(() => rm(home, { recursive: true, force: true }));

const answer = (input: unknown): Promise<AnsweredRun> =>
  answerRun(history, RUNTIME, { record: waiting.record, input, cwd: home, env: process.env }, options);
const refusedAs =
  (code: string, text: RegExp) =>
  (error: unknown): boolean =>
    error instanceof AppError && error.code === code && text.test(error.message);

test('of two answers at once one continues the run, and the other is refused', async () => {
  const [first, second] = await Promise.allSettled([answer('yes'), answer('no')]);
  const [taken, refused] = first.status === 'fulfilled' ? [first, second] : [second, first];
  assert.ok(taken.status === 'fulfilled' && refused.status === 'rejected');
  assert.equal(taken.value.outcome.type, 'done');
  assert.ok(
    refusedAs('conflict', /is being answered by another window or command|was answered already/)(refused.reason),
  );
  await assert.rejects(answer('no'), refusedAs('conflict', /was answered already, by run/));
  assert.equal((await history.list(waiting.record.file)).length, 2);
});

test('a wrong answer starts nothing and leaves the run waiting', async () => {
  await assert.rejects(answer('maybe'), refusedAs('bad-input', /"maybe" is not one of "yes", "no"/));
  assert.equal((await history.list(waiting.record.file)).length, 1);
  assert.equal((await answer('yes')).outcome.type, 'done');
});

test('an answer hook that fails leaves the question open, and the next answer continues the run', async () => {
  const { file, id } = waiting.record;
  await writeFile(
    file,
    REVIEW.replace('{ shared.published', "{ if (input === 'no') throw new Error('no disk'); shared.published"),
  );
  const failed = await answer('no');
  assert.equal(failed.outcome.type, 'failed');
  assert.equal(failed.isStillWaiting, true);
  assert.equal((await history.locate('last')).id, id);
  const taken = await answer('yes');
  assert.equal(taken.outcome.type, 'done');
  assert.equal(taken.isStillWaiting, false);
  assert.equal((await history.find(file, id)).answeredBy, taken.record.id);
});

test('a run that a killed process was answering can be answered again', async () => {
  const { answering } = await history.folder(waiting.record.file, waiting.record.id);
  await writeFile(answering, processOwner().replace(/-\d+-/, '-999999-'));
  assert.equal((await answer('yes')).outcome.type, 'done');
  assert.equal(existsSync(answering), false);
});

test('the schema of the flow itself checks an answer in another process: defaults, transforms and refinements', async () => {
  const file = join(home, 'trip.ts');
  await writeFile(
    file,
    `import { Flow, Node, pause } from 'farwharf/agents';
import * as z from 'zod';
interface Shared { days?: number; city?: string }
const city = z.string().transform((name) => name.toUpperCase());
class Ask extends Node<Shared> {
  override post() {
    return pause({ question: 'Where?', input: z.object({ city, days: z.number().default(3) }).refine(({ days }) => days % 2 === 1, 'odd only') });
  }
  override answer(shared: Shared, input: unknown) { Object.assign(shared, input); }
}
const ask = new Ask();
export const flow = new Flow<Shared>({ start: ask, name: 'Trip' }).connect(ask, null);
`,
  );
  const { record } = await runRecorded(history, RUNTIME, { file, cwd: home, env: process.env }, options);
  const give = (input: unknown): Promise<AnsweredRun> =>
    answerRun(history, RUNTIME, { record, input, cwd: home, env: process.env }, options);
  await assert.rejects(give({ city: 'Oslo', days: 2 }), refusedAs('bad-input', /odd only/));
  assert.deepEqual(
    (await history.list(file)).map(({ id }) => id),
    [record.id],
  );
  const { outcome } = await give({ city: 'Oslo' });
  assert.deepEqual(outcome.type === 'done' && outcome.shared, { city: 'OSLO', days: 3 });
});
