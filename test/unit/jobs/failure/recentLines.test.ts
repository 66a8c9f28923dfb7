import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recentLines } from '../../../../src/jobs/failure/recentLines.ts';
import { EventSpool, type NewEvent } from '../../../../src/jobs/log/spool.ts';
import type { JobService } from '../../../../src/jobs/service/api.ts';
import type { ServerSentEvent } from '../../../../src/remote/protocol/schemas.ts';
import { tempHome } from '../fixtures.ts';

const { signal } = new AbortController();
const log = (text: string): { event: string; data: object } => ({ event: 'log', data: { stream: 'stdout', text } });
const END = { event: 'end', data: { state: 'failed' } };

async function linesOf(
  t: Parameters<typeof tempHome>[0],
  spooled: readonly NewEvent[],
  service: Pick<JobService, 'streamEvents'>,
): Promise<string[]> {
  const spool = new EventSpool(tempHome(t), 'job');
  await spool.append(spooled);
  const lines = await recentLines({ service, spool, jobId: 'j' }, signal);
  return lines.filter((line) => line !== ''); // what follows the last line end
}

const sends = (...events: readonly ServerSentEvent[]): Pick<JobService, 'streamEvents'> => ({
  async *streamEvents() {
    yield* events;
  },
});

test('the lines of a log that is complete here are not asked for', async (t) => {
  const unreachable: Pick<JobService, 'streamEvents'> = {
    streamEvents: () => assert.fail('the service was asked'),
  };
  assert.deepEqual(await linesOf(t, [log('one\ntwo'), END], unreachable), ['one', 'two']);
});

test('the lines of a job that nobody followed come from the service, in their order, without other events', async (t) => {
  const state = { event: 'state', data: { state: 'running' } };
  const lines = await linesOf(t, [log('one\n')], sends(state, log('two\n'), log('thr'), log('ee'), END));
  assert.deepEqual(lines, ['one', 'two', 'three']);
});

test('of more output than is shown, the last lines are kept', async (t) => {
  const piece = (index: number): ServerSentEvent => log(`${String(index).padStart(6, '0')}${'x'.repeat(993)}\n`);
  const pieces = Array.from({ length: 1_000 }, (_, index) => piece(index));
  const lines = await linesOf(t, [], sends(...pieces, END));
  assert.equal(lines.length, 256);
  assert.match(lines[0] ?? '', /^000744x/);
  assert.match(lines.at(-1) ?? '', /^000999x/);
});

test('a last piece that is longer than all that is shown is kept', async (t) => {
  const [line = '', ...others] = await linesOf(t, [], sends(log('before\n'), log('y'.repeat(300_000)), END));
  assert.deepEqual(others, []);
  assert.match(line, /^y+/);
});
