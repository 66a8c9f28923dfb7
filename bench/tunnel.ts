// A forwarded port of a running job beside socat, which forwards the same connections on the same machine, in turns: the throughput of one
// stream in each direction with its processor time, the time of a request over a new connection, 100 at once and one after the other, and
// what a tunnel on which nothing happens adds to the processor time of the same service and job without one. Needs Linux and socat. Fails
// below half of socat's throughput (the median of pairs), above 20 ms for the 95th percentile of requests, and above 1 % of a processor.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from './support/children.ts';
import { Latencies } from './support/latencies.ts';

const CLI = resolve(import.meta.dirname, '../dist/cli.mjs');
const STREAM_BYTES = 1e6 * Number(process.env['BENCH_STREAM_MB'] ?? 500);
const CONNECTIONS = 100;
const ROUNDS = 3;
const IDLE_MS = 20_000;
// Programs that have just started collect garbage.
const SETTLE_MS = 3_000;
const LEAST_RATIO = 0.5;
const MOST_P95_MS = 20;
const MOST_IDLE_PERCENT = 1;
// Of a second, in /proc/<pid>/stat.
const TICKS = 100;

/** Sends as many bytes as the first line says, or counts what it gets until the end. */
const SERVER = `import { createServer } from 'node:net';
const block = Buffer.alloc(256 * 1024, 'x');
createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
  socket.on('error', () => {});
  socket.once('data', (line) => {
    let left = Number(String(line).split('\\n')[0]);
    if (left === 0) {
      let count = line.length;
      socket.on('data', (bytes) => (count += bytes.length)).once('end', () => socket.end(String(count)));
      return;
    }
    const more = () => {
      while (left > 0) {
        const bytes = block.subarray(0, left);
        left -= bytes.length;
        if (!socket.write(bytes)) return void socket.once('drain', more);
      }
      socket.end();
    };
    more();
  });
}).listen(0, '127.0.0.1');
`;

const root = mkdtempSync(join(tmpdir(), 'farwharf-tunnel-'));
const env = { ...process.env, FARWHARF_HOME: join(root, 'home') };
const farwharf = (...args: string[]): string =>
  execFileSync(process.execPath, [CLI, ...args], { env, encoding: 'utf8' });
const children: ChildProcess[] = [];
const start = (program: string, ...args: string[]): ChildProcess => {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  return child;
};

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
  await once(socket, 'connect');
  return socket;
}

/** Megabytes a second that arrive here from the server. */
async function receive(port: number): Promise<number> {
  const socket = await open(port);
  const started = performance.now();
  socket.end(`${STREAM_BYTES}\n`);
  let count = 0;
  for await (const bytes of socket) count += (bytes as Buffer).length;
  if (count !== STREAM_BYTES) throw new Error(`${count} bytes arrived instead of ${STREAM_BYTES}`);
  return STREAM_BYTES / 1000 / (performance.now() - started);
}

/** The same towards the server. */
async function send(port: number): Promise<number> {
  const socket = await open(port);
  const block = Buffer.alloc(256 * 1024);
  const started = performance.now();
  socket.write('0\n');
  let sent = 2;
  for (; sent < STREAM_BYTES; sent += block.length) if (!socket.write(block)) await once(socket, 'drain');
  socket.end();
  const [count] = (await once(socket, 'data')) as [Buffer];
  if (Number(String(count)) !== sent) throw new Error(`${String(count)} bytes arrived instead of ${sent}`);
  socket.destroy();
  return sent / 1000 / (performance.now() - started);
}

/** Milliseconds of a connection, a request and its response. */
async function request(port: number): Promise<number> {
  const started = performance.now();
  const socket = await open(port);
  socket.end('10\n');
  for await (const _ of socket);
  return performance.now() - started;
}

async function p95(port: number, atOnce: number): Promise<number> {
  const times = new Latencies();
  for (let done = 0; done < CONNECTIONS; done += atOnce) {
    for (const time of await Promise.all(Array.from({ length: atOnce }, () => request(port)))) times.add(time);
  }
  return times.quantile(0.95);
}

/** Processor seconds of all processes that belong to this run. */
function processorSeconds(): number {
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (
        !readFileSync(`/proc/${pid}/environ`, 'utf8').includes(root) &&
        !readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(root)
      )
        continue;
      const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      if (Number(pid) === process.pid) continue;
      // With what their ended children took: socat starts one for each connection.
      for (const field of [11, 12, 13, 14]) ticks += Number(fields[field]);
    } catch {
      // It has ended.
    }
  }
  return ticks / TICKS;
}

/** What all of them use of a processor while nothing happens. */
async function idlePercent(): Promise<number> {
  await sleep(SETTLE_MS);
  const before = processorSeconds();
  await sleep(IDLE_MS);
  return (100_000 * (processorSeconds() - before)) / IDLE_MS;
}

function report(name: string, value: string, isGood: boolean): void {
  if (!isGood) process.exitCode = 1;
  const load = `load ${(loadavg()[0] ?? 0).toFixed(1)}`;
  process.stdout.write(`${name.padEnd(40)} ${value}; ${load}${isGood ? '' : '  MISSED'}\n`);
}

try {
  const folder = join(root, 'project');
  mkdirSync(folder);
  writeFileSync(join(folder, 'server.mjs'), SERVER);
  const id = farwharf('submit', folder, '--script', 'server.mjs').trim();
  let server: number | undefined;
  while (server === undefined) {
    await sleep(200);
    try {
      const { ports } = JSON.parse(farwharf('ports', id, '--json')) as { ports: { port: number }[] };
      server = ports[0]?.port;
    } catch {
      // It has not started.
    }
  }
  const withoutTunnel = await idlePercent();
  const forward = start(process.execPath, CLI, 'forward', id, String(server));
  const [line] = (await once(forward.stdout ?? process.stdin, 'data')) as [Buffer];
  const own = Number(/127\.0\.0\.1:(\d+)/.exec(String(line))?.[1]);
  const plain = own - 1;
  start('socat', `TCP-LISTEN:${plain},fork,reuseaddr,bind=127.0.0.1,backlog=128`, `TCP:127.0.0.1:${server}`);
  await sleep(500);
  for (const [name, measure] of [
    ['one stream from the job', receive],
    ['one stream to the job', send],
  ] as const) {
    const rates = { own: [] as number[], plain: [] as number[] };
    const seconds = { own: 0, plain: 0 };
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [way, port] of [['plain', plain] as const, ['own', own] as const]) {
        const before = processorSeconds();
        rates[way].push(await measure(port));
        seconds[way] += processorSeconds() - before;
      }
    }
    const [ours, theirs] = [median(rates.own), median(rates.plain)];
    const ratio = median(rates.own.map((rate, round) => rate / (rates.plain[round] ?? 0)));
    const perGigabyte = (total: number): string => (total / ROUNDS / (STREAM_BYTES / 1e9)).toFixed(1);
    const costs = `processor seconds for a GB: ${perGigabyte(seconds.own)}, socat ${perGigabyte(seconds.plain)}`;
    const rate = `${ours.toFixed(0)} MB/s, socat ${theirs.toFixed(0)} MB/s: ${ratio.toFixed(2)}`;
    report(name, `${rate} (at least ${LEAST_RATIO}); ${costs}`, ratio >= LEAST_RATIO);
  }
  for (const atOnce of [1, CONNECTIONS]) {
    const times = { own: [] as number[], plain: [] as number[] };
    for (let round = 0; round < ROUNDS; round += 1) {
      times.plain.push(await p95(plain, atOnce));
      times.own.push(await p95(own, atOnce));
    }
    const [ours, theirs] = [median(times.own), median(times.plain)];
    const name = atOnce === 1 ? '100 connections, one after the other' : '100 connections at once';
    report(
      name,
      `p95 ${ours.toFixed(1)} ms, socat ${theirs.toFixed(1)} ms (at most ${MOST_P95_MS} ms)`,
      ours <= MOST_P95_MS,
    );
  }
  const added = (await idlePercent()) - withoutTunnel;
  report(
    'an idle tunnel',
    `${added.toFixed(2)} % of a processor (at most ${MOST_IDLE_PERCENT} %)`,
    added <= MOST_IDLE_PERCENT,
  );
  farwharf('cancel', id);
} finally {
  for (const child of children) child.kill('SIGTERM');
  rmSync(root, { recursive: true, force: true });
}
