import type { Duplex, Readable, Writable } from 'node:stream';
import { AppError } from '../../core/errors.ts';
import { Multiplexer } from '../../core/network/multiplexer.ts';
import type { Emitter } from '../../core/processes/lifetime.ts';
import { printableLine } from '../../core/text/printable.ts';
import {
  type JobBytes,
  type JobFileRead,
  requestArchive,
  requestConnection,
  requestEntries,
  requestFile,
  requestPorts,
  requestWrite,
  type TunnelChannels,
} from './channelRequests.ts';
import { type DebugEvent, type DebugHeader, parseDebugEvent } from './debugChannels.ts';
import type { JobArchiveEnd, JobFile } from './fileChannels.ts';
import type { JobPort } from './portChannels.ts';
import {
  type CommandRequest,
  type CommandSignal,
  type ExecHeader,
  parseEvent,
  readLine,
  type TerminalSize,
  TUNNEL_CHANNELS,
  writeLine,
} from './tunnelProtocol.ts';

const MAX_REASON = 200;
const MOST_LISTED = 10_000;
const MAX_SENTENCE = 1_000;

/** How a command in a job ended. */
export interface CommandEnd {
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  /** Why it was not run at all; `code` is then what shells exit with. */
  readonly failure?: string;
}

/** A command that runs in a job. Its streams are to be read and ended by the caller. */
export interface RunningCommand {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Undefined with a terminal. */
  readonly stderr: Readable | undefined;
  signal(name: CommandSignal): void;
  resize(size: TerminalSize): void;
  /** @throws why the tunnel ended before it. */
  readonly ended: Promise<CommandEnd>;
}

interface RequestSignal {
  readonly signal?: AbortSignal | undefined;
}

/** `lost`: the line is down, and is opened again. `resumed`: it is up, and nothing is missing. */
export type ConnectionChange = 'lost' | 'resumed';

/** What carries a tunnel: a stream that continues after a cut. */
export interface TunnelConnection {
  readonly stream: Duplex;
  /** Resolves to the reason of its end. */
  readonly closed: Promise<Error>;
  readonly onDidChange: Emitter<ConnectionChange>['event'];
  /** Ends it on both sides. */
  end(): void;
}

/** A tunnel into a running job. */
export class JobTunnelClient implements Disposable {
  readonly #connection: TunnelConnection;
  readonly #channels: Multiplexer;
  readonly #opener: TunnelChannels = {
    open: () => this.#channels.open(),
    openStream: () => this.#openStream(),
    lost: () => (this.#channels.isClosed ? this.#connection.closed : undefined),
  };
  #streams = 0;

  /** Reports that the connection was lost, and that it continues where it was. */
  readonly onDidChangeConnection: TunnelConnection['onDidChange'];

  constructor(connection: TunnelConnection) {
    this.onDidChangeConnection = connection.onDidChange;
    this.#connection = connection;
    this.#channels = new Multiplexer(connection.stream, connection.stream, TUNNEL_CHANNELS);
  }

  /** Runs a command in the job's folder, with its variables. @throws Error `ECONNRESET` if the tunnel has ended. */
  exec(command: ExecHeader['command'], terminal?: ExecHeader['terminal']): RunningCommand {
    const [stdin, stdout] = [this.#openStream(), this.#openStream()];
    const stderr = terminal === undefined ? this.#openStream() : undefined;
    const control = this.#channels.open();
    const streams = { stdin: stdin.id, stdout: stdout.id, ...(stderr && { stderr: stderr.id }) };
    control.write(writeLine({ type: 'exec', command, ...streams, ...(terminal && { terminal }) }));
    const ask = (request: CommandRequest): void => {
      if (control.writable) control.write(writeLine(request));
    };
    stdout.channel.end();
    stderr?.channel.end();
    stdin.channel.resume();
    const ended = this.#endOf(control).then(
      (end) => {
        stdin.channel.destroy();
        return end;
      },
      (error: unknown) => {
        for (const stream of [stdin, stdout, stderr]) stream?.channel.destroy();
        throw error;
      },
    );
    ended.catch(() => {}); // it may fail before the caller waits for it
    return {
      stdin: stdin.channel,
      stdout: stdout.channel,
      stderr: stderr?.channel,
      signal: (signal) => ask({ type: 'signal', signal }),
      resize: (size) => ask({ type: 'resize', ...size }),
      ended,
    };
  }

  /**
   * The entries of a folder of the job, unordered. Paths are relative to the job's folder, with `/`; empty for that folder itself. They come
   * from the job: names can contain anything but `/` and NUL, but no path leads out of the folder that was asked for.
   *
   * @param options.limit the most entries to list; 10,000 by default.
   * @throws AppError `missing`, `refused` (out of the job's folder), `permission`; why the tunnel ended.
   */
  async list(
    path: string,
    { limit = MOST_LISTED, signal }: RequestSignal & { readonly limit?: number } = {},
  ): Promise<{ readonly entries: readonly JobFile[]; readonly isComplete: boolean }> {
    const entries: JobFile[] = [];
    for await (const some of requestEntries(this.#opener, { type: 'list', path, isDeep: false }, signal)) {
      entries.push(...some);
      if (entries.length > limit) return { entries: entries.slice(0, limit), isComplete: false };
    }
    return { entries, isComplete: true };
  }

  /** The same for all that is in a folder, some at a time, as fast as the caller takes them. */
  walk(path: string, { signal }: RequestSignal = {}): AsyncGenerator<readonly JobFile[], void> {
    return requestEntries(this.#opener, { type: 'list', path, isDeep: true }, signal);
  }

  /** One entry of the job's folder. @throws as `list`. */
  async stat(path: string, { signal }: RequestSignal = {}): Promise<JobFile> {
    for await (const [file] of requestEntries(this.#opener, { type: 'stat', path }, signal)) if (file) return file;
    throw new AppError('missing', `${printableLine(path)} does not exist in the job.`);
  }

  /**
   * Opens a file of the job for reading, from a byte up to another one or the file's end. It is read as it is while the job writes it: as
   * many bytes as it had when it was opened.
   *
   * @throws as `list`.
   */
  read(
    path: string,
    { offset = 0, length, signal }: RequestSignal & { readonly offset?: number; readonly length?: number } = {},
  ): Promise<JobFileRead> {
    return requestFile(this.#opener, { path, offset, length }, signal);
  }

  /** A tar stream of the files in a folder of the job, with paths relative to it. Links and special files are left out. */
  archive(path: string, { signal }: RequestSignal = {}): JobBytes<JobArchiveEnd> {
    return requestArchive(this.#opener, path, signal);
  }

  /**
   * Writes a file of the job: it is replaced at once when all of its bytes have arrived, so that the job never reads a part of it.
   *
   * @returns the file as it is then.
   * @throws as `list`; AppError `no-space`.
   */
  write(path: string, bytes: Uint8Array, { signal }: RequestSignal = {}): Promise<JobFile> {
    return requestWrite(this.#opener, { path, bytes }, signal);
  }

  /** The TCP ports on which the job accepts connections from its own machine. @throws AppError `refused` where they cannot be found. */
  async ports({ signal }: RequestSignal = {}): Promise<readonly JobPort[]> {
    for await (const ports of requestPorts(this.#opener, false, signal)) return ports;
    return [];
  }

  /** The same now, and after each change until the caller leaves the loop. @throws why the tunnel ended. */
  watchPorts({ signal }: RequestSignal = {}): AsyncGenerator<readonly JobPort[], void> {
    return requestPorts(this.#opener, true, signal);
  }

  /**
   * A connection to a port on which the job listens, with half-close. The signal ends the wait for it, and not the connection.
   *
   * @throws AppError `missing` if nothing of the job listens there, `refused`, `limit` if too many are open; why the tunnel ended.
   */
  connect(port: number, { signal }: RequestSignal = {}): Promise<Duplex> {
    return requestConnection(this.#opener, port, signal);
  }

  /** Resolves to the reason when the tunnel has ended. */
  get closed(): Promise<Error> {
    return this.#connection.closed;
  }

  /**
   * The processes of the job to which a debugger can be attached.
   *
   * @throws why the tunnel ended before it answered, AppError `refused` with the job's reason.
   */
  async debugProcesses(): Promise<Extract<DebugEvent, { type: 'processes' }>> {
    const { channel, answer } = await this.#openDebug({ type: 'debug' });
    channel.destroy();
    if (answer.type !== 'processes') throw refusedDebug(answer);
    return answer;
  }

  /**
   * Attaches to a process, by the debug adapter protocol.
   *
   * @throws as `debugProcesses`.
   */
  async debug(process: number): Promise<Duplex> {
    const { channel, answer } = await this.#openDebug({ type: 'debug', process });
    if (answer.type === 'attached') return channel;
    channel.destroy();
    throw refusedDebug(answer);
  }

  async #openDebug(header: DebugHeader): Promise<{ readonly channel: Duplex; readonly answer: DebugEvent }> {
    const channel = this.#channels.open();
    channel.on('error', () => {}); // its end is noticed by those who read it
    channel.write(writeLine(header));
    const line = await readLine(channel).catch(() => undefined);
    const answer = line === undefined ? undefined : parseDebugEvent(line);
    if (answer !== undefined) return { channel, answer };
    channel.destroy();
    if (this.#channels.isClosed) throw await this.#connection.closed;
    throw new AppError('refused', 'The job did not answer the debugger.');
  }

  /** Ends the tunnel, and with it what runs through it. */
  [Symbol.dispose](): void {
    this.#connection.end();
  }

  #openStream(): { readonly id: string; readonly channel: Duplex } {
    this.#streams += 1;
    const id = String(this.#streams);
    const channel = this.#channels.open();
    channel.write(writeLine({ type: 'stream', id }));
    return { id, channel };
  }

  async #endOf(control: Duplex): Promise<CommandEnd> {
    try {
      for (let line = await readLine(control); line !== undefined; line = await readLine(control)) {
        const event = parseEvent(line);
        if (event?.type === 'exit') return { code: event.code, signal: event.signal };
        if (event?.type === 'failed') {
          return { code: event.code, signal: null, failure: printableLine(event.message.slice(0, MAX_REASON)) };
        }
      }
    } catch {
      // The channel was reset; the reason is below.
    } finally {
      control.destroy();
    }
    if (this.#channels.isClosed) throw await this.#connection.closed;
    throw new AppError('limit', 'The job refused the command: too many run through this connection.');
  }
}

function refusedDebug(answer: DebugEvent): AppError {
  const message = answer.type === 'failed' ? answer.message : 'The job did not answer the debugger.';
  return new AppError('refused', printableLine(message.slice(0, MAX_SENTENCE)));
}
