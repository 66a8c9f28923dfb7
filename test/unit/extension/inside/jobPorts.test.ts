import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as vscode from 'vscode';
import { JobPorts } from '../../../../src/extension/inside/jobPorts.ts';
import { Emitter } from '../../../../src/core/processes/lifetime.ts';
import type { JobsChange } from '../../../../src/extension/jobs/store/jobStore.ts';
import { AppError } from '../../../../src/core/errors.ts';
import type { JobRecord } from '../../../../src/jobs/ledger/record.ts';
import type { JobTunnelClient } from '../../../../src/remote/tunnel/jobTunnelClient.ts';
import type { JobPort } from '../../../../src/remote/tunnel/portChannels.ts';
import { jobRecord, runningJob } from '../jobs.ts';

const JOB = runningJob({ script: 'app.py' });
const PAGE = { scheme: 'http', rest: '/lab?token=1', isUrl: true } as const;
const { signal } = new AbortController();
const opened: { dispose(): void }[] = [];
afterEach(() => {
  for (const each of opened.splice(0)) each.dispose();
});

/** A job with these ports, which a test changes, and the window that watches it. */
function openJob(first: readonly JobPort[]) {
  let ports = first;
  let state: JobRecord = JOB;
  let cut: (error: Error) => void = () => {};
  let changed: () => void = () => {};
  const listChanged = new Emitter<JobsChange>();
  const seen = { tunnels: 0, open: 0, refusal: undefined as Error | undefined, closed: [] as string[] };
  const memory = new Map<string, unknown>();
  async function* watchPorts({ signal: ending }: { signal: AbortSignal }): AsyncGenerator<readonly JobPort[], void> {
    const lost = new Promise<never>((_, reject) => (cut = reject));
    const ended = once(ending, 'abort').then(() => Promise.reject(new Error('aborted')));
    for (let known: readonly JobPort[] | undefined; ; ) {
      const next = new Promise<void>((resolve) => (changed = resolve));
      if (known !== ports) yield (known = ports);
      else await Promise.race([next, lost, ended]);
    }
  }
  const client = {
    watchPorts,
    ports: async () => ports,
    connect: async (port: number) => connect({ port, host: '127.0.0.1', allowHalfOpen: true }),
  } as unknown as JobTunnelClient;
  const window = () => {
    const made = new JobPorts({
      isOffering: () => seen.refusal?.message !== 'off',
      log: { warn: () => {} },
      memory: {
        get: (key: string) => memory.get(key),
        update: async (key: string, value: unknown) => void memory.set(key, value),
        keys: () => [...memory.keys()],
      } as vscode.Memento,
      onClosed: (_, { port }) => seen.closed.push(String(port)),
      retryDelaysMs: [0, 0],
      store: { get: () => state, onDidChange: listChanged.event },
      tunnels: {
        use: async () => {
          seen.tunnels += 1;
          if (seen.refusal !== undefined) throw seen.refusal;
          seen.open += 1;
          return { client, [Symbol.dispose]: () => void (seen.open -= 1) };
        },
      },
    });
    opened.push(made);
    return made;
  };
  return {
    seen,
    window,
    listen: (now: readonly JobPort[]) => {
      ports = now;
      changed();
    },
    cut: () => cut(new AppError('unreachable', 'cut')),
    setState: (record: JobRecord) => {
      state = record;
      listChanged.fire({ ids: new Set([record.id]), ended: [], counted: [] });
    },
  };
}

const titles = (ports: JobPorts) =>
  ports.offered.map(({ port, page, localPort }) =>
    `${port.process} ${port.port}${page.rest} ${localPort === undefined ? '' : 'here'}`.trim(),
  );

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(5);
}

async function serve(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((request, response) => response.end(`page ${request.url}`)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push({ dispose: () => server.closeAllConnections() }, { dispose: () => void server.close() });
  return { server, port: (server.address() as AddressInfo).port };
}

test('a job is connected to only once it has printed an address, and of its ports those that are pages are offered', async () => {
  const job = openJob([
    { port: 6006, isPublic: false, process: 'tensorboard' },
    { port: 6007, isPublic: false, process: 'tensorboard' },
    { port: 8000, isPublic: true, process: 'app.py' },
    { port: 29500, isPublic: false, process: 'train.py' },
  ]);
  const ports = job.window();
  job.setState({ ...JOB, state: 'queued' }); // the list may be behind the log
  ports.addPrinted(JOB.id, { port: 8000, ...PAGE });
  await sleep(0);
  assert.equal(job.seen.tunnels, 0);
  job.setState(JOB);
  ports.addPrinted(JOB.id, { port: 29500, ...PAGE, isUrl: false });
  ports.addPrinted(JOB.id, { port: 1, ...PAGE });
  await until(() => ports.offered.length > 0);
  assert.deepEqual(titles(ports), ['tensorboard 6006/', 'app.py 8000/lab?token=1']);
  assert.equal(job.seen.tunnels, 1);
  job.listen([{ port: 6006, isPublic: false, process: 'tensorboard' }]);
  await until(() => ports.offered.length === 1);
  ports.end(JOB);
  assert.deepEqual(titles(ports), []);
  await until(() => job.seen.open === 0);
});

test('a job that opens and closes ports without end, and prints them all, has a few offers and one tunnel', async () => {
  const many = Array.from({ length: 200 }, (_, index) => ({
    port: 1000 + index,
    isPublic: false,
    process: '\u001b[31mx',
  }));
  const job = openJob(many);
  const ports = job.window();
  for (const { port } of many) ports.addPrinted(JOB.id, { port, ...PAGE });
  for (let turn = 0; turn < 50; turn += 1) {
    job.listen(turn % 2 === 0 ? [] : many);
    await sleep(0);
    assert.ok(ports.offered.length <= 5);
  }
  assert.deepEqual([job.seen.tunnels, job.seen.closed], [1, []]);
});

test('a forwarded port leads to the page, is offered again after a reload, and ends with the port', async () => {
  const { server, port } = await serve();
  const listening = [{ port, isPublic: false, process: 'app.py' }];
  const job = openJob(listening);
  const before = job.window();
  const localPort = await before.forward(JOB, port, signal);
  assert.notEqual(localPort, port); // which the server has
  assert.equal(await before.forward(JOB, port, signal), localPort);
  assert.equal(await (await fetch(`http://127.0.0.1:${localPort}/x?y`)).text(), 'page /x?y');
  assert.deepEqual(titles(before), [`app.py ${port}/ here`]);
  before.dispose();
  await assert.rejects(fetch(`http://127.0.0.1:${localPort}/`));

  const after = job.window();
  after.offerAgain();
  await until(() => after.offered.length === 1);
  assert.deepEqual(titles(after), [`app.py ${port}/`]);
  const again = await after.forward(JOB, port, signal);
  server.close();
  job.listen([]);
  await until(() => job.seen.closed.length === 1);
  assert.deepEqual([titles(after), job.seen.closed], [[], [String(port)]]);
  await assert.rejects(fetch(`http://127.0.0.1:${again}/`));
  await assert.rejects(after.forward(JOB, port, signal), { code: 'missing' });
});

test('a forward survives a lost connection and ends with stop, and the tunnel with the last of them', async () => {
  const { port } = await serve();
  const job = openJob([{ port, isPublic: false }]);
  const ports = job.window();
  const localPort = await ports.forward(JOB, port, signal);
  job.cut();
  await until(() => job.seen.tunnels === 2 && job.seen.open === 1);
  assert.equal(await (await fetch(`http://127.0.0.1:${localPort}/`)).text(), 'page /');
  ports.stop(JOB, port);
  await until(() => job.seen.open === 0);
  await assert.rejects(fetch(`http://127.0.0.1:${localPort}/`));
  await assert.rejects(ports.forward(JOB, 1, signal), { code: 'missing' });
  await until(() => job.seen.open === 0);
});

test('a job that cannot be connected to is asked once, and one that has ended not again', async () => {
  const job = openJob([]);
  const ports = job.window();
  job.seen.refusal = new AppError('refused', 'in a container');
  for (const port of [1, 2]) {
    ports.addPrinted(JOB.id, { port, ...PAGE });
    await sleep(5);
  }
  assert.equal(job.seen.tunnels, 1);
  await assert.rejects(ports.forward(JOB, 1, signal), { message: 'in a container' });
  job.setState(jobRecord());
  ports.addPrinted(JOB.id, { port: 3, ...PAGE });
  await sleep(0);
  assert.equal(job.seen.tunnels, 2);
});

test('nothing is watched while that is not wanted', async () => {
  const job = openJob([{ port: 6006, isPublic: false, process: 'tensorboard' }]);
  const ports = job.window();
  job.seen.refusal = new Error('off');
  ports.addPrinted(JOB.id, { port: 6006, ...PAGE });
  await sleep(0);
  assert.equal(job.seen.tunnels, 0);
});
