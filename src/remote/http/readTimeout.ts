import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

/** Milliseconds; Infinity for no limit. */
export interface TimeLimits {
  /** Until the connection stands, TLS handshake included. */
  readonly connectMs: number;
  /** Of silence: no byte received and none sent. */
  readonly readMs: number;
  /** Until the answer is there, from the end of the request; of a stream or a file, its head. */
  readonly totalMs: number;
}

/**
 * Calls `onTimeout` once so much time has passed, whatever arrives meanwhile: a service that sends a byte now and then is never silent.
 *
 * @returns a function that ends the watch.
 */
export function watchTotal(totalMs: number, onTimeout: (cause: Error) => void): () => void {
  if (totalMs > MAX_TIMER_MS) return () => {};
  const timer = setTimeout(() => onTimeout(timeoutError(`no whole answer within ${totalMs / 1000} s`)), totalMs);
  return () => clearTimeout(timer);
}

/** A timer of Node holds no more than 2^31 - 1 ms; beyond it would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Watches the socket of one request, new or reused, and calls `onTimeout` when a limit is passed.
 *
 * Node's own socket timer is re-armed by each byte received and by each write that makes progress, which no timer
 * around the body's chunks could see.
 *
 * @param waitedMs how long the reader has waited for data by now. If that is much less than the limit, the reader was
 * busy with what it had, and the silence is not the service's.
 * @returns a function that ends the watch and leaves the socket as it was.
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
  request.once('response', listen); // node-fetch has just switched the socket's timer off
  return () => {
    clearTimeout(connectTimer);
    request.off('socket', onSocket).off('response', listen);
    socket?.off('timeout', onSilence).off('connect', onConnected).off('secureConnect', onConnected);
  };
}

/** The same limit for a caller's own `fetch`, whose sockets are out of sight: re-armed by `touch`, stopped by `pause`. */
export class ReadTimer {
  readonly #readMs: number;
  readonly #onTimeout: (cause: Error) => void;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(readMs: number, onTimeout: (cause: Error) => void) {
    this.#readMs = readMs;
    this.#onTimeout = onTimeout;
  }

  /** @param extraMs time on top, for a connection that must be made first. */
  touch(extraMs = 0): void {
    this.pause();
    const delay = this.#readMs + extraMs;
    if (!this.#isStopped && delay <= MAX_TIMER_MS)
      this.#timer = setTimeout(() => this.#onTimeout(readTimeout(delay)), delay);
  }

  pause(): void {
    clearTimeout(this.#timer);
  }

  /** For good: what is still being sent does not start it again. */
  stop(): void {
    this.#isStopped = true;
    this.pause();
  }
}

/** A TLS socket has sent its Finished message once the handshake is over. */
function isConnected(request: ClientRequest, socket: Socket): boolean {
  if (request.reusedSocket) return true;
  return socket instanceof TLSSocket ? socket.getFinished() !== undefined : !socket.connecting;
}

function timerMs(milliseconds: number): number {
  return milliseconds <= MAX_TIMER_MS ? milliseconds : 0; // 0 switches a socket's timer off
}

function connectTimeout(milliseconds: number): Error {
  // `syscall` as on the system's own errors: it tells that nothing of the request has left.
  return Object.assign(timeoutError(`no connection within ${milliseconds / 1000} s`), { syscall: 'connect' });
}

function readTimeout(milliseconds: number): Error {
  return timeoutError(`no data for ${milliseconds / 1000} s`);
}

function timeoutError(message: string): Error {
  return Object.assign(new Error(message), { name: 'TimeoutError', code: 'ETIMEDOUT' });
}
