// Everything that must hold, in the order in which a failure is cheapest to learn of. The exit code is the first failure's.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { COMPILE_CACHE } from './compileCache.ts';

// What stands together runs side by side, because neither of the two keeps all cores busy. It shares what is packed first, and must not
// build. Windows draw as long as they are open, so beside other tests they would cost more than they save.
const STEPS = [
  ['package -- --tests'],
  ['check', 'test:unit'],
  ['test:matrix -- --short --packed', 'test:service'],
  ['test:host -- --packed'],
];

// Guards against a hang only, which then has a name: a busy machine takes many times as long as a quiet one.
const STEP_LIMIT_MINUTES = 60;
const OWN_GROUP = process.platform !== 'win32';

const env = { NODE_COMPILE_CACHE: COMPILE_CACHE, ...process.env };

for (const commands of STEPS) {
  const statuses = await Promise.all(commands.map((command, index) => run(command, { isLive: index === 0 })));
  const failure = statuses.find((status) => status !== 0);
  if (failure !== undefined) process.exit(failure);
}

/** Runs a command of package.json and returns its exit code. What it prints is shown at once if `isLive`, otherwise at its end. */
async function run(command: string, { isLive }: { isLive: boolean }): Promise<number> {
  const started = performance.now();
  process.stderr.write(`\n== npm run ${command}\n`);
  const child = spawn('npm', ['run', '--silent', ...command.split(' ')], {
    stdio: ['ignore', isLive ? 'inherit' : 'pipe', 'inherit'],
    env,
    detached: OWN_GROUP,
    shell: process.platform === 'win32',
  });
  const closed = once(child, 'close');
  const kill = (signal: NodeJS.Signals): void => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    if (OWN_GROUP) process.kill(-child.pid, signal);
    else child.kill(signal);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, kill);
  const deadline = setTimeout(() => {
    process.stderr.write(`== ${command}: killed, because it did not end within ${STEP_LIMIT_MINUTES} minutes\n`);
    kill('SIGKILL');
  }, STEP_LIMIT_MINUTES * 60_000);
  if (child.stdout !== null) process.stdout.write(await buffer(child.stdout));
  await closed;
  clearTimeout(deadline);
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  process.stderr.write(`== ${command}: ${child.exitCode === 0 ? 'ok' : 'FAILED'} in ${seconds} s\n`);
  return child.exitCode ?? 1;
}
