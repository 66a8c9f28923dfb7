import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { StubReply } from '../../unit/flows/agentFixtures.ts';

interface CompletionRequest {
  readonly model: string;
  readonly messages: readonly { readonly content: string }[];
  readonly stream?: boolean;
}

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/**
 * A model service whose replies are fixed: the first entry of a model's list that is a part of the last message answers. A model `a-b`
 * has the list of `a`.
 */
export async function startStubModel(
  lists: Readonly<Record<string, readonly StubReply[]>>,
): Promise<AsyncDisposable & { readonly url: string; requestsOf(model: string): number }> {
  const requests: string[] = [];
  const used = new Map<StubReply, number>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { model, messages, stream = false } = JSON.parse(await text(request)) as CompletionRequest;
    const [name = ''] = model.split('-');
    requests.push(name);
    const prompt = messages.at(-1)?.content ?? '';
    const found = lists[name]?.find(
      (entry) => (used.get(entry) ?? 0) < (entry.times ?? Infinity) && prompt.includes(entry.when),
    );
    if (found === undefined) {
      response.writeHead(404).end(JSON.stringify({ error: { message: `no reply to: ${prompt}` } }));
      return;
    }
    used.set(found, (used.get(found) ?? 0) + 1);
    if (stream) sendPieces(response, found);
    else sendWhole(response, found);
  };
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requestsOf: (model) => requests.filter((name) => name === model).length,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function sendWhole(response: ServerResponse, { reply, tool }: StubReply): void {
  const message = { role: 'assistant', content: reply ?? null };
  const calls =
    tool === undefined
      ? {}
      : {
          tool_calls: [
            {
              id: 'call-1',
              type: 'function',
              function: { name: tool.name, arguments: JSON.stringify(tool.arguments) },
            },
          ],
        };
  const finish_reason = tool === undefined ? 'stop' : 'tool_calls';
  const choices = [{ index: 0, message: { ...message, ...calls }, finish_reason }];
  response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ choices, usage: USAGE }));
}

function sendPieces(response: ServerResponse, { reply = '' }: StubReply): void {
  response.setHeader('Content-Type', 'text/event-stream');
  for (const content of reply.split(/(?<= )/)) {
    response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`);
  }
  const end = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: USAGE };
  response.end(`data: ${JSON.stringify(end)}\n\ndata: [DONE]\n\n`);
}
