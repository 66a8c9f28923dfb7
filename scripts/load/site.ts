import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LoadClient } from './client.ts';

const DEFAULT_CREDITS = 1_000_000;

export interface SiteOptions {
  readonly name: string;
  /** Where everything of the site lies. */
  readonly folder: string;
  /** The command line tool that has `serve`. */
  readonly program: string;
  /** The service's configuration, as JSON. */
  readonly config: object;
  /** Where its store lies, and the files of jobs unless the configuration says otherwise; by default in `folder`. */
  readonly data?: string;
  /** Where the files of jobs lie, when not in `data`. */
  readonly files?: string;
  /** The initial credits of the account; by default more than any load spends. */
  readonly credits?: number;
  readonly env?: NodeJS.ProcessEnv;
}

/** A service that load is put on, however its clients reach it. */
export interface LoadedSite {
  readonly name: string;
  /** The folder of the store. */
  readonly data: string;
  /** The folder that the jobs' files are in. */
  readonly files: string;
  /** A client of the service that listens now, or of the next one. */
  client(signal: AbortSignal): Promise<LoadClient>;
  /** Ends the service. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/** A service that dies and is started again, always with the same data. */
export class Site implements LoadedSite {
  readonly name: string;
  readonly data: string;
  /** The folder that the jobs' files are in. */
  readonly files: string;
  readonly #options: SiteOptions;
  readonly key = randomBytes(24).toString('base64url');
  #child: ChildProcess | undefined;
  #client = Promise.withResolvers<LoadClient>();
  #isListening = false;

  constructor(options: SiteOptions) {
    this.#options = options;
    this.name = options.name;
    this.data = options.data ?? join(options.folder, 'data');
    this.files = options.files ?? this.data;
    mkdirSync(options.folder, { recursive: true });
    writeFileSync(join(options.folder, 'service.json'), JSON.stringify(options.config));
  }

  /** What the service, in all its lives, wrote to standard error. */
  get log(): string {
    return readFileSync(this.#logPath, 'utf8');
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts the service, and does not wait until it listens. */
  start(): void {
    const { folder, program, env, credits = DEFAULT_CREDITS } = this.#options;
    const log = openSync(this.#logPath, 'a');
    const config = join(folder, 'service.json');
    const flags = ['--port', '0', '--data', this.data, '--config', config, '--credits', String(credits), '--json'];
    const child = spawn(process.execPath, [program, 'serve', ...flags], {
      env: { ...process.env, ...env, FARWHARF_API_KEY: this.key, FARWHARF_HOME: folder, NODE_NO_WARNINGS: '1' },
      stdio: ['ignore', 'pipe', log],
    });
    closeSync(log);
    this.#child = child;
    child.stdout?.setEncoding('utf8').once('data', (line: string) => {
      const { url } = JSON.parse(line) as { url: string };
      if (this.#child !== child) return;
      this.#isListening = true;
      this.#client.resolve(new LoadClient(url, this.key));
    });
  }

  /** A client of the service that listens now, or of the next one. */
  client(signal: AbortSignal): Promise<LoadClient> {
    signal.throwIfAborted();
    const { promise, reject } = Promise.withResolvers<never>();
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    return Promise.race([this.#client.promise, promise]).finally(() => signal.removeEventListener('abort', onAbort));
  }

  /**
   * Ends the service.
   *
   * @throws Error when it had ended by itself.
   */
  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    // A caller that waits for one that never listened waits for the next.
    if (this.#isListening) this.#client = Promise.withResolvers();
    this.#isListening = false;
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(
        `The service of ${this.name} ended by itself (${child.exitCode ?? child.signalCode}).\n${this.log.slice(-2_000)}`,
      );
    }
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  get #logPath(): string {
    return join(this.#options.folder, 'service.log');
  }
}
