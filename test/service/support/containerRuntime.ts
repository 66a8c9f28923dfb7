import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';

/** A call of a stand-in. */
export interface RuntimeCall {
  readonly args: readonly string[];
  readonly variables: readonly string[];
}

// They run the program on the machine itself, with the variables that the real one would pass into the container and no others. The
// one for Pyxis leaves that to the real srun, which only lacks the options of the plugin.
const APPTAINER = `
  if (args[1] === '--help') { console.log('--no-eval'); process.exit(0); }
  if (args[0] === 'pull') {
    if (args[2].includes('unreachable')) { console.error('FATAL: no route to host'); process.exit(255); }
    require('node:fs').writeFileSync(args[1], 'image');
    process.exit(0);
  }
  let at = 1;
  while (args[at].startsWith('--')) at += ['--containall', '--no-eval', '--nv'].includes(args[at]) ? 1 : 2;
  const passed = Object.entries(process.env).filter(([name]) => name.startsWith('APPTAINERENV_'));
  const env = Object.fromEntries(passed.map(([name, value]) => [name.slice(13), value]));
  env.PATH = [env.PREPEND_PATH, env.PATH ?? '/usr/bin:/bin'].filter(Boolean).join(':');
  delete env.PREPEND_PATH;
  env.HOME = args[args.indexOf('--home') + 1];
  run(args.slice(at + 1), env, args[args.indexOf('--pwd') + 1]);`;
const SRUN = `
  if (args[0] === '--help') { console.log('--container-image=...'); process.exit(0); }
  const own = args.filter((word) => !/^--(no-)?container-/.test(word));
  const at = args.find((word) => word.startsWith('--container-workdir=')).slice(20);
  run(['/usr/bin/srun', ...own], process.env, at);`;
const RUN = `
  const args = process.argv.slice(2);
  const fs = require('node:fs');
  fs.appendFileSync(CALLS, JSON.stringify({ args, variables: Object.keys(process.env) }) + '\\n');
  function run([file, ...rest], env, cwd) {
    const child = require('node:child_process').spawn(file, rest, { env, cwd, stdio: 'inherit' });
    child.on('error', (error) => { console.error('FATAL:', error.message); process.exit(255); });
    child.on('exit', (code, signal) => process.exit(code ?? 128 + require('node:os').constants.signals[signal]));
  }`;

/**
 * Programs that stand for the runtimes of containers in this test, first in the search path of this process. They record how they were
 * called, and start programs without a container.
 */
export class StandInRuntime {
  readonly folder: string;
  readonly searchPath: string;
  readonly #calls: string;

  constructor(t: TestContext, sharedFolder: string, runtimes: readonly ('apptainer' | 'srun')[]) {
    this.folder = mkdtempSync(join(sharedFolder, 'runtime-'));
    chmodSync(this.folder, 0o755);
    this.#calls = join(this.folder, 'calls');
    const bin = join(this.folder, 'bin');
    mkdirSync(bin);
    const programs = { apptainer: APPTAINER, srun: SRUN };
    for (const name of runtimes) {
      const text = `#!${process.execPath}\nconst CALLS = ${JSON.stringify(this.#calls)};${RUN}${programs[name]}\n`;
      writeFileSync(join(bin, name), text, { mode: 0o755 });
    }
    const before = process.env['PATH'] ?? '';
    this.searchPath = [bin, before].join(delimiter);
    process.env['PATH'] = this.searchPath;
    t.after(() => (process.env['PATH'] = before));
  }

  /** An image on the disk that the nodes share. */
  image(name: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, 'image');
    return path;
  }

  /** The calls since the last time. */
  takeCalls(): readonly RuntimeCall[] {
    const text = readFileSync(this.#calls, 'utf8');
    writeFileSync(this.#calls, '');
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as RuntimeCall);
  }
}

/** An image for Apptainer, as a folder that contains bash and what it loads. @returns its path. */
export async function shellImage(folder: string): Promise<string> {
  for (const name of ['bin', 'dev', 'etc', 'proc', 'root', 'sys', 'tmp', 'var/tmp'])
    mkdirSync(join(folder, name), { recursive: true });
  const { stdout } = await promisify(execFile)('ldd', ['/bin/bash']);
  for (const path of ['/bin/bash', ...(stdout.match(/\/\S+/g) ?? [])]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(path, join(folder, path));
  }
  copyFileSync('/bin/bash', join(folder, 'bin/sh'));
  return folder;
}
