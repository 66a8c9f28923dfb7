// Debugging of jobs that failed while nobody watched: small trainings in Python fail at random lines, steps and ranks; half of their
// sources are edited after the submit; then, with the client that submitted long gone, a debugger is attached with `farwharf debug`, and what
// it shows is compared with what the training must have been doing. At the end, exit status and results are compared with the same program
// run without Farwharf. Then the steps of a debugger, beside those of debugpy on the same program. Needs Linux and debugpy. Fails for
// anything that is not as it must be, an attach over 3 s, and a step whose 95th percentile is over debugpy's by more than 5 ms.
// Usage: node bench/debug.ts [failures] [seed]
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { RemoteClient } from '../src/remote/client.ts';
import type { Job } from '../src/remote/protocol/schemas.ts';
import { readStateFile } from '../src/service/stateFile.ts';
import { seeded } from '../test/random.ts';
import { freePort } from '../test/service/support/freePort.ts';
import { connectTo, DebugClient, fieldsOf, listOf } from '../test/unit/jobs/debug/debugClient.ts';
import { type EditedText, editAround, type FailingTraining, failingTraining } from './support/failingTraining.ts';
import { Latencies } from './support/latencies.ts';

const [FAILURES = 200, SEED = 1] = process.argv.slice(2).map(Number);
const CLI = resolve(import.meta.dirname, '../dist/cli.mjs');
// Of jobs at once. A job waits for its debugger most of the time.
const LANES = 2;
const MAX_ATTACH_MS = 3_000;
const ROUNDS = 4;
const STEPS = 100;
const MAX_ADDED_MS = 5;
const STEPPED = `total = 0
breakpoint()
while True:
    total += 1
    half = total / 2
    parts = [total % each for each in range(1, 5)]
    kept = {'total': total, 'half': half}
`;

const root = mkdtempSync(join(tmpdir(), 'farwharf-debugging-'));
const env = { ...process.env, FARWHARF_HOME: join(root, 'home') };
// Of the service that the first submit starts.
const STATE = join(root, 'home/service/state.json');
const children = new Set<ChildProcess>();

async function farwharf(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [CLI, ...args], { env, encoding: 'utf8' });
  return stdout.trim();
}

/** `farwharf debug`, until it is disposed. */
class Debugger implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly port: Promise<number>;

  constructor(id: string) {
    this.#child = spawn(process.execPath, [CLI, 'debug', id, '--json'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    children.add(this.#child);
    this.port = this.#readPort();
  }

  async #readPort(): Promise<number> {
    const { stdout, stderr } = this.#child;
    if (stdout === null || stderr === null) throw new Error('The command has outputs.');
    let words = '';
    stderr.setEncoding('utf8').on('data', (text: string) => (words += text));
    let printed = '';
    for await (const line of createInterface(stdout)) {
      printed += line;
      const port = /"port":\s*(\d+)/.exec(printed)?.[1];
      if (port !== undefined) return Number(port);
    }
    throw new Error(words);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    children.delete(this.#child);
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGINT');
    await once(this.#child, 'exit');
  }
}

/** Attaches as an editor does. Resolves to the ID of the thread that has stopped. */
async function attach(client: DebugClient): Promise<unknown> {
  await client.request('initialize', { adapterID: 'bench', pathFormat: 'path' });
  const attached = client.request('attach', { justMyCode: true });
  await client.event('initialized');
  await client.request('configurationDone');
  await attached;
  return (await client.event('stopped'))['threadId'];
}

async function untilState(id: string, isThere: (job: Job) => boolean): Promise<Job> {
  const { url, key } = readStateFile(STATE) ?? { url: '', key: '' };
  const service = new RemoteClient(url, key);
  try {
    for (;;) {
      const job = await service.getJob(id);
      if (isThere(job)) return job;
      await sleep(50);
    }
  } finally {
    await service.close();
  }
}

const isOver = (job: Job): boolean => typeof job.finished_at === 'string';
const isFrozen = (job: Job): boolean => fieldsOf(job['frozen'])['reason'] !== undefined || isOver(job);

/** What differs between a frozen job and what it must be. */
class Differences {
  readonly found: string[] = [];

  expect(what: string, actual: unknown, expected: unknown): void {
    if (JSON.stringify(actual) !== JSON.stringify(expected))
      this.found.push(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
  }
}

interface Outcome {
  readonly training: FailingTraining;
  readonly isEdited: boolean;
  readonly attachMs: number;
  readonly differences: readonly string[];
}

async function checkFrames(
  client: DebugClient,
  threadId: unknown,
  { folder, training, edited }: { folder: string; training: FailingTraining; edited: ReadonlyMap<string, EditedText> },
  differences: Differences,
): Promise<number> {
  const frames = listOf((await client.request('stackTrace', { threadId, startFrame: 0, levels: 20 }))['stackFrames']);
  const scopes = listOf((await client.request('scopes', { frameId: frames[0]?.['id'] }))['scopes']);
  const { variablesReference } = scopes[0] ?? {};
  const variables = listOf((await client.request('variables', { variablesReference }))['variables']);
  const shownAt = performance.now();
  const values = new Map(variables.map(({ name, value }) => [name, value]));
  for (const [name, value] of Object.entries(training.variables)) differences.expect(name, values.get(name), value);
  for (const [index, { file, line }] of training.frames.entries()) {
    const frame = frames[index] ?? {};
    const source = fieldsOf(frame['source']);
    const edit = edited.get(file);
    const now = edit === undefined ? line : edit.lineOf(line);
    if (now !== undefined) {
      differences.expect(`frame ${index}`, [source['path'], frame['line']], [join(folder, file), now]);
      continue;
    }
    const { sourceReference } = source;
    const { content } = await client.request('source', { source, sourceReference });
    differences.expect(`frame ${index}, as submitted`, [content, frame['line']], [training.files[file], line]);
  }
  return shownAt;
}

async function fail(index: number): Promise<Outcome> {
  const below = seeded(SEED * 100_003 + index);
  const training = failingTraining(index, below);
  const isEdited = index % 2 === 1;
  const differences = new Differences();
  const folder = join(root, `training-${index}`);
  mkdirSync(folder);
  for (const [name, text] of Object.entries(training.files)) writeFileSync(join(folder, name), text);
  cpSync(folder, `${folder}-plain`, { recursive: true });
  const id = await farwharf('submit', folder, '--script', training.script, '--debug', '--hold', '30');
  const { frozen } = await untilState(id, isFrozen);
  const { file, line, error, rank, reason } = fieldsOf(frozen);
  const [first] = training.frames;
  differences.expect(
    'frozen',
    [file, line, error, rank, reason],
    [first?.file, first?.line, training.error, training.rank, 'failure'],
  );
  const edited = new Map<string, EditedText>();
  if (isEdited) {
    for (const { file: name, line: around } of training.frames.toReversed()) {
      const edit = editAround(training.files[name] ?? '', around, below);
      edited.set(name, edit);
      if (edit.text === undefined) rmSync(join(folder, name), { force: true });
      else writeFileSync(join(folder, name), edit.text);
    }
  }
  const started = performance.now();
  let attachMs: number;
  {
    await using job = new Debugger(id);
    const client = new DebugClient(await connectTo(await job.port));
    const threadId = await attach(client);
    attachMs = (await checkFrames(client, threadId, { folder, training, edited }, differences)) - started;
    const ending = below(3);
    if (ending === 0) {
      client.close();
      await farwharf('debug', id, '--give-up');
    } else if (ending === 1) await client.request('continue', { threadId });
    else {
      // Detaches, and comes back.
      await client.request('disconnect', { terminateDebuggee: false });
      client.close();
      await using again = new Debugger(id);
      const second = new DebugClient(await connectTo(await again.port));
      const same = await attach(second);
      await checkFrames(second, same, { folder, training, edited }, differences);
      await second.request('continue', { threadId: same });
    }
    const ended = await untilState(id, isOver);
    const results = join(root, `results-${index}`);
    await farwharf('download', id, '--into', results);
    const plain = runPlain(`${folder}-plain`, training.script);
    differences.expect('state', ended['state'], 'failed');
    differences.expect('exit status', ended['exit_code'], plain.status);
    differences.expect('results', filesIn(results), plain.results);
  }
  return { training, isEdited, attachMs, differences: differences.found };
}

/** Without Farwharf. */
function runPlain(folder: string, script: string) {
  mkdirSync(join(folder, 'artifacts'));
  const { status } = spawnSync('python3', [script], { cwd: folder });
  return { status, results: filesIn(folder).filter(([name]) => name?.startsWith('artifacts/')) };
}

/** Names, with `/`, and contents of all files but those that Python makes. */
function filesIn(folder: string): readonly (readonly [string, string])[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.pyc'))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/** Milliseconds of each of some steps, until the frames are there. */
async function step(client: DebugClient, threadId: unknown, count: number, times: Latencies): Promise<void> {
  for (let done = 0; done < count; done += 1) {
    const started = performance.now();
    await client.request('next', { threadId });
    await client.event('stopped');
    await client.request('stackTrace', { threadId, startFrame: 0, levels: 20 });
    times.add(performance.now() - started);
  }
}

/** The program under debugpy's own adapter. */
async function openDebugpy(folder: string): Promise<DebugClient> {
  const port = await freePort();
  const args = ['-m', 'debugpy', '--listen', `127.0.0.1:${port}`, '--wait-for-client', 'steps.py'];
  children.add(spawn('python3', args, { cwd: folder, stdio: 'ignore' }));
  for (;;) {
    try {
      return new DebugClient(await connectTo(port));
    } catch {
      await sleep(50); // it has not started
    }
  }
}

async function compareSteps(): Promise<boolean> {
  const folder = join(root, 'steps');
  mkdirSync(folder);
  writeFileSync(join(folder, 'steps.py'), STEPPED);
  const id = await farwharf('submit', folder, '--script', 'steps.py', '--debug', '--hold', '30');
  await untilState(id, isFrozen);
  await using job = new Debugger(id);
  const own = new DebugClient(await connectTo(await job.port));
  const plain = await openDebugpy(folder);
  const sides = [
    { client: plain, threadId: await attach(plain), times: new Latencies() },
    { client: own, threadId: await attach(own), times: new Latencies() },
  ] as const;
  for (const { client, threadId } of sides) await step(client, threadId, STEPS, new Latencies());
  for (let round = 0; round < ROUNDS; round += 1)
    for (const { client, threadId, times } of sides) await step(client, threadId, STEPS, times);
  await farwharf('cancel', id);
  const [theirs, ours] = sides.map(({ times }) => times);
  if (theirs === undefined || ours === undefined) throw new Error('Both were measured.');
  const added = ours.quantile(0.95) - theirs.quantile(0.95);
  const describe = (times: Latencies): string =>
    `p50 ${times.quantile(0.5).toFixed(2)} ms, p95 ${times.quantile(0.95).toFixed(2)} ms`;
  const text = `${describe(ours)}; debugpy ${describe(theirs)}: ${added.toFixed(2)} ms over (at most ${MAX_ADDED_MS} ms)`;
  return report(`${ours.count} steps`, text, added <= MAX_ADDED_MS);
}

function report(name: string, value: string, isGood: boolean): boolean {
  if (!isGood) process.exitCode = 1;
  process.stdout.write(`${name.padEnd(32)} ${value}${isGood ? '' : '  MISSED'}\n`);
  return isGood;
}

try {
  const outcomes: Outcome[] = [];
  const began = performance.now();
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < FAILURES) {
      const index = next++;
      const outcome = await fail(index);
      outcomes.push(outcome);
      const { training, isEdited, differences } = outcome;
      for (const each of differences)
        process.stdout.write(`failure ${index} (${training.shape}${isEdited ? ', edited' : ''}): ${each}\n`);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const load = loadavg()[0]?.toFixed(1);
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  process.stdout.write(`${FAILURES} failures, seed ${SEED}, in ${seconds} s, load ${load}\n`);
  for (const shape of ['single', 'spawn', 'launcher']) {
    for (const isEdited of [false, true]) {
      const own = outcomes.filter((each) => each.training.shape === shape && each.isEdited === isEdited);
      const right = own.filter(({ differences }) => differences.length === 0).length;
      report(`${shape}${isEdited ? ', edited' : ''}`, `${right} of ${own.length} right`, right === own.length);
    }
  }
  const right = outcomes.filter(({ differences }) => differences.length === 0).length;
  report('all', `${right} of ${FAILURES} right`, right === FAILURES);
  const times = new Latencies();
  for (const { attachMs } of outcomes) times.add(attachMs);
  const longest = times.quantile(1);
  const ms = (part: number): string => `${times.quantile(part).toFixed(0)} ms`;
  report(
    'attach, with frames and values',
    `p50 ${ms(0.5)}, p95 ${ms(0.95)}, longest ${ms(1)} (at most ${MAX_ATTACH_MS} ms)`,
    longest <= MAX_ATTACH_MS,
  );
  await compareSteps();
  process.stdout.write(`load at the end ${loadavg()[0]?.toFixed(1)}\n`);
} finally {
  for (const child of children) child.kill('SIGTERM');
  const service = readStateFile(STATE);
  if (service !== undefined) process.kill(service.pid, 'SIGTERM');
  rmSync(root, { recursive: true, force: true });
}
process.exit();
