import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Duplex, duplexPair } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { ResumableStream } from '../../../../../src/core/network/resumableStream.ts';
import { JobTunnelClient } from '../../../../../src/remote/tunnel/jobTunnelClient.ts';
import {
  parseSessionAnswer,
  readLine,
  RESUME_MS,
  type SessionAnswer,
  type SessionRequest,
  writeLine,
} from '../../../../../src/remote/tunnel/tunnelProtocol.ts';
import { TunnelSessions } from '../../../../../src/service/runner/tunnel/tunnelSessions.ts';

/** A connection with its other end, and the answer of the job's side. */
async function admit(
  sessions: TunnelSessions,
  request: SessionRequest,
): Promise<{ near: Duplex; far: Duplex; answer: SessionAnswer | undefined }> {
  const [near, far] = duplexPair();
  near.on('error', () => {}).write(writeLine(request));
  void sessions.admit(far);
  return { near, far, answer: parseSessionAnswer((await readLine(near)) ?? '') };
}

async function cut({ near, far }: { readonly near: Duplex; readonly far: Duplex }): Promise<void> {
  near.destroy();
  far.destroy();
  if (!far.closed) await once(far, 'close');
  await turn();
}

test('what a client has started ends a minute after its connection, and not before', async (t) => {
  const started: ChildProcess[] = [];
  const sessions = new TunnelSessions({
    folder: '/',
    variables: { PATH: process.env['PATH'] ?? '' },
    processes: () => [],
    spawn: (...call) => {
      const child = spawn(...call);
      started.push(child);
      return child;
    },
  });
  const first = await admit(sessions, { type: 'open' });
  assert.ok(first.answer?.type === 'session');
  const { session } = first.answer;
  const stream = new ResumableStream();
  stream.attach(first.near, 0);
  const client = new JobTunnelClient({
    stream,
    closed: once(stream, 'close').then(() => new Error('ended')),
    onDidChange: () => ({ dispose: () => {} }),
    end: () => stream.close(),
  });
  const command = client.exec(['sleep', '600']);
  while (started.length === 0) await turn();
  const [child] = started;
  assert.ok(child !== undefined);
  const exited = once(child, 'exit');

  t.mock.timers.enable({ apis: ['setTimeout'] });
  await cut(first);
  t.mock.timers.tick(RESUME_MS - 1);
  // In time: the minute begins again with the next cut.
  const second = await admit(sessions, { type: 'resume', session, received: stream.receivedBytes });
  assert.equal(second.answer?.type, 'session');
  t.mock.timers.tick(2 * RESUME_MS);
  await cut(second);
  t.mock.timers.tick(RESUME_MS - 1);
  await turn();
  assert.equal(child.killed || child.signalCode, null);
  t.mock.timers.tick(1);
  t.mock.timers.reset();
  assert.deepEqual(await exited, [null, 'SIGHUP']);
  const third = await admit(sessions, { type: 'resume', session, received: stream.receivedBytes });
  assert.deepEqual(third.answer, { type: 'gone' });
  stream.destroy();
  await assert.rejects(command.ended);
});
