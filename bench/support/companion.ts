import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface, type Interface } from 'node:readline';

const COMMAND_FLAGS = ['--import', join(import.meta.dirname, 'commandHeap.mjs')];
// Ticks of the kernel's accounting in a second: 100 on every Linux that Node runs on.
const TICKS = 100;

/** A script, beside this file unless its path is whole, as a process of its own, which prints JSON lines and ends when its input does. Linux only. */
export class Companion implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  constructor(script: string, ...argv: readonly (string | number)[]) {
    const path = resolve(import.meta.dirname, script);
    this.#child = spawn(process.execPath, [...COMMAND_FLAGS, path, ...argv.map(String)], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, NODE_NO_WARNINGS: '1' },
    });
    const { stdout } = this.#child;
    if (stdout === null) throw new Error('A companion has an output.');
    const lines: Interface = createInterface(stdout);
    this.#lines = lines[Symbol.asyncIterator]();
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** The next line that it prints. */
  async next<T>(): Promise<T> {
    const line = await this.#lines.next();
    if (line.done === true) throw new Error(`${this.#child.spawnargs.slice(2).join(' ')} ended.`);
    return JSON.parse(line.value) as T;
  }

  /** Sends it a JSON line, and returns the line that it prints in response. */
  async ask<T>(question: unknown): Promise<T> {
    this.#child.stdin?.write(`${JSON.stringify(question)}\n`);
    return this.next<T>();
  }

  /** Closes its input, and returns the line that it prints then. */
  async finish<T>(): Promise<T> {
    this.#child.stdin?.end();
    return this.next<T>();
  }

  /** Seconds of processor time until now, its own and the kernel's for it. */
  get cpuSeconds(): number {
    const fields = readFileSync(`/proc/${this.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / TICKS;
  }

  /** Megabytes of memory, the highest until now. */
  get peakMegabytes(): number {
    return (Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))?.[1]) * 1024) / 1e6;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await exited;
  }
}

/** Calls back when the process that started this one closes its input. */
export function onInputEnd(call: () => void): void {
  process.stdin.resume();
  process.stdin.once('end', call);
}

/** Prints one JSON line. */
export function printLine(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
