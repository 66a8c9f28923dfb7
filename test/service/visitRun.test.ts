// One node of a recorded run, run again.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { type RecordedRun, runRecorded } from '../../src/flows/run/history/recordedRun.ts';
import { RunHistory } from '../../src/flows/run/history/runHistory.ts';
import { inputOfVisit } from '../../src/flows/run/history/visitReport.ts';
import { runVisit, type VisitRunRequest } from '../../src/flows/run/history/visitRun.ts';
import { RUNTIME } from './support/flowChild.ts';

const FLOW = `
import { appendFileSync } from 'node:fs';
import { Flow, Node } from 'farwharf/agents';
const log = (name) => appendFileSync(new URL('./ran', import.meta.url), name + ' ');
class Add extends Node {
  prep(shared) { return shared.count ?? 0; }
  exec(count) { log('add'); return count + 1; }
  post(shared, _, count) { shared.count = count; return count < 3 ? 'again' : 'enough'; }
}
class Twice extends Node {
  prep(shared) { return shared.count; }
  exec(count) { log('twice'); return count * 2; }
  post(shared, _, twice) { shared.twice = twice; }
}
class Tell extends Node {
  prep(shared) { return shared.twice; }
  exec(twice) { log('tell'); if (twice > 100) throw new Error('too many'); return 'counted to ' + twice; }
  post(shared, _, text) { shared.text = text; }
}
const [add, twice, tell] = [new Add(), new Twice(), new Tell()];
const inner = new Flow({ start: twice, name: 'Inner' }).connect(twice, null);
export const counter = new Flow({ start: add, name: 'Counter' })
  .connect(add, add, 'again').connect(add, inner, 'enough').connect(inner, tell).connect(tell, null);
`;
const options = { signal: new AbortController().signal, onEvent: () => {} };

let folder = '';
let file = '';
let run: RecordedRun;
let history: RunHistory;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'farwharf-visits-')));
  file = join(folder, 'counter.mjs');
  await writeFile(file, FLOW);
  history = new RunHistory(folder);
  run = await runRecorded(history, RUNTIME, { file, cwd: folder, env: process.env }, options);
  assert.equal(run.outcome.type, 'done');
  await rm(join(folder, 'ran'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const again = (request: Partial<VisitRunRequest> & { readonly path: string }) =>
  runVisit(history, RUNTIME, { file, cwd: folder, env: process.env, run: run.record.id, ...request }, options);
const ran = () => readFile(join(folder, 'ran'), 'utf8');

test('only the node runs, with the state that it had, and what it did is reported beside what was recorded', async () => {
  await writeFile(file, FLOW.replace("'counted to '", "'COUNTED TO '"));
  const { recorded, now, path, visit } = await again({ path: 'Tell' });
  assert.deepEqual([path, visit, await ran()], ['Counter/Tell', 1, 'tell ']);
  assert.deepEqual([recorded.output, now.output], ['"counted to 6"', '"COUNTED TO 6"']);
  assert.deepEqual(now.changes, [{ path: ['text'], before: undefined, after: '"COUNTED TO 6"' }]);
  assert.equal(now.status, 'done');
  assert.equal((await history.list(file)).length, 1);
});

test('any visit of a loop runs again, also the first, and a node in a nested flow', async () => {
  const second = await again({ path: 'Counter/Add', visit: 2 });
  assert.deepEqual([second.now.output, second.now.action], ['2', 'again']);
  assert.deepEqual(second.recorded, { ...second.now, micros: second.recorded.micros });
  const first = await again({ path: 'Add', visit: 1 });
  assert.equal(first.now.output, '1');
  const nested = await again({ path: 'Counter/Inner/Twice' });
  assert.equal(nested.now.output, '6');
  assert.equal(await ran(), 'add add twice ');
});

test('an edited state is the input, and an error is a part of the result', async () => {
  const state = await inputOfVisit(await history.folder(file, run.record.id), { path: 'Counter/Tell' }, run.record);
  assert.deepEqual(state, { count: 3, twice: 6 });
  const { recorded, now } = await again({ path: 'Tell', shared: { ...state, twice: 1000 } });
  assert.equal(recorded.status, 'done');
  assert.deepEqual([now.status, now.error, now.output], ['failed', 'too many', undefined]);
  const start = await again({ path: 'Add', visit: 1, shared: { count: 10 } });
  assert.equal(start.now.output, '11');
});

test('the state of a file that runs itself is known before its first node, also with `$` in keys and texts', async () => {
  const state = { $count: 2, text: '{"$schema":"x"}' };
  await writeFile(file, `${FLOW}await counter.run(${JSON.stringify(state)});`);
  const { record } = await runRecorded(history, RUNTIME, { file, cwd: folder, env: process.env }, options);
  const folderOfRun = await history.folder(file, record.id);
  assert.deepEqual(await inputOfVisit(folderOfRun, { path: 'Counter/Add', visit: 1 }, record), state);
});

test('a visit that is not in the run, or that the flow no longer reaches, is refused', async () => {
  await assert.rejects(
    again({ path: 'Nobody' }),
    /no visit of a node "Nobody". Its nodes are Counter\/Add, Counter\/Inner/,
  );
  await writeFile(file, FLOW.replace('.connect(inner, tell)', '.connect(inner, add)'));
  await assert.rejects(again({ path: 'Tell' }), /Counter\/Tell did not run: the flow now goes to another node there/);
  await writeFile(file, 'export const a = ;');
  await assert.rejects(again({ path: 'Tell' }), /could not run/);
});
