// Everything that must hold, in the order in which a failure is cheapest to learn of. Each test runs once: what fails, has failed. All
// steps run, so that one run names all failures, but without a build there is nothing to test.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { COMPILE_CACHE } from './compileCache.ts';
import { Counts, formatCounts, parseCounts } from './testing/report.ts';

const BUILD = 'package -- --tests';
// Runs beside the build and the unit tests, on a copy of the sources.
const CHECK = 'check';
// What stands together runs side by side, because neither of the two keeps all cores busy. It shares what is packed first, and must not
// build. Windows draw as long as they are open, so beside other tests they would cost more than they save.
const STEPS = [['test:unit'], ['test:matrix -- --short --packed', 'test:service'], ['test:host -- --packed']];

// Guards against a hang only, which then has a name: a busy machine takes many times as long as a quiet one.
const STEP_LIMIT_MINUTES = 60;
const OWN_GROUP = process.platform !== 'win32';

const env = { NODE_COMPILE_CACHE: COMPILE_CACHE, ...process.env };
const started = performance.now();
const total = new Counts();
const failedSteps: string[] = [];
const running = new Set<ChildProcess>();

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    for (const child of running) kill(child, signal);
    process.exit(1);
  });
}

const checked = run(CHECK, { isLive: false });
await run(BUILD, { isLive: true });
if (!failedSteps.includes(BUILD)) {
  for (const commands of STEPS) {
    await Promise.all(commands.map((command, index) => run(command, { isLive: index === 0 })));
  }
}
await checked;
const failed = failedSteps.length > 0 ? `; failed: ${failedSteps.join(', ')}` : '';
process.stderr.write(`\n== all steps in ${secondsSince(started)} s${failed}\n`);
process.stdout.write(`${formatCounts(total)}\n`);
process.exitCode = failedSteps.length > 0 ? 1 : 0;

/** Runs a command of package.json. What it prints is shown at once if `isLive`, otherwise at its end. */
async function run(command: string, { isLive }: { isLive: boolean }): Promise<void> {
  const start = performance.now();
  process.stderr.write(`\n== npm run ${command}\n`);
  const child = spawn('npm', ['run', '--silent', ...command.split(' ')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
    detached: OWN_GROUP,
    shell: process.platform === 'win32',
  });
  const closed = once(child, 'close');
  running.add(child);
  const deadline = setTimeout(() => {
    process.stderr.write(`== ${command}: killed, because it did not end within ${STEP_LIMIT_MINUTES} minutes\n`);
    kill(child, 'SIGKILL');
  }, STEP_LIMIT_MINUTES * 60_000);
  let output = '';
  for await (const text of child.stdout.setEncoding('utf8') as AsyncIterable<string>) {
    output += text;
    if (isLive) process.stdout.write(text);
  }
  if (!isLive) process.stdout.write(output);
  await closed;
  clearTimeout(deadline);
  running.delete(child);
  const counts = parseCounts(output);
  if (counts !== undefined) total.add(counts);
  if (child.exitCode !== 0) failedSteps.push(command);
  process.stderr.write(`== ${command}: ${child.exitCode === 0 ? 'ok' : 'FAILED'} in ${secondsSince(start)} s\n`);
}

function kill(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  if (OWN_GROUP) process.kill(-child.pid, signal);
  else child.kill(signal);
}

function secondsSince(start: number): string {
  return ((performance.now() - start) / 1000).toFixed(0);
}
