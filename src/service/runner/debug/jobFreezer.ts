import { readFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathInside } from '../../../core/files/pathInside.ts';
import { tryParseJson } from '../../../core/jsonFields.ts';
import { printableLine } from '../../../core/text/printable.ts';
import { type FrozenPlace, frozenPlace } from '../../../remote/protocol/debugging.ts';
import { readLine } from '../../../remote/tunnel/tunnelProtocol.ts';
import { parseHoldOrder } from '../../jobFiles/holdOrder.ts';
import type { FreezeFrame } from '../../jobFiles/jobFolder.ts';
import { RUNNER_SOCKET } from './debugSockets.ts';
import { findProcess, JobStop, type StoppableJob } from './jobStop.ts';
import { limitSockets } from './limitSockets.ts';

const TICK_MS = 200;
const MAX_LEAD_MS = 2_000;
const ASK_POLL_MS = 20;
// Of a core. A frozen job that uses more computes, and is charged for that as if it ran.
const IDLE_CORES = 0.1;
// Thousands of processes can fail at once. Those that come too late end as without a debugger.
const MAX_WAITING = 64;

/** How long a job was frozen, in milliseconds. */
export interface FrozenTimes {
  readonly frozenMs: number;
  /** The part in which it computed nothing. */
  readonly idleMs: number;
}

export interface FreezerOptions {
  /** Where the runner sees the folder that the processes of the job report to. */
  readonly folder: string;
  /** The job's own folder, as the job sees it. */
  readonly workspace: string;
  readonly holdMs: number;
  /** The file with the service's last order, and its seal. */
  readonly order: { readonly path: string; readonly secret: string | undefined };
  /** Whether it is also frozen just before its time limit. */
  readonly isAtLimit: boolean;
  /** Hears of each change. */
  readonly report: (frame: FreezeFrame['freeze']) => void;
}

/** A process that waits, and what it said. */
interface Waiting {
  readonly connection: Socket;
  readonly place: FrozenPlace;
}

/**
 * Freezes a job where one of its processes fails: that process waits, all others are stopped, and the clock of its time limit stands.
 * It continues when the hold time is over, the process or its debugger lets it, or the service says so. What a process says is shown and
 * nothing else: it can neither lengthen the hold time nor stop the clock for it.
 */
export class JobFreezer implements AsyncDisposable {
  readonly #options: FreezerOptions;
  readonly #server: Server;
  readonly #ended = new AbortController();
  #job: StoppableJob | undefined;
  #holdMs: number;
  #isOver = false;
  /** When the current freeze began, and until when it was metered. */
  #frozenSince: number | undefined;
  #meteredUntil = 0;
  #frozenMs = 0;
  #idleMs = 0;
  #waiting: Waiting[] = [];
  #connections = new Set<Socket>();
  #freezing: Promise<void> | undefined;

  /** @throws the system's error if the folder cannot have a socket. */
  static async open(options: FreezerOptions): Promise<JobFreezer> {
    const freezer = new JobFreezer(options);
    await new Promise<void>((resolve, reject) => {
      freezer.#server.once('error', reject).listen(`${options.folder}/${RUNNER_SOCKET}`, resolve);
    });
    freezer.#server.on('error', () => {}); // a connection that could not be accepted
    return freezer;
  }

  private constructor(options: FreezerOptions) {
    this.#options = options;
    this.#holdMs = options.holdMs;
    this.#server = createServer((connection) => void this.#admit(connection));
    this.#server.unref();
  }

  /** Begins once the job's first process has started. */
  start(job: StoppableJob): void {
    this.#job = job;
    this.#next();
  }

  get times(): FrozenTimes {
    if (this.#frozenSince === undefined) return { frozenMs: this.#frozenMs, idleMs: this.#idleMs };
    const now = performance.now();
    return { frozenMs: this.#frozenMs + now - this.#frozenSince, idleMs: this.#idleMs + now - this.#meteredUntil };
  }

  /** Waits while the job is frozen. */
  async untilThawed(): Promise<void> {
    while (this.#freezing !== undefined) await this.#freezing;
  }

  /** How long before its time limit the job is to be asked to wait, in milliseconds. */
  leadMs(limitMs: number): number {
    return this.#options.isAtLimit ? Math.min(MAX_LEAD_MS, limitMs / 10) : 0;
  }

  /**
   * Asks the processes of the job to wait where they are, the first rank first, until one does or the time is over.
   *
   * @returns whether the job was frozen. It has continued then.
   */
  async waitAtLimit(withinMs: number): Promise<boolean> {
    const deadline = performance.now() + withinMs;
    const paths = this.#job === undefined ? [] : limitSockets(this.#options.folder, this.#job);
    for (const [index, path] of paths.entries()) {
      const asked = connect(path).on('error', () => {}); // the process has ended
      const left = deadline - performance.now();
      // One that waits in a library has no next line.
      const turn = performance.now() + left / (paths.length - index);
      while (this.#freezing === undefined && performance.now() < turn) await sleep(ASK_POLL_MS);
      asked.destroy();
      if (this.#freezing === undefined) continue;
      await this.untilThawed();
      return true;
    }
    return false;
  }

  /** Lets the job continue. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    this.#server.close();
    await this.untilThawed();
    for (const connection of this.#connections) connection.destroy();
  }

  async #admit(connection: Socket): Promise<void> {
    connection.unref();
    connection.on('error', () => connection.destroy());
    if (this.#connections.size >= MAX_WAITING || this.#isOver || this.#ended.signal.aborted) {
      connection.destroy();
      return;
    }
    this.#connections.add(connection);
    connection.once('close', () => this.#connections.delete(connection));
    const line = await readLine(connection).catch(() => undefined);
    const place = line === undefined ? undefined : this.#placeOf(line);
    if (place === undefined || this.#isOver) {
      connection.destroy();
      return;
    }
    connection.resume(); // so that its end is noticed
    this.#waiting.push({ connection, place });
    this.#next();
  }

  #placeOf(line: string): FrozenPlace | undefined {
    const { data } = frozenPlace.safeParse(cleaned(tryParseJson(line)));
    if (data === undefined) return undefined;
    const { workspace } = this.#options;
    const inside = data.file === '' ? undefined : pathInside(workspace, data.file);
    return { ...data, file: inside ?? data.file };
  }

  #next(): void {
    const job = this.#job;
    if (job === undefined || this.#freezing !== undefined) return;
    this.#waiting = this.#waiting.filter(({ connection }) => !connection.destroyed);
    this.#readOrder();
    const left = this.#holdMs - this.times.frozenMs;
    if (this.#isOver || left <= 0 || this.#ended.signal.aborted) {
      for (const { connection } of this.#waiting) connection.destroy();
      return;
    }
    const first = this.#waiting.shift();
    if (first === undefined) return;
    const pid = findProcess(job, first.place.process);
    if (pid === undefined) {
      first.connection.destroy();
      this.#next();
      return;
    }
    this.#freezing = this.#freeze(first, new JobStop(job, pid)).finally(() => {
      this.#freezing = undefined;
      this.#next();
    });
  }

  async #freeze({ connection, place }: Waiting, stop: JobStop): Promise<void> {
    const { signal } = this.#ended;
    const since = Date.now();
    const before = this.#frozenMs;
    const started = performance.now();
    this.#frozenSince = this.#meteredUntil = started;
    let cpuSeconds = stop.apply();
    let until: number | undefined;
    try {
      for (;;) {
        this.#readOrder();
        const left = this.#holdMs - before - (performance.now() - started);
        if (left <= 0 || this.#isOver || connection.destroyed || signal.aborted) break;
        const end = Math.round(since + this.#holdMs - before);
        if (end !== until) {
          until = end;
          this.#options.report({ at: Date.now(), frozen: { ...place, since, until } });
        }
        await sleep(Math.min(left, TICK_MS), undefined, { signal }).catch(() => {});
        cpuSeconds = this.#meter(cpuSeconds, stop.apply());
      }
    } finally {
      if (place.reason === 'failure') this.#isOver = true;
      stop[Symbol.dispose]();
      this.#frozenMs += performance.now() - started;
      this.#frozenSince = undefined;
      connection.destroy();
      this.#options.report({ at: Date.now(), frozen: null });
    }
  }

  #meter(before: number, cpuSeconds: number): number {
    const now = performance.now();
    const passedMs = now - this.#meteredUntil;
    // Processes that have ended take their times with them.
    const cores = (1000 * Math.max(0, cpuSeconds - before)) / passedMs;
    if (cores <= IDLE_CORES) this.#idleMs += passedMs;
    this.#meteredUntil = now;
    return cpuSeconds;
  }

  #readOrder(): void {
    const { path, secret } = this.#options.order;
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch {
      return; // there is none
    }
    const order = parseHoldOrder(text, secret);
    if (order === undefined) return;
    this.#holdMs = Math.max(this.#holdMs, 1000 * order.hold);
    if (order.isOver) this.#isOver = true;
  }
}

/** Texts of a job without what only controls a terminal. */
function cleaned(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, typeof field === 'string' ? printableLine(field) : field]),
  );
}
