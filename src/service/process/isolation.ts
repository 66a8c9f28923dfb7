import { execFile } from 'node:child_process';
import { mkdirSync, realpathSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { AppError, messageOf } from '../../core/errors.ts';
import { findProgram, isAccessible } from '../../core/processes/findProgram.ts';
import { pathInside } from '../../core/files/pathInside.ts';
import type { VolumeSettings } from '../config/volumesConfig.ts';
import type { ExecutorCheckContext } from '../executor/executorKind.ts';
import { foldersOverlap } from '../folders/checkVolumes.ts';
import { removeTree } from '../jobFiles/removeTree.ts';
import type { Sandbox } from '../jobFiles/confinement.ts';
import { jobFolder } from '../jobFiles/jobFolder.ts';
import { sandboxOptions } from '../runner/sandbox.ts';
import { NO_VARIABLES } from '../runner/sandboxStart.ts';
import type { ProcessSettings } from './processConfig.ts';

const PROBE_TIMEOUT_MS = 10_000;
const HOW_TO_GET_IT = 'Install it (apt-get install bubblewrap, dnf install bubblewrap)';
// Folders of a home whose `bin` has private siblings: key rings, tokens of registries.
const PRIVATE_PREFIXES: ReadonlySet<string> = new Set(['.local', '.cargo', '.config', '.docker']);

/** How jobs of the executor `process` are separated from each other and from the service. */
export type Isolation =
  | { readonly type: 'bubblewrap'; readonly sandbox: Sandbox }
  | {
      readonly type: 'none';
      readonly why: string;
      /** Whether the configuration turns isolation off, rather than bubblewrap not working. */
      readonly isChosen: boolean;
    };

/**
 * The isolation that the configuration asks for and the machine allows. To find out whether bubblewrap works, this runs Node.js in
 * a sandbox like those of jobs, because some machines have the program but forbid what it does.
 *
 * @param data the service's data folder, which is created if missing.
 * @throws AppError `missing` if the configuration requires what does not work here, or names a folder that does not exist.
 */
export async function findIsolation(
  settings: ProcessSettings,
  {
    data,
    hidden,
    volumes = [],
  }: Pick<ExecutorCheckContext, 'data' | 'hidden'> & Partial<Pick<ExecutorCheckContext, 'volumes'>>,
): Promise<Isolation> {
  if (settings.isolation === 'none') return { type: 'none', why: 'the configuration says so', isChosen: true };
  const problem = (why: string): Isolation => {
    if (settings.isolation === 'auto') return { type: 'none', why, isChosen: false };
    const message = `Jobs cannot be isolated here: ${why} The configuration asks for isolation = "bubblewrap"; "auto" uses it where it works.`;
    throw new AppError('missing', message);
  };
  if (process.platform !== 'linux') return problem('bubblewrap is for Linux.');
  const searchPath = process.env['PATH'] ?? '';
  const program = findProgram('bwrap', searchPath);
  if (program === undefined) return problem(`bubblewrap is not installed. ${HOW_TO_GET_IT}.`);
  const lost = [...settings.read_only, ...settings.writable].find((path) => !isAccessible(path));
  if (lost !== undefined)
    throw new AppError('missing', `Jobs should see ${lost}, which does not exist or is not accessible.`);
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const home = homedir();
  const sandbox: Sandbox = {
    program,
    data: realpathSync(data),
    home,
    readOnly: [process.execPath, ...programsOfHome(home, searchPath), ...settings.read_only],
    writable: settings.writable,
    hidden,
    hasNetwork: settings.network,
  };
  refuseBelowWritable(sandbox);
  refuseVolumes(sandbox, volumes);
  const failure = await tryOut(sandbox);
  return failure === undefined ? { type: 'bubblewrap', sandbox } : problem(`bubblewrap does not work: ${failure}`);
}

/**
 * A job can replace anything below a folder that it can write with a link, and the sandbox of the next job would follow the link, for
 * example to the data folder.
 *
 * @throws AppError `bad-input` that names both.
 */
function refuseBelowWritable({ writable, readOnly, hidden, data }: Sandbox): void {
  const inner = [...readOnly, ...writable, ...hidden, data].filter((path) => isAccessible(path));
  for (const outer of writable) {
    const folder = realpathSync(outer);
    const below = inner.find((path) => (pathInside(folder, realpathSync(path)) ?? '') !== '');
    if (below === undefined) continue;
    const message = `[process] writable: jobs can write ${outer}, and ${below} is inside it. A job could replace that with a link, and the next job would see the link's target. Move one of them, or make only folders beside ${below} writable.`;
    throw new AppError('bad-input', message);
  }
}

/**
 * The same for volumes, which only those jobs see that name them: jobs must be able to write them only under their own path, and nothing
 * else through them.
 *
 * @throws AppError `bad-input` that names both.
 */
function refuseVolumes({ writable, readOnly }: Sandbox, volumes: readonly VolumeSettings[]): void {
  for (const { name, folder, writable: isWritable } of volumes) {
    const others = [...writable, ...(isWritable ? readOnly : [])].filter((path) => isAccessible(path));
    const other = others.find((path) => foldersOverlap(realpathSync(path), realpathSync(folder)));
    if (other === undefined) continue;
    const message = `The volume ${name}: ${folder} and ${other}, which all jobs see, are the same or one lies in the other, and jobs can write one of them. Move one of them, or remove it from [process].`;
    throw new AppError('bad-input', message);
  }
}

/** One line about the isolation, for people. */
export function describeIsolation(isolation: Isolation): string {
  if (isolation.type === 'none') {
    return `jobs are NOT isolated: they can do everything that the service's user can do (${isolation.why.replace(/\.$/, '')})`;
  }
  const { hasNetwork, writable } = isolation.sandbox;
  const shared = writable.length === 0 ? '' : `; they can also write ${writable.join(', ')}`;
  const network = hasNetwork ? 'with the network' : 'without network';
  const root =
    process.getuid?.() === 0
      ? '; the service runs as root, whose processes the kernel does not limit: run it as another user'
      : '';
  return `jobs are isolated by bubblewrap: own processes, /tmp and home, a read-only system, ${network}${shared}${root}`;
}

/**
 * Why no job may start; undefined if jobs may. Jobs without isolation can access each other's files and the service's own. With one
 * account they belong to the operator, but with more they may be anyone's, so the configuration must allow it explicitly.
 *
 * @param countAccounts returns how many accounts are enabled.
 */
export function unisolatedRefusal(isolation: Isolation, countAccounts: () => number): string | undefined {
  if (isolation.type !== 'none' || isolation.isChosen || countAccounts() < 2) return undefined;
  const why = isolation.why.replace(/\.$/, '');
  return `No job starts: the service has more than one account, and jobs are not isolated from each other and from the service (${why}). Make bubblewrap work on the machine that runs jobs, then restart the service; or allow all accounts to access what the service's user can, with isolation = "none" in [process] of its configuration.`;
}

/** Runs Node.js in a sandbox. @returns what is wrong; undefined if nothing is. */
async function tryOut(sandbox: Sandbox): Promise<string | undefined> {
  // Placed among the folders of jobs, where the next start of the service deletes what a crash leaves.
  const jobs = join(sandbox.data, 'jobs');
  mkdirSync(jobs, { recursive: true, mode: 0o700 });
  const path = await mkdtemp(join(jobs, 'isolation-'));
  const folder = jobFolder(path);
  try {
    for (const each of [folder.workspace, folder.home, folder.temporary]) mkdirSync(each);
    const variables: Record<string, string> =
      process.versions['electron'] === undefined ? {} : { ELECTRON_RUN_AS_NODE: '1' };
    const inside = sandboxOptions(sandbox, { ...folder, packages: undefined }, { cwd: folder.workspace, variables });
    const options = { timeout: PROBE_TIMEOUT_MS, env: NO_VARIABLES };
    await promisify(execFile)(sandbox.program, [...inside, '--', process.execPath, '--version'], options);
    return undefined;
  } catch (error) {
    const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr).trim().split('\n').at(-1) : '';
    return `${stderr || messageOf(error)}.`;
  } finally {
    await removeTree(path);
  }
}

/**
 * The folders in a home that contain programs of the search path, as installed by pyenv, conda and nvm: `bin` with its sibling
 * folders, and nothing else of the home.
 */
function programsOfHome(home: string, searchPath: string): readonly string[] {
  const folders = searchPath
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => resolve(folder))
    .filter((folder) => (pathInside(home, folder) ?? '') !== '');
  const prefixes = folders.flatMap((folder) => {
    const prefix = dirname(folder);
    if (prefix === home) return [folder];
    if (PRIVATE_PREFIXES.has(basename(prefix))) return [folder, join(prefix, 'lib')];
    return [prefix];
  });
  return [...new Set(prefixes)];
}
