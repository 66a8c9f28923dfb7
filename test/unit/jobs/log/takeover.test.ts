import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { JobLedger } from '../../../../src/jobs/ledger/ledger.ts';
import { makeRecord, tempHome } from '../fixtures.ts';
import { sendEvents, sendJson, TestService } from '../testService.ts';

const COUNT = 200;
const events = [
  ...Array.from({ length: COUNT }, (_, index) => ({ event: 'log', data: { stream: 'stdout', text: `${index}\n` } })),
  { event: 'end', data: { state: 'succeeded', exit_code: 0, credits_charged: 1 } },
];

interface Follower {
  readonly child: ChildProcess;
  readonly lines: string[];
  readonly exited: Promise<unknown>;
}

function follow(t: TestContext, ...input: string[]): Follower {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'followProcess.ts'), ...input], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  return { child, lines, exited: once(child, 'close') };
}

test('when the streaming process is killed another takes over, and its reader misses nothing', async (t) => {
  const home = tempHome(t);
  const streaming = [Promise.withResolvers<ServerResponse>(), Promise.withResolvers<ServerResponse>()];
  const http = await TestService.start(t, {
    events: (request, response, attempt) => {
      const after = Number(request.headers['last-event-id'] ?? 0);
      // The first process is killed while the job runs; the second connection gets the rest.
      sendEvents(response, attempt === 1 ? events.slice(0, 120) : events.slice(after), after + 1);
      streaming[attempt - 1]?.resolve(response);
    },
    job: (_, response) => sendJson(response, { state: 'running' }),
  });
  const jobs = new JobLedger(home);
  t.after(() => jobs.dispose());
  const record = makeRecord();
  jobs.insert(record);
  const first = follow(t, home, record.id, http.url);
  await streaming[0]?.promise;
  const second = follow(t, home, record.id, http.url);
  while (second.lines.length < 50) await once(second.child.stdout ?? second.child, 'data');
  assert.equal(http.attempts.events, 1, 'the second reads what the first has streamed');
  first.child.kill('SIGKILL');
  await second.exited;
  assert.equal(second.child.exitCode, 0);
  assert.deepEqual(
    second.lines,
    events.map(({ event, data }) => JSON.stringify([event, data])),
  );
  assert.equal(http.attempts.events, 2);
  assert.equal(jobs.get(record.id)?.state, 'succeeded');
});
