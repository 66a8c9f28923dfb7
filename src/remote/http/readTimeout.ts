import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** Milliseconds; Infinity for no limit. */
export interface TimeLimits {
  /** To establish the connection, including the TLS handshake. */
  readonly connectMs: number;
  /** Without a byte received or sent. */
  readonly readMs: number;
  /** From the end of the request to the end of the response; for a stream or a file, to its headers. */
  readonly totalMs: number;
}

/**
 * Calls `onTimeout` after this time, whatever arrives meanwhile. A service that sends a byte now and then never reaches the read timeout.
 *
 * @returns a function that ends the watch.
 */
export function watchTotal(totalMs: number, onTimeout: (cause: Error) => void): () => void {
  if (totalMs > MAX_TIMER_MS) return () => {};
  const timer = setTimeout(() => onTimeout(timeoutError(`no complete response within ${totalMs / 1000} s`)), totalMs);
  return () => clearTimeout(timer);
}

/** Node's timers fire immediately for longer delays. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Watches the socket of one request, new or reused, and calls `onTimeout` when a limit is exceeded.
 *
 * Node's own socket timer is re-armed by each byte received and by each write that makes progress, which no timer
 * around the body's chunks could see.
 *
 * @param waitedMs how long the reader has been waiting for data. If that is much less than the limit, the reader was busy, and the
 * service is not to blame.
 * @returns a function that ends the watch and restores the socket.
 */
export function watchRequest(
  request: ClientRequest,
  { connectMs, readMs }: TimeLimits,
  waitedMs: () => number,
  onTimeout: (cause: Error) => void,
): () => void {
  const silenceMs = timerMs(readMs);
  const connectTimer =
    connectMs <= MAX_TIMER_MS ? setTimeout(() => onTimeout(connectTimeout(connectMs)), connectMs) : undefined;
  let socket: Socket | undefined;
  const listen = () => socket?.setTimeout(silenceMs);
  const onSilence = () => (waitedMs() < readMs / 2 ? listen() : onTimeout(readTimeout(readMs)));
  const onConnected = () => {
    clearTimeout(connectTimer);
    socket?.on('timeout', onSilence);
    listen();
  };
  const onSocket = (given: Socket) => {
    socket = given;
    if (isConnected(request, given)) onConnected();
    else given.once(given instanceof TLSSocket ? 'secureConnect' : 'connect', onConnected);
  };
  request.once('socket', onSocket);
  request.once('response', listen); // node-fetch has just turned off the socket's timer
  return () => {
    clearTimeout(connectTimer);
    request.off('socket', onSocket).off('response', listen);
    socket?.off('timeout', onSilence).off('connect', onConnected).off('secureConnect', onConnected);
  };
}

/** The read timeout for a caller's own `fetch`, whose sockets cannot be observed: restarted by `touch`, stopped by `pause`. */
export class ReadTimer {
  readonly #readMs: number;
  readonly #onTimeout: (cause: Error) => void;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(readMs: number, onTimeout: (cause: Error) => void) {
    this.#readMs = readMs;
    this.#onTimeout = onTimeout;
  }

  /** @param extraMs additional time to establish a connection. */
  touch(extraMs = 0): void {
    this.pause();
    const delay = this.#readMs + extraMs;
    if (!this.#isStopped && delay <= MAX_TIMER_MS)
      this.#timer = setTimeout(() => this.#onTimeout(readTimeout(delay)), delay);
  }

  pause(): void {
    clearTimeout(this.#timer);
  }

  /** Stops it permanently: chunks that are still being sent do not restart it. */
  stop(): void {
    this.#isStopped = true;
    this.pause();
  }
}

/** Whether the connection is established. A TLS socket has sent its Finished message after the handshake. */
function isConnected(request: ClientRequest, socket: Socket): boolean {
  if (request.reusedSocket) return true;
  return socket instanceof TLSSocket ? socket.getFinished() !== undefined : !socket.connecting;
}

function timerMs(milliseconds: number): number {
  return milliseconds <= MAX_TIMER_MS ? milliseconds : 0; // 0 turns a socket's timer off
}

function connectTimeout(milliseconds: number): Error {
  // `syscall` as in the system's own errors shows that nothing of the request was sent.
  return Object.assign(timeoutError(`no connection within ${milliseconds / 1000} s`), { syscall: 'connect' });
}

function readTimeout(milliseconds: number): Error {
  return timeoutError(`no data for ${milliseconds / 1000} s`);
}

function timeoutError(message: string): Error {
  return Object.assign(new Error(message), { name: 'TimeoutError', code: 'ETIMEDOUT' });
}
