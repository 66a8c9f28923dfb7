import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { StringDecoder } from 'node:string_decoder';
import { AppError, messageOf } from '../../../core/errors.ts';
import { endProcesses } from '../../../core/processes/processTree.ts';
import { flowEnvironment, type VariableSource } from '../protocol/flowEnvironment.ts';
import type { FlowRunRequest, FlowRuntime } from '../protocol/runRequest.ts';
import { type ChildMessage, isChildMessage, type ParentMessage } from '../protocol/runMessage.ts';

const KILL_GRACE_MS = 2_000;
// A process that left the group can keep the pipes open; its later output is not waited for. Counted in polls of the pipes, not in time: on
// a busy machine, a second can pass without one, and what the child said last is then still unread.
const QUIET_POLLS = 50;
const QUIET_POLL_MS = 20;
const RUN_MARK = 'FARWHARF_FLOW_RUN';
// Types are stripped on purpose, and a folder without package.json is not an error.
const NODE_FLAGS = ['--disable-warning=ExperimentalWarning', '--disable-warning=MODULE_TYPELESS_PACKAGE_JSON'];
const MAX_LINE = 64 * 1024;

export interface FlowProcessEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

interface Listener {
  message(message: ChildMessage): void;
  /** Returns a promise while the line is being handled. */
  output(stream: 'stdout' | 'stderr', line: OutputLine): Promise<void> | undefined;
}

interface OutputLine {
  readonly text: string;
  /** Whether the line ends here. */
  readonly isWhole: boolean;
}

/** The child process in which a flow runs: its own process group, with a message channel. */
export class FlowProcess {
  readonly #child: ChildProcess;
  readonly #mark: string;
  readonly #node: string;
  readonly #streams: readonly Promise<void>[];
  /** Counts what was read from the child and handled. */
  #activity = 0;
  #untaken = 0;
  readonly exited: Promise<FlowProcessEnd>;

  constructor(
    { node, runner, starter = [] }: FlowRuntime,
    { cwd, ...source }: Pick<FlowRunRequest, 'cwd' | keyof VariableSource>,
    listener: Listener,
  ) {
    const mark = randomUUID();
    this.#mark = `${RUN_MARK}=${mark}`;
    this.#node = node;
    const command = [...starter, node, ...NODE_FLAGS, runner];
    this.#child = spawn(command[0] ?? node, command.slice(1), {
      cwd,
      env: { ...flowEnvironment(source), [RUN_MARK]: mark },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    this.exited = this.#untilExit();
    this.exited.catch(() => {}); // reported to callers that wait for it
    this.#child.on('message', (message) => {
      this.#activity += 1;
      if (isChildMessage(message)) listener.message(message);
    });
    const closed = new Promise<void>((resolve) => this.#child.once('close', () => resolve()));
    const disconnected = new Promise<void>((resolve) => this.#child.once('disconnect', () => resolve()));
    this.#streams = [this.#read('stdout', listener), this.#read('stderr', listener), closed, disconnected];
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  send(message: ParentMessage): void {
    if (this.#child.connected) this.#child.send(message, () => {}); // the child may exit at any time
  }

  /** Terminates the child, if it still runs, and all its children. */
  async end(): Promise<void> {
    await endProcesses({ group: this.#child.pid, mark: this.#mark }, KILL_GRACE_MS);
  }

  /** Waits until all output and messages of the child were handled. */
  async drained(): Promise<void> {
    const over = new AbortController();
    void Promise.all(this.#streams).then(() => over.abort());
    for (let quietPolls = 0; !over.signal.aborted && quietPolls < QUIET_POLLS; ) {
      const before = this.#activity;
      await sleep(QUIET_POLL_MS, undefined, { signal: over.signal }).catch(() => {});
      quietPolls = this.#untaken > 0 || this.#activity !== before ? 0 : quietPolls + 1;
    }
  }

  close(): void {
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    if (this.#child.connected) this.#child.disconnect();
  }

  #untilExit(): Promise<FlowProcessEnd> {
    return new Promise((resolve, reject) => {
      this.#child.once('exit', (code, signal) => resolve({ code, signal }));
      this.#child.on('error', (cause) => {
        const message = `Node could not be started as ${this.#node}: ${messageOf(cause)}`;
        reject(new AppError('missing', message, { cause }));
      });
    });
  }

  /** Stops reading while a line is being handled, so that a child that prints forever costs no memory. */
  async #read(stream: 'stdout' | 'stderr', listener: Listener): Promise<void> {
    const lines = new OutputLines();
    // Not async: awaiting each line would cost more than everything else.
    const take = (line: OutputLine): Promise<void> | undefined => {
      const done = listener.output(stream, line);
      if (done === undefined) return undefined;
      this.#untaken += 1;
      return done.finally(() => {
        this.#untaken -= 1;
        this.#activity += 1;
      });
    };
    const source: AsyncIterable<Buffer> | null = this.#child[stream];
    if (source === null) return;
    try {
      for await (const bytes of source) {
        this.#activity += 1;
        for (const line of lines.push(bytes)) {
          const done = take(line);
          if (done !== undefined) await done;
        }
      }
    } catch {
      // The pipe was closed by this process.
    }
    for (const line of lines.end()) await take(line);
  }
}

/** Splits a stream of bytes into lines; a line longer than 64 K characters is split into pieces. */
class OutputLines {
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';

  push(bytes: Buffer): readonly OutputLine[] {
    return this.#cut(this.#decoder.write(bytes));
  }

  /** The text after the last line feed. */
  end(): readonly OutputLine[] {
    const lines = this.#cut(this.#decoder.end());
    const rest = this.#rest;
    this.#rest = '';
    return rest === '' ? lines : [...lines, { text: rest, isWhole: true }];
  }

  #cut(text: string): readonly OutputLine[] {
    const parts = (this.#rest + text).split('\n');
    this.#rest = parts.pop() ?? '';
    const lines = parts.map((line) => ({ text: line.replace(/\r$/, ''), isWhole: true }));
    if (this.#rest.length < MAX_LINE) return lines;
    const piece = this.#rest;
    this.#rest = '';
    return [...lines, { text: piece, isWhole: false }];
  }
}
