import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { KEEPS_CONNECTIONS } from '../../timeLimits.ts';

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: {
    readonly model: string;
    readonly messages: readonly { readonly role: string; readonly content: string }[];
    readonly stream?: boolean;
    readonly response_format?: { readonly type: string; readonly json_schema: { readonly strict: boolean } };
    readonly tools?: readonly unknown[];
  };
}

export type Answer = (response: ServerResponse, request: ReceivedRequest) => void;

/** A real HTTP server that speaks the chat completions API: it gives the answers in order, the last one again and again. */
export async function chatServer(
  t: TestContext,
  ...answers: readonly Answer[]
): Promise<{ readonly baseUrl: string; readonly requests: ReceivedRequest[] }> {
  const requests: ReceivedRequest[] = [];
  const server = createServer(KEEPS_CONNECTIONS, (incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as ReceivedRequest['body'];
      const request = { path: incoming.url ?? '', headers: incoming.headers, body };
      requests.push(request);
      answers[Math.min(requests.length, answers.length) - 1]?.(response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, requests };
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

export function reply(content: string | null, extra: { finish_reason?: string; message?: object } = {}): Answer {
  return json(200, {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, ...extra.message },
        finish_reason: extra.finish_reason ?? 'stop',
      },
    ],
    usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
  });
}

/** A reply that asks for calls of tools, with their arguments as the model wrote them. */
export function toolCalls(...wanted: readonly (readonly [name: string, args: string])[]): Answer {
  const calls = wanted.map(([name, args], index) => ({
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: args },
  }));
  return reply(null, { finish_reason: 'tool_calls', message: { tool_calls: calls } });
}

export function rateLimited(retryAfter?: string): Answer {
  const headers = retryAfter === undefined ? undefined : { 'retry-after': retryAfter };
  return json(429, { error: { message: 'too many requests' } }, headers);
}

/** Server-sent events; `lines` are the payloads of their data fields. */
export function streamed(lines: readonly string[], { isEnded = true } = {}): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const line of lines) response.write(`data: ${line}\n\n`);
    if (isEnded) response.end();
  };
}

export function delta(content: string, finishReason: string | null = null): string {
  return JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: finishReason }] });
}

/** A streamed reply in pieces, with the calls at its end. */
export function streamedReply(
  pieces: readonly object[],
  ...wanted: readonly (readonly [name: string, args: string])[]
): Answer {
  const calls = wanted.map(([name, args], index) => ({
    index,
    id: `call_${index}`,
    type: 'function',
    function: { name, arguments: args },
  }));
  const chunk = (piece: object, reason: string | null): string =>
    JSON.stringify({ choices: [{ index: 0, delta: piece, finish_reason: reason }] });
  const last = chunk(calls.length === 0 ? {} : { tool_calls: calls }, calls.length === 0 ? 'stop' : 'tool_calls');
  const usage = JSON.stringify({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 20 } });
  return streamed([...pieces.map((piece) => chunk(piece, null)), last, usage, '[DONE]']);
}
