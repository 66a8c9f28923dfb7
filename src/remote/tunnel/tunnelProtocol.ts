import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fieldOf, numberField, textField, tryParseJson } from '../../core/jsonFields.ts';
import type { MultiplexerOptions } from '../../core/network/multiplexer.ts';
import { type DebugEvent, type DebugHeader, parseDebugHeader } from './debugChannels.ts';
import { type FileEvent, type FileHeader, parseFileHeader } from './fileChannels.ts';
import { parsePortHeader, type PortEvent, type PortHeader } from './portChannels.ts';

/** The feature of a service that lets clients into running jobs, in `features` of `GET /v1/me`. */
export const CONNECT_FEATURE = 'connect';
/** The WebSocket subprotocol of a tunnel. */
export const TUNNEL_PROTOCOL = 'farwharf-tunnel-1';
/** How a tunnel carries its channels. Both sides must agree. */
export const TUNNEL_CHANNELS = {
  windowBytes: 2 ** 20,
  maxChannels: 256,
} as const satisfies MultiplexerOptions;
/** The largest WebSocket message of a tunnel, in bytes. */
export const MAX_TUNNEL_MESSAGE = 2 ** 20;
/** How often a service pings its clients. A side that hears nothing for three times as long closes the tunnel. */
export const TUNNEL_PING_MS = 15_000;

/** The close codes of a tunnel's WebSocket beside those of RFC 6455; the reason is a sentence. */
export const TUNNEL_CLOSED = { refused: 1008, stopping: 1001, jobLeft: 4410, drained: 4411 } as const;

/** How long a session waits for another connection after one has broken. */
export const RESUME_MS = 60_000;

// The words of a command, at most 32 KB, with each byte escaped.
const MAX_LINE_BYTES = 256 * 1024;
const MAX_WORDS = 1_000;
const MAX_COMMAND_BYTES = 32 * 1024;
const MAX_ID_LENGTH = 64;
const MAX_CELLS = 10_000;
const LINE_END = 0x0a;

/** What a client may send to a command. */
const COMMAND_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGKILL', 'SIGUSR1', 'SIGUSR2'] as const;
export type CommandSignal = (typeof COMMAND_SIGNALS)[number];

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/**
 * The first line of a connection. A session begins with it, or continues after so many bytes that the client has received. What follows is
 * the session's `ResumableStream`.
 */
export type SessionRequest =
  | { readonly type: 'open' }
  | { readonly type: 'resume'; readonly session: string; readonly received: number };

/** The first line of the job's side. Only who has the session's ID can continue it. */
export type SessionAnswer =
  | { readonly type: 'session'; readonly session: string; readonly received: number }
  /** There is no such session any more. */
  | { readonly type: 'gone' };

/** The first line of a channel. */
export type ChannelHeader =
  /** Bytes for another channel, which names this one by its ID: those of a standard stream of a command, or of a file. */
  | { readonly type: 'stream'; readonly id: string }
  /** A command. Its channel then carries `CommandRequest`s and `CommandEvent`s, each a line of JSON. */
  | ExecHeader
  | FileHeader
  | PortHeader
  | DebugHeader;

export interface ExecHeader {
  readonly type: 'exec';
  readonly command: readonly [string, ...string[]];
  readonly stdin: string;
  readonly stdout: string;
  /** Absent with a terminal. */
  readonly stderr?: string;
  readonly terminal?: TerminalSize & { readonly name: string };
}

export type CommandRequest =
  | { readonly type: 'signal'; readonly signal: CommandSignal }
  | ({ readonly type: 'resize' } & TerminalSize);

export type CommandEvent =
  | { readonly type: 'started' }
  | { readonly type: 'exit'; readonly code: number | null; readonly signal: string | null }
  /** It was not run. `code` is what shells exit with then: 126 or 127. */
  | { readonly type: 'failed'; readonly code: number; readonly message: string };

/**
 * Reads a line from a stream, and leaves what follows it.
 *
 * @returns undefined at the end of the stream, also for an incomplete line.
 * @throws RangeError for a line of more than 256 KB, the stream's own error.
 */
export async function readLine(stream: Readable): Promise<string | undefined> {
  const parts: Buffer[] = [];
  let length = 0;
  for (;;) {
    const part: unknown = stream.read();
    if (!Buffer.isBuffer(part)) {
      if (stream.readableEnded || stream.destroyed) return undefined;
      await untilReadable(stream);
      continue;
    }
    const end = part.indexOf(LINE_END);
    parts.push(end === -1 ? part : part.subarray(0, end));
    length += part.length;
    if (end !== -1) {
      if (end + 1 < part.length) stream.unshift(part.subarray(end + 1));
      return Buffer.concat(parts).toString('utf8');
    }
    if (length > MAX_LINE_BYTES) throw new RangeError('the line is too long');
  }
}

async function untilReadable(stream: Readable): Promise<void> {
  const done = new AbortController();
  const { signal } = done;
  try {
    await Promise.race(['readable', 'end', 'close'].map((event) => once(stream, event, { signal })));
  } finally {
    done.abort();
  }
}

/** A line of JSON. */
export function writeLine(
  value:
    | SessionRequest
    | SessionAnswer
    | ChannelHeader
    | CommandRequest
    | CommandEvent
    | FileEvent
    | PortEvent
    | DebugEvent,
): string {
  return `${JSON.stringify(value)}\n`;
}

/** @returns undefined for anything else. */
export function parseSessionRequest(line: string): SessionRequest | undefined {
  const value = tryParseJson(line);
  const type = fieldOf(value, 'type');
  if (type === 'open') return { type };
  return type === 'resume' ? withPosition(value, type) : undefined;
}

/** @returns undefined for anything else. */
export function parseSessionAnswer(line: string): SessionAnswer | undefined {
  const value = tryParseJson(line);
  const type = fieldOf(value, 'type');
  if (type === 'gone') return { type };
  return type === 'session' ? withPosition(value, type) : undefined;
}

function withPosition<T extends string>(
  value: unknown,
  type: T,
): { readonly type: T; readonly session: string; readonly received: number } | undefined {
  const [session, received] = [shortText(value, 'session'), numberField(value, 'received')];
  return session === undefined || received === undefined ? undefined : { type, session, received };
}

/** @returns undefined for anything else. */
export function parseHeader(line: string): ChannelHeader | undefined {
  const value = tryParseJson(line);
  const type = fieldOf(value, 'type');
  if (type === 'stream') {
    const id = shortText(value, 'id');
    return id === undefined ? undefined : { type, id };
  }
  const other = parseFileHeader(value) ?? parsePortHeader(value) ?? parseDebugHeader(value);
  if (other !== undefined) return other;
  const command = wordsOf(fieldOf(value, 'command'));
  const [stdin, stdout, stderr] = [shortText(value, 'stdin'), shortText(value, 'stdout'), shortText(value, 'stderr')];
  if (type !== 'exec' || command === undefined || stdin === undefined || stdout === undefined) return undefined;
  const shown = fieldOf(value, 'terminal');
  if (shown === undefined) return stderr === undefined ? undefined : { type, command, stdin, stdout, stderr };
  const size = sizeOf(shown);
  const name = shortText(shown, 'name');
  if (size === undefined || name === undefined || !/^[\w.+-]+$/.test(name)) return undefined;
  return { type, command, stdin, stdout, terminal: { ...size, name } };
}

/** @returns undefined for anything else. */
export function parseRequest(line: string): CommandRequest | undefined {
  const value = tryParseJson(line);
  const type = fieldOf(value, 'type');
  if (type === 'resize') {
    const size = sizeOf(value);
    return size && { type, ...size };
  }
  const signal = COMMAND_SIGNALS.find((name) => name === fieldOf(value, 'signal'));
  return type === 'signal' && signal !== undefined ? { type, signal } : undefined;
}

/** @returns undefined for anything else. */
export function parseEvent(line: string): CommandEvent | undefined {
  const value = tryParseJson(line);
  const type = fieldOf(value, 'type');
  const code = numberField(value, 'code');
  if (type === 'started') return { type };
  if (type === 'failed') return { type, code: code ?? 1, message: textField(value, 'message') ?? 'unknown reason' };
  return type === 'exit' ? { type, code: code ?? null, signal: textField(value, 'signal') ?? null } : undefined;
}

function shortText(value: unknown, name: string): string | undefined {
  const text = textField(value, name);
  return text !== undefined && text.length <= MAX_ID_LENGTH ? text : undefined;
}

function sizeOf(value: unknown): TerminalSize | undefined {
  const [columns = 0, rows = 0] = [numberField(value, 'columns'), numberField(value, 'rows')];
  const isSize = [columns, rows].every((cells) => Number.isInteger(cells) && cells >= 1 && cells <= MAX_CELLS);
  return isSize ? { columns, rows } : undefined;
}

function wordsOf(value: unknown): readonly [string, ...string[]] | undefined {
  if (!Array.isArray(value) || value.length > MAX_WORDS) return undefined;
  const words: readonly unknown[] = value;
  const texts = words.filter((word) => typeof word === 'string' && !word.includes('\0')).map(String);
  const [program, ...args] = texts;
  const bytes = texts.reduce((sum, word) => sum + Buffer.byteLength(word) + 1, 0);
  const isWhole = texts.length === words.length && bytes <= MAX_COMMAND_BYTES;
  return program !== undefined && program !== '' && isWhole ? [program, ...args] : undefined;
}
