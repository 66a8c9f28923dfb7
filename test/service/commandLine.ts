import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TextStream } from '../../src/cli/terminal/output.ts';
import { readStateFile } from '../../src/service/stateFile.ts';
import { built } from './support/built.ts';

// Guards against a hang only: a busy machine takes many times as long as a quiet one.
const DEADLINE_MS = 5 * 60_000;
const LOG_LENGTH = 4_000;

export interface Finished {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The program; the built one by default. */
  readonly main?: string;
  /** Its abort is Ctrl+C. */
  readonly signal?: AbortSignal;
  /** The user that runs it; by default the one that runs the tests. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined;
  /** Called with everything printed so far, each time something was printed. `interrupt` is Ctrl+C, unless another signal is named. */
  onOutput?(printed: Finished, interrupt: (signal?: NodeJS.Signals) => void): void;
}

/** Sends a signal once, as soon as stdout contains the text. A second one can meet a process that no longer handles signals. */
export function interruptAt(text: string, signal?: NodeJS.Signals): NonNullable<RunOptions['onOutput']> {
  let isSent = false;
  return ({ stdout }, interrupt) => {
    if (isSent || !stdout.includes(text)) return;
    isSent = true;
    interrupt(signal);
  };
}

/**
 * Whether a command needs a process of its own: for its signals, its user, or a place that is read from the process (variables other than
 * Farwharf's, which the program is given).
 */
function needsProcess(options: RunOptions, { command, isNewUser = false, isProcess = false }: ScratchOptions): boolean {
  const { env = {}, main, signal, user } = options;
  return (
    isProcess ||
    isNewUser ||
    options.onOutput !== undefined ||
    [command, main, signal, user].some((option) => option !== undefined) ||
    Object.keys(env).some((name) => !name.startsWith('FARWHARF_'))
  );
}

/** Verbs that serve until they are stopped. */
const SERVING: readonly (string | undefined)[] = ['serve', 'mcp'];

export interface ScratchOptions {
  /** The folder in which it is created; the system's temporary one by default. */
  readonly within?: string | undefined;
  /** The installed command; the sources by default. */
  readonly command?: string | undefined;
  /** Whether the user has an empty home folder of their own instead of a FARWHARF_HOME. */
  readonly isNewUser?: boolean | undefined;
  /** Whether each command is a process of its own, where processes are what is tested. */
  readonly isProcess?: boolean | undefined;
}

/** A place for one test: a FARWHARF_HOME of its own and folders to send. Ended, it leaves nothing behind. */
export class Scratch implements AsyncDisposable {
  readonly root: string;
  readonly home: string;
  readonly #options: ScratchOptions;
  readonly #services: Service[] = [];

  private constructor(root: string, options: ScratchOptions) {
    this.root = root;
    this.home = options.isNewUser === true ? join(root, 'user', '.local', 'share', 'farwharf') : join(root, 'home');
    this.#options = options;
  }

  static async create(options: ScratchOptions = {}): Promise<Scratch> {
    const root = await realpath(await mkdtemp(join(options.within ?? tmpdir(), 'farwharf-cli-')));
    if (options.isNewUser === true) await mkdir(join(root, 'user'));
    return new Scratch(root, options);
  }

  /** Makes a folder with these files; gives its path. */
  async folder(name: string, files: Readonly<Record<string, string>>): Promise<string> {
    const folder = join(this.root, name);
    await mkdir(folder, { recursive: true });
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
    return folder;
  }

  /** Runs the command to its end, in this process if that makes no difference: starting one is most of what a short command costs. */
  run(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    const isProcess = SERVING.includes(args[0]) || needsProcess(options, this.#options);
    return isProcess ? this.#runProcess(args, options) : this.#runHere(args, options);
  }

  async #runHere(
    args: readonly string[],
    { env = {}, cwd = this.root, signal = new AbortController().signal }: RunOptions,
    onOutput: (printed: Omit<Finished, 'exit'>) => void = () => {},
  ): Promise<Finished> {
    const { runProgram } = await import('../../src/cli/commandLine.ts');
    const printed = { stdout: '', stderr: '' };
    const stream = (name: keyof typeof printed): TextStream => ({
      write: (text, done) => {
        printed[name] += text;
        onOutput(printed);
        done?.();
      },
    });
    const stdio = { stdin: Readable.from([]), stdout: stream('stdout'), stderr: stream('stderr') };
    const nothing = { dispose: () => {} };
    const interrupt = { ...nothing, signal, exit: undefined, onHangup: () => nothing, onSignal: () => nothing };
    const entry = built('cli.mjs'); // what it starts are the built programs
    const exit = await runProgram(args, { entry, env: this.#environment(env), cwd, stdio, interrupt });
    return { ...printed, exit };
  }

  async #runProcess(args: readonly string[], options: RunOptions): Promise<Finished> {
    const child = this.#spawn(args, options);
    options.signal?.addEventListener('abort', () => child.kill('SIGINT'), { once: true });
    const printed = { exit: null as number | null, stdout: '', stderr: '' };
    const deadline = setTimeout(() => child.kill('SIGKILL'), DEADLINE_MS);
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (text: string) => {
        printed[stream] += text;
        options.onOutput?.(printed, (signal = 'SIGINT') => child.kill(signal));
      });
    }
    await once(child, 'close');
    clearTimeout(deadline);
    return { ...printed, exit: child.exitCode };
  }

  /** Starts `farwharf serve` on a free port, in this process if that makes no difference, and waits until it listens. */
  async serve(flags: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<Service> {
    if (needsProcess({ env }, this.#options)) return this.serveAsProcess(flags, env);
    const { args, data } = this.#serviceArguments(flags);
    const stopping = new AbortController();
    const listening = Promise.withResolvers<string>();
    const ended = this.#runHere(args, { env, signal: stopping.signal }, ({ stdout }) => {
      if (stdout.includes('\n')) listening.resolve(stdout);
    });
    const stdout = await Promise.race([listening.promise, ended.then(({ stderr }) => stderr)]);
    return this.#started(stdout, data, async () => {
      stopping.abort();
      return (await ended).exit;
    });
  }

  /** As `serve`, in a process of its own, whose id the service has: for signals, and for what a process prints as a service. */
  async serveAsProcess(
    flags: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Promise<SignalledService> {
    const { args, data } = this.#serviceArguments(flags);
    const child = this.#spawn(args, { env });
    let log = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (log = (log + text).slice(-LOG_LENGTH)));
    let isStopped = false;
    child.once('exit', (code, signal) => {
      if (!isStopped)
        process.stderr.write(`The service ended by itself (${code ?? signal}). The end of its log:\n${log}\n`);
    });
    let stdout = '';
    for await (const text of child.stdout.setEncoding('utf8') as AsyncIterable<string>) {
      stdout += text;
      if (stdout.includes('\n')) break;
    }
    const service = this.#started(stdout, data, async () => {
      isStopped = true;
      if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit');
      return child.exitCode;
    });
    return { ...service, pid: child.pid ?? 0 };
  }

  #serviceArguments(flags: readonly string[]): { readonly args: readonly string[]; readonly data: string } {
    const data = join(this.root, `service-${this.#services.length}`);
    return { args: ['serve', '--port', '0', '--data', data, '--json', ...flags], data };
  }

  #started(stdout: string, data: string, stop: Service['stop']): Service {
    const { url, key } = JSON.parse(stdout) as { url?: string; key: string };
    if (url === undefined) throw new Error(`\`farwharf serve\` did not start: ${stdout}`);
    const service = { url, key, data, env: { FARWHARF_REMOTE_HOST: url, FARWHARF_API_KEY: key }, stop };
    this.#services.push(service);
    return service;
  }

  /** Flags for `serve` with more than one account: their jobs run on machines with and without bubblewrap. */
  async unisolated(): Promise<readonly string[]> {
    const path = join(this.root, 'unisolated.toml');
    await writeFile(path, '[process]\nisolation = "none"\n');
    return ['--config', path];
  }

  /** Ends every service, the embedded one too, and removes all files. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const service of this.#services) await service.stop();
    await this.stopEmbedded();
    await rm(this.root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  /** Ends the service that the commands with this FARWHARF_HOME started, if there is one. */
  async stopEmbedded(home = this.home): Promise<void> {
    const stateFile = join(home, 'service', 'state.json');
    const state = readStateFile(stateFile);
    if (state === undefined) return;
    process.kill(state.pid, 'SIGTERM');
    await until(() => readStateFile(stateFile) === undefined);
  }

  #spawn(args: readonly string[], { env = {}, cwd = this.root, main = built('cli.mjs'), user }: RunOptions) {
    const { command } = this.#options;
    return spawn(command ?? process.execPath, command === undefined ? [main, ...args] : args, {
      cwd,
      env: this.#environment(env),
      stdio: ['ignore', 'pipe', 'pipe'],
      ...user,
    });
  }

  #environment(env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
    const inherited = Object.entries(process.env).filter(([name]) => !/^(FARWHARF_|NODE_TEST|NODE_OPTIONS)/.test(name));
    const own = this.#options.isNewUser === true ? { HOME: join(this.root, 'user') } : { FARWHARF_HOME: this.home };
    return { ...Object.fromEntries(inherited), ...own, ...env };
  }
}

export interface Service {
  readonly url: string;
  readonly key: string;
  readonly data: string;
  /** What makes the command use this service. */
  readonly env: Readonly<Record<string, string>>;
  /** Stops it as SIGTERM does; gives the exit status. */
  stop(): Promise<number | null>;
}

/** A service in a process of its own, which can be sent signals. */
export interface SignalledService extends Service {
  readonly pid: number;
}

/** A service that answers as one test wants it. */
export async function startFake(
  answer: RequestListener,
): Promise<AsyncDisposable & { readonly env: Readonly<Record<string, string>> }> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    env: { FARWHARF_REMOTE_HOST: `http://127.0.0.1:${port}`, FARWHARF_API_KEY: 'the-key-of-the-fake' },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The JSON lines of an output. */
export function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Waits for something that happens, on a busy machine much later than on a quiet one. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + DEADLINE_MS; !(await isTrue()); await sleep(20)) {
    if (performance.now() > deadline) throw new Error(`It did not happen within ${DEADLINE_MS / 1000} s.`);
  }
}
