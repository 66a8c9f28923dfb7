import { fieldOf, numberField, textField, tryParseJson } from '../../core/jsonFields.ts';

const MAX_PORT = 65_535;
const MOST_PORTS = 1_000;
const MAX_NAME = 64;
const MAX_TEXT = 1_000;

/** A TCP port on which processes of a job accept connections from their own machine. */
export interface JobPort {
  readonly port: number;
  /** Whether other machines may be able to connect to it too. */
  readonly isPublic: boolean;
  /** The program that listens, such as `tensorboard`; absent if it is unknown. */
  readonly process?: string;
}

/** The first line of a channel that is about ports. */
export type PortHeader =
  /** The channel carries `ports` events: one, or another one after each change until the client closes it. */
  | { readonly type: 'ports'; readonly isWatching: boolean }
  /** The channel carries a line, `connected` or `failed`; after `connected`, the bytes of a connection to the port. */
  | { readonly type: 'connect'; readonly port: number };

export type PortEvent =
  | { readonly type: 'ports'; readonly ports: readonly JobPort[] }
  | { readonly type: 'connected' }
  /** `missing`: nothing of the job listens there. */
  | { readonly type: 'failed'; readonly code: 'missing' | 'refused' | 'limit'; readonly message: string };

/** @returns undefined for what asks for something else, or is not valid. */
export function parsePortHeader(value: unknown): PortHeader | undefined {
  const type = fieldOf(value, 'type');
  if (type === 'ports') return { type, isWatching: fieldOf(value, 'isWatching') === true };
  const port = numberField(value, 'port');
  return type === 'connect' && port !== undefined && isPort(port) ? { type, port } : undefined;
}

/** @returns undefined for anything else. */
export function parsePortEvent(line: string): PortEvent | undefined {
  const value = tryParseJson(line);
  const type = fieldOf(value, 'type');
  if (type === 'connected') return { type };
  if (type === 'failed') {
    const code = fieldOf(value, 'code');
    const message = (textField(value, 'message') ?? 'unknown reason').slice(0, MAX_TEXT);
    return { type, code: code === 'missing' || code === 'limit' ? code : 'refused', message };
  }
  const ports = fieldOf(value, 'ports');
  if (type !== 'ports' || !Array.isArray(ports) || ports.length > MOST_PORTS) return undefined;
  const parsed = ports.map(parsePort);
  return parsed.every((port) => port !== undefined) ? { type, ports: parsed } : undefined;
}

/** Whether a number is that of a TCP port. */
export function isPort(port: number): boolean {
  return Number.isInteger(port) && port > 0 && port <= MAX_PORT;
}

function parsePort(value: unknown): JobPort | undefined {
  const port = numberField(value, 'port');
  if (port === undefined || !isPort(port)) return undefined;
  const process = textField(value, 'process')?.slice(0, MAX_NAME);
  return { port, isPublic: fieldOf(value, 'isPublic') === true, ...(process !== undefined && { process }) };
}
