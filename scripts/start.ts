// The main job, end to end and without an account: sends `examples/quickstart` to the job service on this machine, shows
// its log, and brings the results home. With `--code` it opens that folder in VS Code with the extension instead.
import { spawn } from 'node:child_process';
import { existsSync, globSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from './build.ts';
import { openCode } from './openCode.ts';

const ROOT = resolve(import.meta.dirname, '..');
const WORKSPACE = join(ROOT, 'examples', 'quickstart');
const CLI = join(ROOT, 'dist', 'cli.mjs');
const SOURCES = ['src/**/*.ts', 'esbuild.mjs', 'package-lock.json'];

const { values: flags } = parseArgs({ options: { code: { type: 'boolean', default: false } } });
const print = (line: string): void => void process.stderr.write(`${line}\n`);

if (!isBuilt()) {
  print('Building Farwharf …');
  build();
}
process.exitCode = flags.code ? await openCode({ extension: ROOT, workspace: WORKSPACE, print }) : await runMainJob();

/** Whether `dist/` exists and no source is newer. */
function isBuilt(): boolean {
  if (!existsSync(CLI)) return false;
  const built = statSync(CLI).mtimeMs;
  return globSync(SOURCES, { cwd: ROOT }).every((file) => statSync(join(ROOT, file)).mtimeMs <= built);
}

async function runMainJob(): Promise<number> {
  // The results of the last start have these names too, and git ignores them: a newer picture may replace an older one.
  const args = ['submit', WORKSPACE, '--script', 'train.mjs', '--watch', '--download', '--on-conflict', 'overwrite'];
  print('$ farwharf submit examples/quickstart --script train.mjs --watch --download\n');
  const exit = await run(process.execPath, [CLI, ...args, '--max-runtime', '300']);
  if (exit !== 0) return exit;
  print('\nThe picture of the training is examples/quickstart/loss.png, what it wrote is in samples.txt.');
  print('The same from the editor:  npm start -- --code');
  return 0;
}

/** Runs a command in this terminal on this machine's own service, and returns its exit status. */
function run(command: string, args: readonly string[]): Promise<number> {
  const { FARWHARF_REMOTE_HOST: _host, FARWHARF_API_KEY: _key, ...env } = process.env;
  const child = spawn(command, args, { stdio: 'inherit', env });
  process.on('SIGINT', () => {}); // Ctrl+C reaches the command too, which knows what to do
  const { promise, resolve: settle, reject } = Promise.withResolvers<number>();
  child.once('error', reject);
  child.once('exit', (code) => settle(code ?? 1));
  return promise;
}
