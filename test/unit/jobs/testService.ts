import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ServerSentEvent } from '../../../src/remote/protocol/schemas.ts';
import { KEEPS_CONNECTIONS } from '../timeLimits.ts';

type Answer = (request: IncomingMessage, response: ServerResponse, attempt: number) => void | Promise<void>;

/** How the service answers; each gets the number of the attempt, from 1. */
export interface Answers {
  readonly submit?: Answer;
  readonly job?: Answer;
  readonly events?: Answer;
  readonly artifacts?: Answer;
}

/** A server that speaks `/v1` as a test configures it, faults included. */
export class TestService {
  readonly attempts = { submit: 0, job: 0, events: 0, artifacts: 0 };
  /** `Last-Event-ID` of each events request. */
  readonly lastEventIds: (string | undefined)[] = [];
  readonly #server: Server;
  readonly #answers: Answers;

  private constructor(answers: Answers) {
    this.#answers = answers;
    this.#server = createServer(KEEPS_CONNECTIONS, (incoming, response) => {
      response.on('error', () => {});
      void this.#answer(incoming, response);
    });
  }

  static async start(t: { after(end: () => void): void }, answers: Answers, port = 0): Promise<TestService> {
    const service = new TestService(answers);
    await new Promise<void>((resolve) => service.#server.listen(port, '127.0.0.1', resolve));
    t.after(() => service.stop());
    return service;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = incoming.url ?? '';
    const kind =
      incoming.method === 'POST'
        ? 'submit'
        : path.endsWith('/events')
          ? 'events'
          : path.endsWith('/artifacts')
            ? 'artifacts'
            : 'job';
    this.attempts[kind] += 1;
    if (kind === 'events') this.lastEventIds.push(incoming.headers['last-event-id']?.toString());
    const answer = this.#answers[kind];
    if (answer === undefined) return sendJson(response, { detail: 'no such job' }, 404);
    await answer(incoming, response, this.attempts[kind]);
  }
}

export function sendJson(response: ServerResponse, body: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Writes events; ids count from `firstId`, and are left out where it is undefined. */
export function sendEvents(response: ServerResponse, events: readonly ServerSentEvent[], firstId?: number): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [index, { event, data }] of events.entries()) {
    const id = firstId === undefined ? '' : `id: ${firstId + index}\n`;
    response.write(`${id}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }
}

/** Cuts the connection once what was written has left. */
export function cut(response: ServerResponse): void {
  response.write(': cut\n', () => response.destroy());
}
