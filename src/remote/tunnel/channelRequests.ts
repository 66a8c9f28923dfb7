import type { Duplex } from 'node:stream';
import { AppError } from '../../core/errors.ts';
import { printableLine } from '../../core/text/printable.ts';
import { type FileEvent, type FileHeader, type JobArchiveEnd, type JobFile, parseFileEvent } from './fileChannels.ts';
import { type JobPort, parsePortEvent, type PortEvent, type PortHeader } from './portChannels.ts';
import { readLine, writeLine } from './tunnelProtocol.ts';

/** What opens the channels of a tunnel. */
export interface TunnelChannels {
  /** @throws Error `ECONNRESET` if the tunnel has ended. */
  open(): Duplex;
  /** A channel for bytes, that another one names by its ID. */
  openStream(): { readonly id: string; readonly channel: Duplex };
  /** Why the tunnel has ended; undefined while it is open. */
  lost(): Promise<Error> | undefined;
}

/** Bytes that come from a job, to be read once. Dispose it to stop before their end. */
export interface JobBytes<End> extends Disposable {
  /** @throws the reason why they are incomplete. */
  readonly bytes: AsyncIterable<Buffer>;
  /** Resolves when all have been read. @throws as `bytes`. */
  readonly ended: Promise<End>;
}

/** A file of a job that is being read. `bytes` throws AppError `conflict` if the file became shorter than it was when it was opened. */
export interface JobFileRead
  extends JobBytes<{
    /** Whether the file was written or replaced meanwhile. */
    readonly isChanged: boolean;
  }> {
  readonly file: JobFile;
  /** How many bytes there are to read. */
  readonly length: number;
}

type Signal = AbortSignal | undefined;

/** The entries of a folder, some at a time, unordered. @throws AppError with the reason. */
export async function* requestEntries(
  channels: TunnelChannels,
  header: Extract<FileHeader, { type: 'list' | 'stat' }>,
  signal: Signal,
): AsyncGenerator<readonly JobFile[], void> {
  using control = ask(channels, header, signal);
  for await (const event of fileEvents(control)) {
    if (event.type !== 'entries') return;
    if (!event.entries.every(({ path }) => isBelow(path, header))) throw malformed();
    yield event.entries;
    if (header.type === 'stat') return;
  }
}

/** @throws AppError `missing`, `refused`, `permission` with the reason. */
export async function requestFile(
  channels: TunnelChannels,
  { path, offset, length }: { readonly path: string; readonly offset: number; readonly length: number | undefined },
  signal: Signal,
): Promise<JobFileRead> {
  const stream = channels.openStream();
  const header = { type: 'read', path, stream: stream.id, offset, ...(length !== undefined && { length }) } as const;
  const control = ask(channels, header, signal, stream.channel);
  try {
    const events = fileEvents(control);
    const opened = (await events.next()).value;
    const file = opened?.type === 'entries' ? opened.entries[0] : undefined;
    if (file?.type !== 'file' || file.path !== path) throw malformed();
    const expected = Math.min(Math.max(0, file.size - offset), length ?? file.size);
    const read = readStream(control, stream.channel, async (received) => {
      const end = (await events.next()).value;
      if (end?.type !== 'end' || !('isChanged' in end) || received > expected) throw malformed();
      if (received < expected) {
        const name = printableLine(path);
        throw new AppError('conflict', `${name} became shorter in the job while it was read. Try again.`);
      }
      return { isChanged: end.isChanged };
    });
    return Object.assign(read, { file, length: expected });
  } catch (error) {
    control[Symbol.dispose]();
    throw error;
  }
}

/** A tar stream of the files in a folder, with paths relative to it. Reading it throws AppError with the reason. */
export function requestArchive(channels: TunnelChannels, path: string, signal: Signal): JobBytes<JobArchiveEnd> {
  const stream = channels.openStream();
  const control = ask(channels, { type: 'archive', path, stream: stream.id }, signal, stream.channel);
  return readStream(control, stream.channel, async () => {
    const end = (await fileEvents(control).next()).value;
    if (end?.type !== 'end' || !('skipped' in end)) throw malformed();
    return end;
  });
}

/** Replaces a file with these bytes, at once when all have arrived. @throws AppError `refused`, `permission`, `no-space` with the reason. */
export async function requestWrite(
  channels: TunnelChannels,
  { path, bytes }: { readonly path: string; readonly bytes: Uint8Array },
  signal: Signal,
): Promise<JobFile> {
  const stream = channels.openStream();
  stream.channel.resume();
  using control = ask(channels, { type: 'write', path, stream: stream.id, size: bytes.length }, signal, stream.channel);
  stream.channel.end(bytes);
  const written = (await fileEvents(control).next()).value;
  const file = written?.type === 'entries' ? written.entries[0] : undefined;
  if (file?.path !== path) throw malformed();
  return file;
}

/** Yields the ports of a job: once, or after each change until the consumer leaves. @throws AppError `refused` with the reason. */
export async function* requestPorts(
  channels: TunnelChannels,
  isWatching: boolean,
  signal: Signal,
): AsyncGenerator<readonly JobPort[], void> {
  using control = ask(channels, { type: 'ports', isWatching }, signal);
  for (;;) {
    const event = await portEvent(control);
    if (event.type !== 'ports') throw malformed();
    yield event.ports;
    if (!isWatching) return;
  }
}

/** A connection to a port of a job. @throws AppError `missing` if nothing of the job listens there, `refused`, `limit`. */
export async function requestConnection(channels: TunnelChannels, port: number, signal: Signal): Promise<Duplex> {
  const control = ask(channels, { type: 'connect', port }, signal);
  try {
    if ((await portEvent(control)).type !== 'connected') throw malformed();
    control.release();
    return control.channel;
  } catch (error) {
    control[Symbol.dispose]();
    throw error;
  }
}

/** A channel on which something was asked for. Its disposal closes it, and the stream with it. */
interface Control extends Disposable {
  readonly channel: Duplex;
  /** Throws the reason if the call was aborted or the tunnel has ended, otherwise that the job refused the channel. */
  fail(): Promise<never>;
  /** Leaves the channel to somebody else. */
  release(): void;
}

function ask(channels: TunnelChannels, header: FileHeader | PortHeader, signal: Signal, stream?: Duplex): Control {
  signal?.throwIfAborted();
  const channel = channels.open();
  channel.write(writeLine(header));
  const close = (): void => {
    channel.destroy();
    stream?.destroy();
  };
  const release = (): void => signal?.removeEventListener('abort', close);
  signal?.addEventListener('abort', close);
  return {
    channel,
    release,
    async fail() {
      signal?.throwIfAborted();
      throw (await channels.lost()) ?? new AppError('limit', 'The job refused the request: too many are open at once.');
    },
    [Symbol.dispose]: () => {
      release();
      close();
    },
  };
}

/** The events of a channel up to its end. @throws AppError of a `failed` one. */
async function* fileEvents(control: Control): AsyncGenerator<FileEvent, undefined> {
  for (;;) {
    const event = parseFileEvent(await nextLine(control));
    if (event === undefined) throw malformed();
    if (event.type === 'failed') throw failure(event);
    yield event;
  }
}

async function portEvent(control: Control): Promise<Exclude<PortEvent, { type: 'failed' }>> {
  const event = parsePortEvent(await nextLine(control));
  if (event === undefined) throw malformed();
  if (event.type === 'failed') throw failure(event);
  return event;
}

async function nextLine(control: Control): Promise<string> {
  const line = await readLine(control.channel).catch((error: unknown) => {
    if (error instanceof RangeError) throw malformed();
    return undefined; // the channel was reset; the reason is below
  });
  return line ?? control.fail();
}

/** @param finish called with the number of bytes after the last one. */
function readStream<End>(control: Control, stream: Duplex, finish: (received: number) => Promise<End>): JobBytes<End> {
  const { promise: ended, resolve, reject } = Promise.withResolvers<End>();
  ended.catch(() => {}); // it may fail before the caller waits for it
  stream.end();
  async function* read(): AsyncGenerator<Buffer, void> {
    let received = 0;
    try {
      try {
        for await (const chunk of stream) {
          if (!Buffer.isBuffer(chunk)) continue;
          received += chunk.length;
          yield chunk;
        }
      } catch {
        await control.fail();
      }
      resolve(await finish(received));
    } catch (error) {
      reject(error);
      throw error;
    } finally {
      dispose();
    }
  }
  function dispose(): void {
    reject(new AppError('conflict', 'The file was not read to its end.'));
    control[Symbol.dispose]();
  }
  return { bytes: read(), ended, [Symbol.dispose]: dispose };
}

function isBelow(path: string, { type, path: folder }: Extract<FileHeader, { type: 'list' | 'stat' }>): boolean {
  if (type === 'stat') return path === folder;
  const rest = folder === '' ? path : path.slice(folder.length + 1);
  return path !== '' && rest !== '' && (folder === '' || path.startsWith(`${folder}/`));
}

function failure({ code, message }: Extract<FileEvent | PortEvent, { type: 'failed' }>): AppError {
  return new AppError(code, printableLine(message));
}

function malformed(): AppError {
  return new AppError(
    'corrupt',
    'The job sent what is not a valid response. A program of the job may have tampered with it.',
  );
}
