import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { buffer, text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import { JobTunnelClient } from '../../../../src/remote/tunnel/jobTunnelClient.ts';
import { openTunnelConnection, openTunnelSocket } from '../../../../src/remote/tunnel/tunnelConnection.ts';
import { webSocketStream } from '../../../../src/core/network/webSocketStream.ts';
import { TunnelSessions } from '../../../../src/service/runner/tunnel/tunnelSessions.ts';
import { pick, randomFrom, TIMES } from '../../../random.ts';
import { CuttingLine } from '../../../service/support/cuttingLine.ts';

const CUTS = 60 * TIMES;

/** A job's side behind WebSockets, and a line to it. */
async function startJob(t: TestContext): Promise<CuttingLine> {
  const sessions = new TunnelSessions({
    folder: '/',
    variables: { ...process.env } as Record<string, string>,
    spawn,
    processes: () => [],
  });
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  server.on('connection', (socket, { socket: carrier }) => void sessions.admit(webSocketStream(socket, carrier)));
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const line = await CuttingLine.start(`http://127.0.0.1:${address.port}`);
  t.after(async () => {
    await sessions[Symbol.asyncDispose]();
    await line[Symbol.asyncDispose]();
    for (const client of server.clients) client.terminate();
    server.close();
  });
  return line;
}

async function connectTo({ url }: { readonly url: string }, attemptMs?: number): Promise<JobTunnelClient> {
  const open = (signal: AbortSignal) =>
    openTunnelSocket(new URL(url), { agent: undefined, headers: {}, timeoutMs: 60_000, signal }, () =>
      Promise.reject(new Error('refused')),
    );
  const { signal } = new AbortController();
  return new JobTunnelClient(
    await openTunnelConnection(open, { host: 'job', signal, ...(attemptMs && { attemptMs }) }),
  );
}

test('a command gets and sends each byte once, wherever its line is cut', async (t) => {
  const line = await startJob(t);
  using tunnel = await connectTo(line);
  const random = randomFrom(20_261_130);
  const sent = Buffer.from(Uint32Array.from({ length: 2_000 * CUTS }, (_, at) => at).buffer);
  const command = tunnel.exec(['cat']);
  const received = buffer(command.stdout);
  const isOver = () => command.stdout.readableEnded;
  command.stdin.end(sent);
  for (let isCut = true; !isOver(); isCut = random() < 0.2) {
    const { cuts } = line;
    // A message of a WebSocket can be longer than what passes.
    line.lastsFor = 4_000 + Math.floor((pick([10_000, 100_000], random) ?? 0) * random());
    if (isCut) line.cut();
    while (line.cuts === cuts && !isOver()) await sleep(1);
  }
  assert.ok(line.cuts > CUTS / 4, String(line.cuts));
  assert.ok((await received).equals(sent));
  assert.deepEqual(await command.ended, { code: 0, signal: null });
});

test('an attempt to continue that hangs does not keep the next one from succeeding', async (t) => {
  const line = await startJob(t);
  using tunnel = await connectTo(line, 200);
  const changes: string[] = [];
  tunnel.onDidChangeConnection((change) => changes.push(change));
  const command = tunnel.exec(['cat']);
  line.isSilent = true;
  line.cut();
  while (!changes.includes('lost')) await sleep(20);
  line.isSilent = false;
  command.stdin.end('x');
  assert.equal(await text(command.stdout), 'x');
  assert.deepEqual(changes, ['lost', 'resumed']);
});

test('a tunnel that is ended while its line is down ends at once', async (t) => {
  const line = await startJob(t);
  const tunnel = await connectTo(line, 600_000);
  const { ended } = tunnel.exec(['cat']);
  line.isSilent = true;
  const attempt = line.nextConnection();
  line.cut();
  await attempt;
  tunnel[Symbol.dispose]();
  await assert.rejects(ended, { code: 'unreachable' });
});
