import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { built } from './support/built.ts';
import { ServiceProcess } from './support/serviceProcess.ts';
import { temporaryFolder } from './support/service.ts';

/** A quarter of the stack that Node.js has, so that a quarter of the files is already more than one call can have as arguments. */
const SMALL_STACK = '--stack-size=246';
const FILES = 35_000;

test('a job that makes 35,000 files brings all of them home', { skip: process.platform === 'win32' }, async (t) => {
  // A process of its own: the hooks of the test runner take as long as the work on so many files.
  let stop = async (): Promise<void> => {};
  const home = await temporaryFolder(t, () => stop());
  const runner = join(home, 'runner.mjs');
  await writeFile(runner, startWith([SMALL_STACK, built('jobRunner.mjs')]));
  const running = await ServiceProcess.start(home, { runner }, { nodeOptions: [SMALL_STACK] });
  stop = () => running.end('SIGTERM');
  const service = running.client;
  const id = await service.submit({ 'a.sh': `seq 1 ${FILES} | xargs touch` }, { script: 'a.sh' });
  const job = await service.untilEnd(id);
  assert.equal(job.state, 'succeeded', job.reason ?? '');
  const artifacts = (await service.events(id)).filter(({ event }) => event === 'artifact');
  assert.equal(artifacts.length, FILES);
});

/** A program that runs another with these arguments of Node.js, its own ones, and its pipes to the service. */
function startWith(args: readonly string[]): string {
  return `import { spawnSync } from 'node:child_process';
const args = [...${JSON.stringify(args)}, ...process.argv.slice(2)];
process.exit(spawnSync(process.execPath, args, { stdio: [0, 1, 2, 3] }).status ?? 1);
`;
}
