import type { Agent } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { abortReason, AppError } from '../../core/errors.ts';
import { isLoopback } from '../../core/network/loopback.ts';
import { ResumableStream } from '../../core/network/resumableStream.ts';
import { webSocketStream } from '../../core/network/webSocketStream.ts';
import { Emitter } from '../../core/processes/lifetime.ts';
import { printableLine } from '../../core/text/printable.ts';
import type { HttpResponse } from '../http/exchange.ts';
import { NetworkError, RemoteError } from '../http/remoteErrors.ts';
import type { ConnectionChange, TunnelConnection } from './jobTunnelClient.ts';
import {
  MAX_TUNNEL_MESSAGE,
  parseSessionAnswer,
  readLine,
  RESUME_MS,
  type SessionAnswer,
  type SessionRequest,
  TUNNEL_CLOSED,
  TUNNEL_PING_MS,
  TUNNEL_PROTOCOL,
  writeLine,
} from './tunnelProtocol.ts';

const MAX_REASON = 200;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;
// For the service to close the connection too.
const END_WAIT_MS = 1_000;
// In a sandbox, the first connection starts the program that answers.
const ANSWER_MS = 60_000;
// An attempt over a network that has gone can wait for longer than the session does, while the next one would succeed.
const ATTEMPT_MS = 10_000;
const REQUEST_TIMEOUT = 408;
const TOO_MANY = 429;
const SERVER_ERROR = 500;
const JOB_LEFT = { code: TUNNEL_CLOSED.jobLeft, reason: '' };

/** A WebSocket, and the connection that carries it. */
export interface TunnelSocket {
  readonly socket: WebSocket;
  readonly carrier: Duplex;
}

/** One WebSocket of a connection. */
interface Line {
  readonly socket: WebSocket;
  readonly stream: Duplex;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

/**
 * Opens a connection, which is continued for up to a minute after each cut.
 *
 * @param open opens a WebSocket, and throws what the service's refusal means, or the reason of its signal.
 * @param options.signal its abort ends the connection.
 * @param options.attemptMs how long an attempt to continue may wait for the service, and then for the job.
 */
export async function openTunnelConnection(
  open: (signal: AbortSignal) => Promise<TunnelSocket>,
  {
    host,
    signal,
    attemptMs = ATTEMPT_MS,
  }: { readonly host: string; readonly signal: AbortSignal; readonly attemptMs?: number },
): Promise<TunnelConnection> {
  const stream = new ResumableStream();
  const changed = new Emitter<ConnectionChange>();
  const begun = await begin(await open(signal), { type: 'open' }, { host, signal, answerMs: ANSWER_MS });
  if (begun.answer.type === 'gone') throw new AppError('limit', 'The job has too many connections that were cut.');
  const { session } = begun.answer;
  let { line } = begun;
  let isOver = false;
  stream.once('end', () => (isOver = true));
  stream.attach(line.stream, 0);
  const closing = new AbortController();
  stream.once('close', () => closing.abort());
  const ends = AbortSignal.any([signal, closing.signal]);
  const onAbort = (): void => stream.close();
  signal.addEventListener('abort', onAbort);
  const closed = keep().finally(() => {
    signal.removeEventListener('abort', onAbort);
    stream.destroy();
  });
  if (signal.aborted) onAbort();
  stream.once('close', () => {
    void Promise.race([line.closed, sleep(END_WAIT_MS, undefined, { ref: false })]).then(() => line.socket.terminate());
  });
  return { stream, closed, onDidChange: changed.event, end: () => stream.close() };

  /** Returns why the connection has ended for good. */
  async function keep(): Promise<Error> {
    for (;;) {
      const end = await line.closed;
      if (signal.aborted) return abortReason(signal);
      const reason = closeReason(isOver ? JOB_LEFT : end, host);
      if (stream.destroyed || isFinalEnd(end.code)) return reason;
      stream.detach();
      const next = await resume(end.code, reason);
      if (next instanceof Error) return next;
      line = next;
    }
  }

  async function resume(code: number, reason: Error): Promise<Line | Error> {
    const deadline = performance.now() + RESUME_MS;
    let isLost = false;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
      try {
        const received = stream.receivedBytes;
        const socket = await open(AbortSignal.any([ends, AbortSignal.timeout(attemptMs)]));
        const request = { type: 'resume', session, received } as const;
        const next = await begin(socket, request, { host, signal: ends, answerMs: attemptMs });
        const { answer } = next;
        if (answer.type === 'gone' || !stream.canContinueAfter(answer.received)) {
          next.line.socket.terminate();
          return stream.destroyed ? reason : closeReason(JOB_LEFT, host);
        }
        stream.attach(next.line.stream, answer.received);
        if (isLost) changed.fire('resumed');
        return next.line;
      } catch (error) {
        if (signal.aborted) return abortReason(signal);
        // The job's side has ended the connection, and that the job is over was the reason.
        if (stream.destroyed || code === TUNNEL_CLOSED.jobLeft) return reason;
        if (isFinal(error)) return error;
        if (performance.now() + pause > deadline) return reason;
      }
      if (!isLost) changed.fire('lost');
      isLost = true;
      await sleep(pause, undefined, { signal: ends }).catch(() => {});
    }
  }
}

/** Begins or continues a session over a new WebSocket. @throws the reason of its end. */
async function begin(
  { socket, carrier }: TunnelSocket,
  request: SessionRequest,
  { host, signal, answerMs }: { readonly host: string; readonly signal: AbortSignal; readonly answerMs: number },
): Promise<{ readonly line: Line; readonly answer: SessionAnswer }> {
  const stream = webSocketStream(socket, carrier);
  stream.on('error', () => {}); // the socket reports it
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString('utf8') }));
  });
  void watchSilence(socket, closed);
  stream.write(writeLine(request));
  const tooLate = AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
  const onTooLate = (): void => socket.terminate();
  tooLate.addEventListener('abort', onTooLate);
  if (tooLate.aborted) onTooLate();
  const text = await readLine(stream).catch(() => undefined);
  tooLate.removeEventListener('abort', onTooLate);
  const answer = text === undefined ? undefined : parseSessionAnswer(text);
  if (answer !== undefined) return { line: { socket, stream, closed }, answer };
  socket.terminate();
  signal.throwIfAborted();
  throw closeReason(await closed, host);
}

/** How to open a WebSocket. */
interface WebSocketCall {
  /** VS Code's own if undefined. */
  readonly agent: Agent | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Opens the WebSocket of a tunnel.
 *
 * @param check throws for the response of a service that refuses.
 * @throws NetworkError on a timeout, the signal's reason, otherwise the system's own error.
 */
export async function openTunnelSocket(
  url: URL,
  { agent, headers, timeoutMs, signal }: WebSocketCall,
  check: (response: HttpResponse) => Promise<unknown>,
): Promise<TunnelSocket> {
  const address = Object.assign(new URL(url), { protocol: url.protocol === 'https:' ? 'wss:' : 'ws:' });
  const socket = new WebSocket(address, TUNNEL_PROTOCOL, {
    headers,
    handshakeTimeout: timeoutMs,
    perMessageDeflate: false,
    maxPayload: MAX_TUNNEL_MESSAGE,
    ...((url.protocol === 'https:' || isLoopback(url.hostname)) && { generateMask: withoutMask }),
    ...(agent !== undefined && { agent }),
  });
  const onAbort = (): void => socket.terminate();
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  const opened = new Promise<TunnelSocket>((resolve, reject) => {
    let carrier: Duplex | undefined;
    socket.once('upgrade', (response) => (carrier = response.socket));
    socket.once('open', () => carrier !== undefined && resolve({ socket, carrier }));
    socket.on('error', (error) => {
      const isLate = error.message === 'Opening handshake has timed out';
      reject(signal.aborted ? abortReason(signal) : isLate ? new NetworkError(url.origin, error) : error);
    });
    socket.once('unexpected-response', (request, response) => {
      const { statusCode = 0, statusMessage = '' } = response;
      const refused = {
        status: statusCode,
        statusText: statusMessage,
        header: (name: string) => [response.headers[name.toLowerCase()] ?? []].flat()[0] ?? null,
        body: response,
        [Symbol.dispose]: () => void request.destroy(),
      };
      check(refused)
        .then(() => reject(new RemoteError(statusCode, `HTTP ${statusCode}: the service opened no WebSocket.`)), reject)
        .finally(() => request.destroy());
    });
  });
  return opened.finally(() => signal.removeEventListener('abort', onAbort));
}

/**
 * Masks keep what a sender chooses from being taken for requests by what is between it and the service (RFC 6455, section 10.3), at the
 * cost of two thirds of the processor time of a transfer. Where nothing between can read it, there is no mask.
 */
function withoutMask(mask: Buffer): void {
  mask.fill(0);
}

/** Ends a connection on which nothing has arrived for as long as three pings of the service. */
async function watchSilence(socket: WebSocket, closed: Promise<unknown>): Promise<void> {
  let silentSince = performance.now();
  const onHeard = (): void => void (silentSince = performance.now());
  socket.on('ping', onHeard).on('message', onHeard);
  const ended = new AbortController();
  void closed.then(() => ended.abort());
  while (!ended.signal.aborted) {
    await sleep(TUNNEL_PING_MS, undefined, { signal: ended.signal, ref: false }).catch(() => {});
    if (performance.now() - silentSince > 3 * TUNNEL_PING_MS) socket.terminate();
  }
}

/** Whether the service has ended a WebSocket for a reason that lasts. */
function isFinalEnd(code: number): boolean {
  return code === TUNNEL_CLOSED.refused || code === TUNNEL_CLOSED.drained;
}

/** Whether a service refuses, and will refuse again. */
function isFinal(error: unknown): error is Error {
  if (error instanceof AppError) return error.code !== 'unreachable';
  if (!(error instanceof RemoteError)) return false;
  const { status } = error;
  return status < SERVER_ERROR && status !== REQUEST_TIMEOUT && status !== TOO_MANY;
}

/** What the end of a tunnel means for the one who uses it. */
function closeReason({ code, reason }: Awaited<Line['closed']>, host: string): Error {
  const text = printableLine(reason.slice(0, MAX_REASON));
  if (code === TUNNEL_CLOSED.jobLeft)
    return new AppError(
      'conflict',
      'The connection to the job has ended: the job is over, or it has stopped what connects to it.',
    );
  if (code === TUNNEL_CLOSED.refused) return new AppError('not-signed-in', text);
  if (code === TUNNEL_CLOSED.drained) return new AppError('refused', text);
  const why = code === TUNNEL_CLOSED.stopping ? 'the service is stopping' : 'the connection was lost';
  return new AppError(
    'unreachable',
    `The tunnel to the job through ${host} has ended: ${why}. The job itself continues.`,
  );
}
