import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as vscode from 'vscode';
import * as l10n from '@vscode/l10n';
import { AppError, messageOf } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { Emitter, untilAborted, untilTrue } from '../../core/processes/lifetime.ts';
import { isOver, type JobRecord } from '../../jobs/ledger/record.ts';
import type { LocalAddress } from '../../jobs/ports/localAddresses.ts';
import { isPageServer } from '../../jobs/ports/portText.ts';
import { shownScript } from '../../jobs/selection/script.ts';
import { type ForwardedPort, forwardPort } from '../../remote/tunnel/forwardPort.ts';
import type { JobTunnelClient } from '../../remote/tunnel/jobTunnelClient.ts';
import type { JobPort } from '../../remote/tunnel/portChannels.ts';
import type { JobStore } from '../jobs/store/jobStore.ts';
import type { JobTunnels } from './jobTunnels.ts';

const KEY = 'forwardedPorts';
const START_PAGE: PortPage = { scheme: 'http', rest: '/' };
// Each holds a connection to its service, and a process in the job.
const MOST_WATCHED = 8;
// What is offered of one job: a job that opens ports without end fills no status bar.
const MOST_OFFERED = 5;
const MOST_PRINTED = 100;
// Servers restart, and a lost connection was tried for a minute before.
const RETRY_DELAYS_MS = [2_000, 10_000, 60_000];

/** A port of a running job that this window offers, or has forwarded. */
export interface OfferedPort {
  readonly record: JobRecord;
  readonly port: JobPort;
  /** The page there, as far as the job has printed its address. */
  readonly page: PortPage;
  /** Its number on this machine; undefined if it is not forwarded. */
  readonly localPort: number | undefined;
}

/** A page of a port. */
export type PortPage = Pick<LocalAddress, 'scheme' | 'rest'>;

/** What is kept over a reload of the window. */
interface KeptForward {
  readonly id: string;
  readonly port: number;
}

interface JobPortsDeps {
  readonly log: Pick<Logger, 'warn'>;
  readonly memory: vscode.Memento;
  readonly store: Pick<JobStore, 'get' | 'onDidChange'>;
  readonly tunnels: Pick<JobTunnels, 'use'>;
  /** Whether ports are offered that nobody asked for. */
  readonly isOffering: () => boolean;
  /** Called when the job has closed a port that was forwarded. */
  readonly onClosed: (record: JobRecord, port: JobPort) => void;
  readonly retryDelaysMs?: readonly number[];
}

/** A job whose ports are watched. */
interface Watched {
  readonly record: JobRecord;
  readonly ending: AbortController;
  /** Resolves with the first reading of its ports. */
  connected: PromiseWithResolvers<void>;
  /** The last address of each port that the job has printed; a URL says more than an address without a scheme. */
  readonly printed: Map<number, PortPage & Pick<LocalAddress, 'isUrl'>>;
  readonly forwards: Map<number, Forward>;
  ports: readonly JobPort[];
  /** Undefined while the connection is lost. */
  client: JobTunnelClient | undefined;
}

interface Forward {
  readonly opened: Promise<ForwardedPort>;
  localPort: number | undefined;
}

/**
 * What running jobs listen on, as far as this window has a reason to know: the job printed an address of its own machine into the log that is
 * shown, or the user forwarded a port. Another job costs nothing. Watching ends with the job.
 */
export class JobPorts {
  readonly #deps: JobPortsDeps;
  readonly #watched = new Map<string, Watched>();
  /** Jobs that could not be connected to, which are not watched again unless the user asks. */
  readonly #lost = new Set<string>();
  readonly #changed = new Emitter<void>();
  readonly onDidChange = this.#changed.event;

  constructor(deps: JobPortsDeps) {
    this.#deps = deps;
  }

  /** What is worth showing: pages of watched jobs while that is wanted, and all that is forwarded. */
  get offered(): readonly OfferedPort[] {
    const isOffering = this.#deps.isOffering();
    return [...this.#watched.values()].flatMap(({ record, ports, printed, forwards }) => {
      // One for a program that is known; others, such as Ray's, listen on ports that are no pages.
      const mainPort = (process: string | undefined): JobPort | undefined => {
        const own = ports.filter((port) => port.process === process);
        return own.find((port) => printed.has(port.port)) ?? own[0];
      };
      const isPage = (port: JobPort): boolean =>
        printed.get(port.port)?.isUrl === true || (isPageServer(port) && mainPort(port.process) === port);
      const offered = new Set(isOffering ? ports.filter(isPage).slice(0, MOST_OFFERED) : []);
      return ports
        .filter((port) => offered.has(port) || forwards.has(port.port))
        .map((port) => this.describe(record, port));
    });
  }

  /** What is known of a port on which a job listens. */
  describe(record: JobRecord, port: JobPort): OfferedPort {
    const watched = this.#watched.get(record.id);
    const page = watched?.printed.get(port.port) ?? START_PAGE;
    return { record, port, page, localPort: watched?.forwards.get(port.port)?.localPort };
  }

  /** Watches the ports of a job that has printed an address of its own machine, and offers those that are open. */
  addPrinted(id: string, { port, ...page }: Omit<LocalAddress, 'start' | 'end'>): void {
    const record = this.#deps.store.get(id);
    if (!this.#deps.isOffering() || record === undefined || isOver(record) || this.#lost.has(id)) return;
    const known = this.#watched.get(id);
    if (known === undefined && this.#watched.size >= MOST_WATCHED) return;
    const { printed } = known ?? this.#watch(record);
    if (printed.size >= MOST_PRINTED && !printed.has(port)) return;
    if (page.isUrl || printed.get(port)?.isUrl !== true) printed.set(port, page);
    this.#changed.fire();
  }

  /** Offers the ports again that were forwarded when the window was reloaded. Call it once the list of jobs has been read. */
  offerAgain(): void {
    for (const { id, port } of this.#deps.memory.get<readonly KeptForward[]>(KEY) ?? [])
      this.addPrinted(id, { port, isUrl: true, ...START_PAGE });
  }

  /**
   * Forwards a port to this machine until the job closes it, or ends, or the window does, or `stop`.
   *
   * @returns the number here, on 127.0.0.1.
   * @throws AppError `missing` if the job does not listen there; as `JobTunnels.use`, and why the tunnel ended.
   */
  async forward(record: JobRecord, port: number, signal: AbortSignal): Promise<number> {
    const watched = this.#watched.get(record.id) ?? this.#watch(record);
    try {
      await Promise.race([watched.connected.promise, untilAborted(signal)]);
      signal.throwIfAborted();
      if (!watched.forwards.has(port)) await requireOpen(watched, port, signal);
      const forward = watched.forwards.get(port) ?? this.#open(watched, port);
      forward.localPort = (await forward.opened).localPort;
      this.#keep();
      this.#changed.fire();
      return forward.localPort;
    } finally {
      this.#endIfUnused(watched);
    }
  }

  /** Ends a forward, if there is one. */
  stop(record: JobRecord, port: number): void {
    const watched = this.#watched.get(record.id);
    if (watched === undefined) return;
    this.#close(watched, port);
    this.#endIfUnused(watched);
    this.#keep();
    this.#changed.fire();
  }

  /** Reports `offered` again, after what is wanted has changed. */
  update(): void {
    this.#changed.fire();
  }

  /** Ends what belongs to a job that has ended. */
  end({ id }: JobRecord): void {
    const watched = this.#watched.get(id);
    if (watched === undefined) return;
    this.#forget(watched);
    this.#keep();
    this.#changed.fire();
  }

  dispose(): void {
    for (const watched of this.#watched.values()) this.#forget(watched);
    this.#changed.dispose();
  }

  #watch(record: JobRecord): Watched {
    const watched: Watched = {
      record,
      ending: new AbortController(),
      connected: connecting(),
      printed: new Map(),
      forwards: new Map(),
      ports: [],
      client: undefined,
    };
    this.#watched.set(record.id, watched);
    void this.#keepWatching(watched).finally(() => {
      this.#forget(watched);
      this.#changed.fire();
    });
    return watched;
  }

  /** Resolves when the job has ended, or is out of reach. */
  async #keepWatching(watched: Watched): Promise<void> {
    const { log, store, tunnels, retryDelaysMs = RETRY_DELAYS_MS } = this.#deps;
    const { record } = watched;
    const { signal } = watched.ending;
    // Its log may be ahead of the list.
    const isReady = (): boolean => {
      const current = store.get(record.id);
      return current === undefined || current.state === 'running' || isOver(current);
    };
    await untilTrue(store.onDidChange, isReady, signal);
    let failures = 0;
    while (!signal.aborted) {
      try {
        using tunnel = await tunnels.use(record);
        watched.client = tunnel.client;
        for await (const ports of tunnel.client.watchPorts({ signal })) {
          failures = 0;
          watched.connected.resolve();
          this.#update(watched, ports);
        }
      } catch (error) {
        if (signal.aborted) return;
        watched.connected.reject(error);
        watched.connected = connecting();
        log.warn('the ports of a job are not watched', { id: record.id, error });
        if (error instanceof AppError && error.code === 'refused') break;
      }
      watched.client = undefined;
      const current = store.get(record.id);
      if (current === undefined || isOver(current)) return;
      const delay = retryDelaysMs[failures];
      if (delay === undefined) break;
      failures += 1;
      await sleep(delay, undefined, { signal, ref: false }).catch(() => {});
    }
    if (!signal.aborted) this.#lost.add(record.id);
  }

  #update(watched: Watched, ports: readonly JobPort[]): void {
    const before = watched.ports;
    watched.ports = ports;
    for (const port of watched.forwards.keys()) {
      if (ports.some((each) => each.port === port)) continue;
      this.#close(watched, port);
      this.#keep();
      const known = before.find((each) => each.port === port);
      if (known !== undefined) this.#deps.onClosed(watched.record, known);
    }
    this.#changed.fire();
  }

  #open(watched: Watched, port: number): Forward {
    const { log } = this.#deps;
    const connect = async (to: number, options: { readonly signal: AbortSignal }): Promise<Duplex> => {
      if (watched.client === undefined) throw lostConnection(watched);
      return watched.client.connect(to, options);
    };
    // Browsers try again and again.
    let last: string | undefined;
    const onFailure = (error: unknown): void => {
      if (messageOf(error) !== last) log.warn('a connection to a forwarded port failed', { port, error });
      last = messageOf(error);
    };
    const forward: Forward = { opened: forwardPort({ connect }, port, { onFailure }), localPort: undefined };
    watched.forwards.set(port, forward);
    forward.opened.catch(() => {
      if (watched.forwards.get(port) === forward) watched.forwards.delete(port);
    });
    return forward;
  }

  #close(watched: Watched, port: number): void {
    const forward = watched.forwards.get(port);
    watched.forwards.delete(port);
    forward?.opened.then(
      (forwarded) => forwarded[Symbol.asyncDispose](),
      () => {}, // who asked for it got the error
    );
  }

  #keep(): void {
    const open = [...this.#watched].flatMap(([id, { forwards }]) => [...forwards.keys()].map((port) => ({ id, port })));
    void this.#deps.memory.update(KEY, open);
  }

  #endIfUnused(watched: Watched): void {
    if (watched.printed.size === 0 && watched.forwards.size === 0) this.#forget(watched);
  }

  #forget(watched: Watched): void {
    watched.ending.abort();
    watched.connected.reject(lostConnection(watched));
    for (const port of watched.forwards.keys()) this.#close(watched, port);
    if (this.#watched.get(watched.record.id) === watched) this.#watched.delete(watched.record.id);
  }
}

function connecting(): PromiseWithResolvers<void> {
  const connected = Promise.withResolvers<void>();
  connected.promise.catch(() => {}); // nobody may wait for it
  return connected;
}

/** Reads the ports again, since the address in a log is printed before the next reading. @throws AppError `missing`. */
async function requireOpen(watched: Watched, port: number, signal: AbortSignal): Promise<void> {
  if (watched.client === undefined) throw lostConnection(watched);
  watched.ports = await watched.client.ports({ signal });
  if (watched.ports.some((each) => each.port === port)) return;
  const script = shownScript(watched.record.script);
  throw new AppError('missing', l10n.t('{0} does not listen on port {1}.', script, port));
}

function lostConnection({ record }: Watched): AppError {
  return new AppError('unreachable', l10n.t('The connection to {0} was lost.', shownScript(record.script)));
}
