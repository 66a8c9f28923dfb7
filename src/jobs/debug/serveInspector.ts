import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { AppError, messageOf } from '../../core/errors.ts';
import { tryParseJson } from '../../core/jsonFields.ts';
import { printableLine } from '../../core/text/printable.ts';
import { readMessageLines } from '../../remote/tunnel/messageLines.ts';
import { isObject } from './debugMessages.ts';
import { InspectorProxy } from './inspectorProxy.ts';
import type { JobSources } from './jobSources.ts';

const LOOPBACK = '127.0.0.1';
const TOKEN_BYTES = 24;
// Breakpoints and expressions. What the job sends is larger.
const MAX_MESSAGE = 16 * 2 ** 20;
const MAX_WAITING = 4 * 2 ** 20;
const POLL_MS = 20;
const NOT_FOUND = 'HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n';

interface ServeInspectorOptions {
  /** 0 for any free one. */
  readonly port: number;
  readonly sources: JobSources;
  /** Connects to the debugger of the job: messages of the inspector protocol as lines of JSON. */
  readonly openDebugger: () => Promise<Duplex>;
  /** Called for what happens, with a sentence. */
  readonly onEvent: (text: string) => void;
}

/**
 * Serves a job's debugger to clients of the inspector protocol on this machine, one at a time, until the signal is aborted. They connect
 * by WebSocket to a path that nobody can guess, because other users of the machine and web pages can reach the port.
 *
 * @returns the address.
 * @throws the system's error if the port cannot be used.
 */
export async function serveInspector(options: ServeInspectorOptions, signal: AbortSignal): Promise<string> {
  // Loaded by those who use it.
  const { WebSocketServer } = await import('ws');
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const webSockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE });
  const server = createServer((_, response) => response.writeHead(404).end());
  let current: WebSocket | undefined;
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => {}); // it closes
    const origin = request.headers.origin ?? '';
    if (request.url !== `/${token}` || !(origin === '' || origin.startsWith('devtools://'))) {
      socket.end(NOT_FOUND);
      return;
    }
    if (current !== undefined) {
      socket.end(NOT_FOUND);
      options.onEvent('A second debug client was refused: one is connected.');
      return;
    }
    webSockets.handleUpgrade(request, socket, head, (client) => {
      current = client;
      serveClient(client, options)
        .catch((error: unknown) => options.onEvent(printableLine(messageOf(error))))
        .finally(() => {
          client.terminate();
          current = undefined;
        });
    });
  });
  server.listen(options.port, LOOPBACK);
  await once(server, 'listening', { signal });
  signal.addEventListener(
    'abort',
    () => {
      current?.terminate();
      server.close();
      server.closeAllConnections();
    },
    { once: true },
  );
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('A TCP server has a port.');
  return `ws://${LOOPBACK}:${address.port}/${token}`;
}

async function serveClient(
  client: WebSocket,
  { sources, openDebugger, onEvent }: ServeInspectorOptions,
): Promise<void> {
  client.on('error', () => client.terminate());
  // The client speaks at once.
  client.pause();
  const stream = await openDebugger();
  client.once('close', () => stream.destroy());
  if (client.readyState !== client.OPEN) stream.destroy();
  const proxy = new InspectorProxy({
    sources,
    sendToClient: (message) => client.send(JSON.stringify(message)),
    sendToJob: (message) => {
      if (stream.writable) stream.write(`${JSON.stringify(message)}\n`);
    },
    onNotice: onEvent,
  });
  client.on('message', (data: Buffer) => {
    const message = tryParseJson(data.toString());
    if (isObject(message)) proxy.fromClient(message).catch(() => client.terminate());
  });
  client.resume();
  onEvent('A debug client connected.');
  try {
    for await (const line of readMessageLines(stream)) {
      const message = tryParseJson(line);
      if (isObject(message)) await proxy.fromJob(message);
      while (client.bufferedAmount > MAX_WAITING && client.readyState === client.OPEN) await sleep(POLL_MS);
    }
  } catch (error) {
    if (client.readyState === client.OPEN) {
      if (error instanceof AppError) throw error;
      onEvent('The process has ended, or the connection to it was lost.');
    }
  } finally {
    stream.destroy();
    client.close();
    onEvent('The debug client disconnected.');
  }
}
