// Upload of one large file by `submitJob`, against `curl -F` to the same server, each in a process of its own.
// Usage: node bench/upload.ts [megabytes]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RemoteClient } from '../src/remote/client.ts';

const RUNS = 5;

/** Runs a program and returns its seconds, what it printed, and its exit code. */
async function run(command: string, args: readonly string[]): Promise<{ seconds: number; output: string }> {
  const started = performance.now();
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`${command} ended with ${code}.`);
  return { seconds: (performance.now() - started) / 1000, output };
}

/** The server: a process of its own, so that it costs both clients the same. Prints its port. */
async function serve(): Promise<void> {
  const server = createServer((request, response) => {
    let bytes = 0;
    request.on('data', (chunk: Buffer) => (bytes += chunk.length));
    request.on('end', () => response.end(JSON.stringify({ job_id: 'bench', bytes })));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
}

/** The client: prints the seconds of the upload alone, without the start of Node, and its peak memory in MB. */
async function upload(host: string, file: string): Promise<void> {
  await using client = new RemoteClient(host, 'bench-key');
  const started = performance.now();
  await client.submitJob(file, { script: 'bench.py', maxRuntime: 60 });
  const seconds = (performance.now() - started) / 1000;
  process.stdout.write(JSON.stringify({ seconds, peakMb: process.resourceUsage().maxRSS / 1024 }));
}

async function makeFile(path: string, megabytes: number): Promise<void> {
  await using file = await open(path, 'w');
  const block = Buffer.alloc(1_000_000, 'farwharf');
  for (let index = 0; index < megabytes; index++) await file.write(block);
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;

async function compare(megabytes: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'farwharf-bench-'));
  const server = spawn(process.execPath, [import.meta.filename, 'serve'], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [port] = (await once(server.stdout, 'data')) as [Buffer];
    const host = `http://127.0.0.1:${port.toString().trim()}`;
    const file = join(folder, 'workspace.tar.gz');
    await makeFile(file, megabytes);
    const ours: number[] = [];
    const peers: number[] = [];
    let peakMb = 0;
    for (let index = 0; index < RUNS; index++) {
      const { output } = await run(process.execPath, [import.meta.filename, 'client', host, file]);
      const result = JSON.parse(output) as { seconds: number; peakMb: number };
      ours.push(result.seconds);
      peakMb = Math.max(peakMb, result.peakMb);
      const form = [
        '-F',
        'meta={"script":"bench.py","max_runtime":60}',
        '-F',
        `tarball=@${file};type=application/gzip`,
      ];
      const curl = await run('curl', [
        '-s',
        '-o',
        join(folder, 'answer'),
        '-w',
        '%{time_total}',
        ...form,
        `${host}/v1/jobs`,
      ]);
      peers.push(Number(curl.output));
    }
    process.stdout.write(
      `upload: ${megabytes} MB | farwharf ${median(ours).toFixed(2)} s | curl -F ${median(peers).toFixed(2)} s | ` +
        `speed ratio ${(median(peers) / median(ours)).toFixed(2)} (target >= 0.80) | peak RSS ${peakMb.toFixed(0)} MB\n`,
    );
  } finally {
    server.kill();
    await rm(folder, { recursive: true });
  }
}

const [mode, host = '', file = ''] = process.argv.slice(2);
if (mode === 'serve') await serve();
else if (mode === 'client') await upload(host, file);
else await compare(Number(mode ?? 1000));
