import { execFile, spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { cleanEnvironment } from './environment.ts';
import type { CodeServer } from './install.ts';
import { writeSettings } from './settings.ts';

/** A running code-server; `authority` is `127.0.0.1:<port>`. */
export interface Server extends AsyncDisposable {
  readonly authority: string;
  /** What it printed so far. */
  log(): string;
}

interface ServerOptions {
  /** Folder of settings, installed extensions and window state. If it is reused, the same windows open again. */
  readonly userData: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Whether folders open in Restricted Mode until the user trusts them. */
  readonly asksForTrust?: boolean;
}

const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 5_000;
const GAVE_UP = /error timed out/;

/**
 * Starts code-server on a free port of 127.0.0.1, the only address that browsers treat as secure without a certificate.
 *
 * @throws Error with what it printed, when it does not listen within two minutes.
 */
export async function startServer(codeServer: CodeServer, options: ServerOptions): Promise<Server> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const attempt = await startProcess(codeServer, options);
    while (attempt.authority() === undefined && !attempt.hasExited() && Date.now() < deadline) await sleep(50);
    const authority = attempt.authority();
    if (authority !== undefined) return { authority, log: attempt.log, [Symbol.asyncDispose]: attempt.stop };
    await attempt.stop();
    // Its two processes give each other ten seconds, whatever else the machine does.
    if (!GAVE_UP.test(attempt.log()) || Date.now() > deadline)
      throw new Error(`code-server did not start:\n${attempt.log()}`);
  }
}

async function startProcess(codeServer: CodeServer, options: ServerOptions) {
  const args = [...(await commonArguments(codeServer, options)), '--bind-addr', '127.0.0.1:0'];
  // Without the driver, newer workbenches do not accept the folder of a test suite in their address.
  if (codeServer.release.takesVscodeOptions) args.push('--vscode-option', 'enable-smoke-test-driver');
  const child = spawn(codeServer.node, args, {
    env: cleanEnvironment(options.env),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a process group of its own: extension hosts outlive a killed server otherwise
  });
  let log = '';
  const collect = (chunk: Buffer) => void (log += chunk.toString());
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const signalGroup = (signal: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // The group has ended already.
    }
  };
  const killGroup = () => signalGroup('SIGKILL');
  process.once('exit', killGroup);
  return {
    authority: () => /HTTP server listening on http:\/\/(127\.0\.0\.1:\d+)/.exec(log)?.[1],
    hasExited: () => child.exitCode !== null,
    log: () => log,
    stop: async () => {
      signalGroup('SIGTERM');
      await Promise.race([closed, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
      killGroup();
      process.off('exit', killGroup);
    },
  };
}

/** Installs a packed extension into the server that will be started with the same options. */
export async function installExtension(codeServer: CodeServer, vsix: string, options: ServerOptions): Promise<void> {
  const args = [...(await commonArguments(codeServer, options)), '--install-extension', vsix, '--force'];
  await promisify(execFile)(codeServer.node, args, { env: cleanEnvironment(options.env) });
}

async function commonArguments(
  { entry }: CodeServer,
  { userData, settings, asksForTrust = false }: ServerOptions,
): Promise<string[]> {
  await writeSettings(userData, settings);
  const config = join(userData, 'config.yaml'); // without one, code-server writes to the home folder
  await writeFile(config, 'auth: none\n');
  const flags = ['--disable-telemetry', '--disable-update-check', '--ignore-last-opened'];
  if (!asksForTrust) flags.push('--disable-workspace-trust');
  const folders = ['--user-data-dir', userData, '--extensions-dir', join(userData, 'extensions')];
  return [entry, '--config', config, '--auth', 'none', ...flags, '--disable-getting-started-override', ...folders];
}
