// The main job at its full size: 2 GB in 20,000 files are packed, uploaded, worked on, and results of the same size come
// home. Each of the three processes (command, service, job runner) is the built one, and may take no more than 200 MB.
// Usage: node bench/mainJob.ts [files] [bytes]
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { build } from '../scripts/build.ts';
import { runScript, secondsOf } from './support/children.ts';
import { writeMixedTree } from './support/mixedTree.ts';
import { PeakMemory } from './support/peakMemory.ts';

const FILES = Number(process.argv[2] ?? 20_000);
const BYTES = Number(process.argv[3] ?? 2e9);
const LIMIT_MEGABYTES = 200;
const CLI = resolve(import.meta.dirname, '../dist/cli.mjs');
const SCRIPT = 'mkdir results && cp -r part* results/ && echo copied\n';

interface Printed {
  readonly event?: string;
  readonly state?: string;
  readonly results?: { readonly written: readonly string[] };
}

/** Starts the command with a home of its own. */
function farwharf(folder: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  return spawn(process.execPath, [CLI, ...args], {
    env: { ...process.env, FARWHARF_HOME: join(folder, 'home'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Calls with each line of an output, as it comes. */
async function forEachLine(stream: NodeJS.ReadableStream | null, call: (line: string) => void): Promise<void> {
  if (stream === null) throw new Error('no output');
  for await (const line of createInterface({ input: stream })) call(line);
}

async function startService(folder: string): Promise<{ url: string; key: string; child: ChildProcess }> {
  const child = farwharf(folder, ['serve', '--port', '0', '--json', '--data', join(folder, 'service')]);
  child.stderr?.resume();
  const { promise, resolve: onLine, reject } = Promise.withResolvers<string>();
  child.once('exit', () => reject(new Error('The service did not start.')));
  void forEachLine(child.stdout, onLine);
  return { ...(JSON.parse(await promise) as { url: string; key: string }), child };
}

/** Runs the main job. Returns the seconds of each phase and the paths of the results. */
async function runMainJob(folder: string, tree: string, env: NodeJS.ProcessEnv) {
  const seconds = new Map<string, number>();
  let phaseStarted = performance.now();
  const endPhase = (phase: string): void => {
    const now = performance.now();
    seconds.set(phase, (now - phaseStarted) / 1000);
    phaseStarted = now;
  };
  const child = farwharf(folder, ['submit', tree, '--script', 'run.sh', '--watch', '--download', '--json'], env);
  let stderr = '';
  let outcome: Printed = {};
  const isOver = once(child, 'close') as Promise<[number]>;
  await Promise.all([
    forEachLine(child.stderr, (line) => {
      stderr += `${line}\n`;
      if (line.startsWith('packed')) endPhase('select and pack');
    }),
    forEachLine(child.stdout, (line) => {
      const printed = JSON.parse(line) as Printed;
      if (printed.event === 'log') endPhase('run');
      else if (printed.event === 'end') endPhase('collect results');
      else if (printed.event === undefined && printed.state === undefined) endPhase('upload');
      outcome = printed;
    }),
  ]);
  const [exit] = await isOver;
  if (exit !== 0) throw new Error(`The command ended with ${exit}:\n${stderr}`);
  endPhase('download and extract');
  return { seconds, written: outcome.results?.written ?? [] };
}

async function sha256Of(path: string): Promise<string> {
  const digest = createHash('sha256');
  await pipeline(createReadStream(path), digest);
  return digest.digest('hex');
}

build();
const folder = await mkdtemp(join(tmpdir(), 'farwharf-bench-'));
let service: Awaited<ReturnType<typeof startService>> | undefined;
try {
  const tree = join(folder, 'tree');
  await writeMixedTree(tree, FILES, BYTES);
  const parts = await readdir(tree);
  await writeFile(join(tree, 'run.sh'), SCRIPT);

  using memory = new PeakMemory({
    command: ['cli.mjs', 'submit', tree],
    service: ['cli.mjs', 'serve', folder],
    'job runner': ['jobRunner', folder],
  });
  service = await startService(folder);
  const env = { FARWHARF_REMOTE_HOST: service.url, FARWHARF_API_KEY: service.key };
  const { seconds, written } = await runMainJob(folder, tree, env);

  for (const part of parts) secondsOf('diff', '-r', join(tree, part), join(tree, 'results', part)); // throws when they differ
  await rm(join(tree, 'results'), { recursive: true });
  const archives = join(folder, 'home', 'archives');
  const [sent = ''] = (await readdir(archives)).filter((name) => name.endsWith('.tar.gz'));
  const packedAgain = runScript('packOnce.ts', tree, join(folder, 'again.tar.gz'), 'segmented') as { sha256: string };
  const isSame = (await sha256Of(join(archives, sent))) === packedAgain.sha256;

  const print = (cells: readonly string[]): void => {
    process.stdout.write(`${cells.map((cell, i) => (i === 0 ? cell.padEnd(24) : cell.padStart(10))).join('')}\n`);
  };
  for (const [phase, value] of seconds) print([phase, `${value.toFixed(1)} s`]);
  const peaks = [...memory.megabytes];
  const isSmall = (megabytes: number): boolean => megabytes > 0 && megabytes < LIMIT_MEGABYTES;
  for (const [name, peak] of peaks) {
    print([
      `peak RSS, ${name}`,
      `${peak.toFixed(0)} MB`,
      isSmall(peak) ? 'ok' : 'FAILED',
      `(target < ${LIMIT_MEGABYTES})`,
    ]);
  }
  const isAll = written.length === FILES;
  print(['results in place', String(written.length), isAll ? 'ok' : 'FAILED', `(of ${FILES})`]);
  print(['packed twice', isSame ? 'same' : 'differs', isSame ? 'ok' : 'FAILED']);
  process.exitCode = isAll && isSame && peaks.every(([, peak]) => isSmall(peak)) ? 0 : 1;
} finally {
  if (service?.child.kill('SIGTERM') === true) await once(service.child, 'exit');
  await rm(folder, { recursive: true, force: true });
}
