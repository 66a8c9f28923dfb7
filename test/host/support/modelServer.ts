// A language model that is none: it speaks the chat completions API on this machine and answers with citations of what it was sent.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ModelRequest {
  readonly headers: IncomingHttpHeaders;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

/** How it answers: what it says, or with what status it refuses. */
export type ModelBehaviour =
  | { readonly type: 'answer'; readonly wait?: Promise<void>; readonly say?: (prompt: string) => string }
  | {
      readonly type: 'refuse';
      readonly status: number;
      readonly error: { readonly message: string; readonly code: string };
    };

export interface ModelServer extends AsyncDisposable {
  /** Up to and with `/v1`. */
  readonly baseUrl: string;
  /** What it was sent, the oldest first; a test may empty it. */
  readonly requests: ModelRequest[];
  behaviour: ModelBehaviour;
}

const MODEL = 'stub-1';
export const ANSWER_START = 'The folder says so';
const PIECES = 12;
const PIECE_EVERY_MS = 40;

/** What the window calls the place of the model. */
export function placeOf({ baseUrl }: ModelServer): string {
  return `this machine (${new URL(baseUrl).host})`;
}

/** Starts it on a free port of 127.0.0.1. */
export async function startModelServer(): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const server = createServer((incoming, response) => {
    const body: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => body.push(chunk));
    incoming.on('end', () => {
      if (incoming.url?.endsWith('/models')) {
        sendJson(response, 200, { object: 'list', data: [{ id: MODEL, object: 'model' }] });
        return;
      }
      const { messages } = JSON.parse(Buffer.concat(body).toString('utf8')) as Pick<ModelRequest, 'messages'>;
      requests.push({ headers: incoming.headers, messages });
      void respond(response, messages.at(-1)?.content ?? '', stub.behaviour);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stub: ModelServer = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    behaviour: { type: 'answer' },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
  return stub;
}

async function respond(response: ServerResponse, prompt: string, behaviour: ModelBehaviour): Promise<void> {
  if (behaviour.type === 'refuse') {
    sendJson(response, behaviour.status, { error: behaviour.error });
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [index, piece] of cut((behaviour.say ?? answerTo)(prompt)).entries()) {
    if (index === 1) await behaviour.wait;
    if (response.destroyed) return;
    response.write(
      `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: piece }, finish_reason: null }] })}\n\n`,
    );
    await sleep(PIECE_EVERY_MS);
  }
  response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\n`);
  response.end('data: [DONE]\n\n');
}

/** Cites the first excerpts of the prompt by path and line, and one by its number. */
function answerTo(prompt: string): string {
  const places = [...prompt.matchAll(/^\[(\d+)\] (.+):(\d+)-(\d+)$/gm)].slice(0, 3);
  const cited = places.map(([, , path, first, last]) => `- see ${path}:${first}-${last}`);
  return [`${ANSWER_START} [${places[0]?.[1]}].`, '', ...cited, '', 'Nothing else is known of made/up.ts:1.'].join(
    '\n',
  );
}

function cut(text: string): string[] {
  const length = Math.ceil(text.length / PIECES);
  return Array.from({ length: PIECES }, (_, index) => text.slice(index * length, (index + 1) * length)).filter(Boolean);
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
