import { spawn } from 'node:child_process';
import { createWriteStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { TestRunFailedError, downloadAndUnzipVSCode, runTests } from '@vscode/test-electron';
import { findProgram } from '../programs.ts';
import { cacheFolder } from './cache.ts';
import type { Host, HostOptions } from './host.ts';
import { writeSettings } from './settings.ts';
import { Unavailable } from './unavailable.ts';

/**
 * Desktop VS Code: the one at `FARWHARF_VSCODE`, else the current stable release, which is downloaded.
 *
 * @throws Unavailable where there is no screen for it or it cannot be downloaded; Error when `FARWHARF_VSCODE` names nothing.
 */
export async function startDesktopHost(options: HostOptions): Promise<Host> {
  const screen = await openScreen();
  try {
    const vscodeExecutablePath = await findVSCode();
    const env = { ...options.env, ...screen.env };
    await writeSettings(options.userData);
    return {
      name: `desktop VS Code (${vscodeExecutablePath})`,
      runSuite: (suite, folder) => runSuite(vscodeExecutablePath, { suite, folder }, env, options),
      [Symbol.asyncDispose]: async () => screen.close(),
    };
  } catch (error) {
    screen.close();
    throw error;
  }
}

async function runSuite(
  vscodeExecutablePath: string,
  { suite, folder }: { suite: string; folder: string },
  env: NodeJS.ProcessEnv,
  { extension, userData, evidence }: HostOptions,
): Promise<boolean> {
  const output = createWriteStream(join(evidence, 'window.log'), { flags: 'a' });
  const folders = [`--user-data-dir=${userData}`, `--extensions-dir=${join(userData, 'extensions')}`];
  try {
    await runTests({
      vscodeExecutablePath,
      extensionDevelopmentPath: extension,
      extensionTestsPath: suite,
      extensionTestsEnv: env,
      launchArgs: [folder, ...folders],
      stdout: output,
      stderr: output,
    });
    return true;
  } catch (error) {
    if (error instanceof TestRunFailedError) return false;
    throw error;
  } finally {
    output.end();
  }
}

async function findVSCode(): Promise<string> {
  const chosen = process.env['FARWHARF_VSCODE'];
  if (chosen) {
    if (!existsSync(chosen)) throw new Error(`FARWHARF_VSCODE is ${chosen}, which does not exist`);
    return chosen;
  }
  try {
    return await downloadAndUnzipVSCode({ cachePath: join(cacheFolder(), 'desktop') });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Unavailable(`desktop VS Code cannot be downloaded (${reason})`);
  }
}

/** The existing screen or, on a Linux without one, a virtual screen. */
async function openScreen(): Promise<{ env: NodeJS.ProcessEnv; close(): void }> {
  if (process.platform !== 'linux' || process.env['DISPLAY'] || process.env['WAYLAND_DISPLAY']) {
    return { env: {}, close() {} };
  }
  const xvfb = findProgram(['Xvfb']);
  if (xvfb === undefined)
    throw new Unavailable('desktop VS Code needs a screen: DISPLAY is not set, and there is no Xvfb');
  const child = spawn(xvfb, ['-displayfd', '1', '-screen', '0', '1400x900x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
  child.once('exit', (status) => reject(new Unavailable(`Xvfb ended with ${status}`)));
  return { env: { DISPLAY: `:${await promise}` }, close: () => void child.kill() };
}
