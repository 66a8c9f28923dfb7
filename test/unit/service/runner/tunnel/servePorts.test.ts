import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test, type TestContext } from 'node:test';
import { openTunnel } from './tunnelPair.ts';

const skip = process.platform === 'linux' ? false : 'NO LINUX: ports are found in /proc';

/** A server of this process on a port of its own. */
async function listen(
  t: TestContext,
  onConnection: (socket: Socket) => void,
  { host = '127.0.0.1', port = 0 }: { readonly host?: string; readonly port?: number } = {},
): Promise<{ readonly port: number; readonly server: Server }> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket.on('error', () => {}));
    onConnection(socket);
  });
  server.listen(port, host);
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, server };
}

/** A server of another process, and its port. */
async function listenElsewhere(t: TestContext, program: string): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const [printed] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, port: Number(String(printed)) };
}

const PRINT_PORT = 'server.listen(0, "127.0.0.1", () => console.log(server.address().port))';
const GREETER = `const server = require("net").createServer((s) => s.end("hello")); ${PRINT_PORT}`;

test('the ports of the job’s own processes are listed, and no others', { skip }, async (t) => {
  const { port: v4 } = await listen(t, () => {});
  const { port: v6 } = await listen(t, () => {}, { host: '::1' });
  const { port: any } = await listen(t, () => {}, { host: '::' });
  const { port: other, child } = await listenElsewhere(t, GREETER);
  const own = openTunnel(t);
  const ports = await own.ports();
  const found = new Map(ports.map(({ port, isPublic, process: name }) => [port, [isPublic, name !== undefined]]));
  assert.deepEqual(
    [v4, v6, any, other].map((port) => found.get(port)),
    [[false, true], [false, true], [true, true], undefined],
  );
  assert.deepEqual(
    ports.map(({ port }) => port),
    ports.map(({ port }) => port).toSorted((a, b) => a - b),
  );
  const others = openTunnel(t, { processes: () => [child.pid ?? 0] });
  assert.deepEqual(await others.ports(), [{ port: other, isPublic: false, process: 'node' }]);
  await assert.rejects(own.connect(other), { code: 'refused', message: /belongs to another program/ });
  await assert.rejects(others.connect(v4), { code: 'refused' });
  assert.equal(await text(await others.connect(other)), 'hello');
});

test('watched ports are reported when they open and when they close', { skip }, async (t) => {
  const { port, server } = await listen(t, () => {});
  const tunnel = openTunnel(t);
  const watching = tunnel.watchPorts();
  const untilPorts = async (isReached: (ports: readonly number[]) => boolean): Promise<void> => {
    for (;;) {
      const { value } = await watching.next();
      if (isReached((value ?? []).map((each) => each.port))) return;
    }
  };
  await untilPorts((ports) => ports.includes(port));
  const { port: second } = await listen(t, () => {});
  await untilPorts((ports) => ports.includes(port) && ports.includes(second));
  server.close();
  await untilPorts((ports) => !ports.includes(port) && ports.includes(second));
  await watching.return();
});

test('a connection has both directions, half-close and resets', { skip }, async (t) => {
  const reset = Promise.withResolvers<void>();
  const { port } = await listen(t, (socket) => {
    void (async () => {
      const [first] = (await once(socket, 'data')) as [Buffer];
      const word = String(first.subarray(0, 5));
      if (word === 'reset') socket.resetAndDestroy();
      else if (word === 'count') {
        let count = first.length;
        socket.on('data', (chunk: Buffer) => (count += chunk.length)).once('end', () => socket.end(String(count)));
      } else {
        socket.end('goodbye');
        socket.on('close', () => reset.resolve()).resume();
      }
    })();
  });
  const tunnel = openTunnel(t);
  const open = async (word: string): Promise<Duplex> => {
    const connection = await tunnel.connect(port);
    connection.write(word);
    return connection;
  };
  const counted = await open('count');
  counted.end(Buffer.alloc(5_000_000));
  assert.equal(await text(counted), '5000005');
  const broken = await open('reset');
  await assert.rejects(text(broken), { code: 'ECONNRESET' });
  const answered = await open('other');
  assert.equal(await text(answered), 'goodbye');
  answered.destroy();
  await reset.promise;
});

test('a port that nobody listens on, or that is closed again, is refused', { skip }, async (t) => {
  const { port, server } = await listen(t, (socket) => socket.end('once'));
  const tunnel = openTunnel(t);
  const connection = await tunnel.connect(port);
  assert.equal(await text(connection), 'once');
  connection.end();
  server.close();
  await once(server, 'close');
  await assert.rejects(tunnel.connect(port), {
    code: 'missing',
    message: new RegExp(`No process of the job .*${port}`),
  });
  await assert.rejects(tunnel.connect(70_000), { message: /does not understand/ });
});

test('a port that was connected to is found again at another address, and refused once it is another program’s', {
  skip,
}, async (t) => {
  const tunnel = openTunnel(t);
  const answer = async (port: number): Promise<string> => {
    const connection = await tunnel.connect(port);
    connection.end();
    return text(connection);
  };
  const { port, server } = await listen(t, (socket) => socket.end('first'));
  assert.equal(await answer(port), 'first');
  server.close();
  await once(server, 'close');
  const second = await listen(t, (socket) => socket.end('second'), { host: '::1', port });
  assert.equal(await answer(port), 'second');
  second.server.close();
  await once(second.server, 'close');
  await listenElsewhere(t, GREETER.replace('listen(0, "127.0.0.1"', `listen(${port}, "::1"`));
  await assert.rejects(tunnel.connect(port), { code: 'refused', message: /belongs to another program/ });
});

test('nothing passes until a process of the job has accepted the connection', { skip }, async (t) => {
  // Two programs share a port; the kernel gives a connection to either.
  const shared = (word: string) => `const server = require("net").createServer((s) => s.end("${word}"));
    server.listen({ port: Number(process.argv[1] || 0), host: "127.0.0.1", reusePort: true }, () => console.log(server.address().port));`;
  const { port, child } = await listenElsewhere(t, shared('own'));
  const rival = spawn(process.execPath, ['-e', shared('other'), String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => rival.kill('SIGKILL'));
  await once(rival.stdout, 'data');
  const tunnel = openTunnel(t, { processes: () => [child.pid ?? 0] });
  const seen = new Set<string>();
  while (seen.size < 2) {
    const answer = await tunnel
      .connect(port)
      .then(text, (error: unknown) => (error instanceof Error ? error.message : ''));
    assert.notEqual(answer, 'other');
    seen.add(answer);
  }
  assert.ok(seen.has('own'));
});

test('a connection that is not accepted waits, and ends with its client', { skip }, async (t) => {
  const { port, child } = await listenElsewhere(t, GREETER);
  child.kill('SIGSTOP');
  const tunnel = openTunnel(t, { processes: () => [child.pid ?? 0] });
  const abort = new AbortController();
  const connecting = tunnel.connect(port, { signal: abort.signal });
  const other = tunnel.connect(port);
  abort.abort(new Error('no longer wanted'));
  await assert.rejects(connecting, /no longer wanted/);
  child.kill('SIGCONT');
  assert.equal(await text(await other), 'hello');
});
