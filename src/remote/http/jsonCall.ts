import { Readable } from 'node:stream';
import type { Call } from './exchange.ts';

/** A call whose response is JSON. */
export function jsonCall(call: Call): Call {
  return { ...call, headers: { accept: 'application/json', ...call.headers } };
}

/** The part of a call that sends a value as JSON. A stream can be sent once, so a repeated call needs another one. */
export function jsonBody(value: object): Pick<Call, 'headers' | 'body'> {
  return bytesBody(Buffer.from(JSON.stringify(value)), 'application/json');
}

/** The same for bytes. */
export function bytesBody(bytes: Uint8Array, type = 'application/octet-stream'): Pick<Call, 'headers' | 'body'> {
  const headers = { 'content-type': type, 'content-length': String(bytes.length) };
  return { headers, body: Readable.from([bytes]) };
}
