import { Readable } from 'node:stream';
import type { Call } from './exchange.ts';

/** A call whose response is JSON. */
export function jsonCall(call: Call): Call {
  return { ...call, headers: { accept: 'application/json', ...call.headers } };
}

/** The part of a call that sends a value as JSON. A stream can be sent once, so a repeated call needs another one. */
export function jsonBody(value: object): Pick<Call, 'headers' | 'body'> {
  const bytes = Buffer.from(JSON.stringify(value));
  const headers = { 'content-type': 'application/json', 'content-length': String(bytes.length) };
  return { headers, body: Readable.from([bytes]) };
}
