import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** A process whose whole lines are what it acknowledges. */
export class KilledProcess {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  #printed = '';
  #errors = '';

  constructor(command: string, argv: readonly string[], env: NodeJS.ProcessEnv = process.env) {
    this.#child = spawn(command, argv, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.#printed += text));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.#errors += text));
    this.#closed = once(this.#child, 'close');
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** A line that has no end was not acknowledged. */
  get lines(): readonly string[] {
    return this.#printed.split('\n').slice(0, -1);
  }

  get errors(): string {
    return this.#errors;
  }

  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  get isKilled(): boolean {
    return this.#child.signalCode === 'SIGKILL';
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Resolves when so many lines are there, or the process has ended. */
  async untilLines(count: number): Promise<void> {
    while (this.lines.length < count && !this.hasEnded)
      await Promise.race([once(this.#child.stdout ?? this.#child, 'data'), this.#closed]);
  }

  /** Resolves when it has ended and all that it printed was read. */
  async closed(): Promise<void> {
    await this.#closed;
  }

  /** Kills it and what it started. */
  async kill(): Promise<void> {
    if (!this.hasEnded) process.kill(-this.pid, 'SIGKILL');
    await this.#closed;
  }
}
