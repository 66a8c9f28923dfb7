import { createHash } from 'node:crypto';
import { copyFile, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { cacheFolder } from './cache.ts';
import { installOnce, runStep } from './installOnce.ts';
import { nodePackage } from './nodePackage.ts';
import { type Release, chosenRelease } from './releases.ts';
import { Unavailable } from './unavailable.ts';

/** VS Code's own server and browser workbench, with the Node that runs it. */
export interface CodeServer {
  readonly release: Release;
  readonly node: string;
  readonly entry: string;
}

// Raised when the steps below change, so that what an older checkout installed is not taken for complete.
const RECIPE = 1;
const STAND_IN = join(import.meta.dirname, 'spdlog.cjs');
const QUIET = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];

/**
 * Returns code-server, which is installed from npm alone into the cache folder when it is not there yet: about a minute
 * and up to 950 MB.
 *
 * @param log receives a line for a person at each step.
 * @throws Unavailable where it cannot be had, with the reason.
 */
export async function installCodeServer(
  log: (line: string) => void,
  release: Release = chosenRelease(),
): Promise<CodeServer> {
  const nodeName = nodePackage();
  if (nodeName === undefined) {
    throw new Unavailable(`code-server does not run on ${process.platform} ${process.arch}`);
  }
  const located = (base: string): CodeServer => ({
    release,
    node: join(base, 'node_modules', nodeName, 'bin', 'node'),
    entry: join(base, 'node_modules', 'code-server', 'out', 'node', 'entry.js'),
  });
  const recipe = createHash('sha256').update(await readFile(STAND_IN));
  if (Object.keys(release.instead).length > 0) recipe.update(JSON.stringify([release.node, release.instead]));
  const name = `code-server-${release.codeServer}-${RECIPE}-${recipe.digest('hex').slice(0, 8)}`;
  const folder = await installOnce(join(cacheFolder(), name), log, async (partial) => {
    log(`installing code-server ${release.codeServer} (once; about a minute, up to 950 MB)`);
    await install(partial, release, { nodeName, ...located(partial) }, log);
    log('code-server is installed');
  });
  return located(folder);
}

async function install(
  folder: string,
  release: Release,
  { nodeName, node, entry }: CodeServer & { readonly nodeName: string },
  log: (line: string) => void,
): Promise<void> {
  const dependencies = { 'code-server': release.codeServer, [nodeName]: release.node, ...release.instead };
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }, undefined, 2));
  const env = { ...process.env, PATH: `${join(node, '..')}${delimiter}${process.env['PATH'] ?? ''}` };
  log('1 of 3: code-server and Node');
  await runStep('npm', ['install', ...QUIET], { cwd: folder, env: process.env });
  const server = join(folder, 'node_modules', 'code-server');
  const vscode = join(server, 'lib', 'vscode');
  const extensions = join(vscode, 'extensions');
  for (const name of Object.keys(release.instead)) {
    await rm(join(server, 'node_modules', name), { recursive: true, force: true });
    for (const owner of [vscode, extensions]) await withdraw(name, owner);
  }
  log("2 of 3: the server's own packages");
  await runStep('npm', ['install', '--omit=dev', ...QUIET], { cwd: vscode, env });
  log("3 of 3: the built-in extensions' packages");
  await runStep('npm', ['install', '--omit=dev', ...QUIET], { cwd: extensions, env });
  await copyFile(STAND_IN, join(vscode, 'node_modules', '@vscode', 'spdlog', 'index.js'));
  const system = process.platform === 'darwin' ? 'darwin' : 'linux';
  await linkAnew(`code-${system}.sh`, join(vscode, 'bin', 'remote-cli', 'code-server'));
  await linkAnew(`browser-${system}.sh`, join(vscode, 'bin', 'helpers', 'browser.sh'));
  const config = join(folder, 'config.yaml'); // without one, code-server writes to the home folder
  await writeFile(config, 'auth: none\n');
  await runStep(node, [entry, '--config', config, '--version'], { cwd: folder, env: process.env });
}

/** The parts of package.json and npm-shrinkwrap.json that name packages. */
interface Wants {
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  packages?: Record<string, Wants>;
}

/** Takes a package out of what npm installs in a folder; Node then finds the one in a folder above. */
async function withdraw(name: string, folder: string): Promise<void> {
  for (const file of ['package.json', 'npm-shrinkwrap.json']) {
    const path = join(folder, file);
    const wants = JSON.parse(await readFile(path, 'utf8')) as Wants;
    for (const part of [wants, wants.packages?.['']]) {
      delete part?.dependencies?.[name];
      delete part?.devDependencies?.[name];
    }
    delete wants.packages?.[`node_modules/${name}`];
    await writeFile(path, JSON.stringify(wants, undefined, 2));
  }
}

async function linkAnew(target: string, path: string): Promise<void> {
  await rm(path, { force: true });
  await symlink(target, path);
}
