import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { withLock } from './cache.ts';
import { Unavailable } from './unavailable.ts';

const STEP_TIMEOUT_MS = 300_000; // npm without a network tries again for much longer

/**
 * Returns the path of a folder, which `install` fills when it is not there yet. The folder gets its name when it is complete, so an
 * interrupted installation is never mistaken for one.
 *
 * @param log receives a line for a person while another process installs the same.
 * @throws whatever `install` throws; the folder is then not there.
 */
export async function installOnce(
  folder: string,
  log: (line: string) => void,
  install: (folder: string) => Promise<void>,
): Promise<string> {
  if (existsSync(folder)) return folder;
  const onWait = (pid: number) => log(`waiting for process ${pid}, which installs the same`);
  await withLock(`${folder}.lock`, onWait, async () => {
    if (existsSync(folder)) return;
    await removeLeftovers(`${folder}.partial-`);
    const partial = await mkdtemp(`${folder}.partial-`);
    try {
      await install(partial);
      await rename(partial, folder);
    } catch (error) {
      await rm(partial, { recursive: true, force: true });
      throw error;
    }
  });
  return folder;
}

/** What interrupted installations left. An npm that outlived its parent may still write there: then it stays for the next time. */
async function removeLeftovers(prefix: string): Promise<void> {
  for (const name of await readdir(dirname(prefix))) {
    if (!name.startsWith(basename(prefix))) continue;
    await rm(join(dirname(prefix), name), { recursive: true, force: true }).catch(() => {});
  }
}

/**
 * Runs a command of an installation and returns what it printed on stdout.
 *
 * @throws Unavailable with the last lines of what the command printed, when it fails or takes too long.
 */
export async function runStep(
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<number | null>();
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], timeout: STEP_TIMEOUT_MS });
  let stdout = '';
  let output = '';
  const collect = (chunk: Buffer) => void (output = (output + chunk.toString()).slice(-4_000));
  child.stdout.on('data', collect).on('data', (chunk: Buffer) => void (stdout += chunk.toString()));
  child.stderr.on('data', collect);
  child.on('error', reject);
  child.on('close', resolve);
  const status = await promise;
  if (status === 0) return stdout;
  const end = status === null ? `did not end within ${STEP_TIMEOUT_MS / 60_000} minutes` : `returned ${status}`;
  throw new Unavailable(`\`${command} ${args.join(' ')}\` in ${options.cwd} ${end}:\n${output.trim()}`);
}
