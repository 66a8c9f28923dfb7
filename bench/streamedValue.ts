// The seconds of CPU time that a streamed value of a schema takes by its length: twice the length should take twice the time.
import * as z from 'zod';
import { LLMClient } from '../src/agents/index.ts';

const SIZES = [40_000, 160_000, 640_000];
const TOKEN = 4;
const schema = z.object({ rows: z.array(z.object({ id: z.number(), name: z.string(), tags: z.array(z.string()) })) });

/** A JSON text of about so many characters. */
function valueOf(characters: number): string {
  const row = { id: 123_456, name: 'A harbour with "quotes" and a \\ in its name', tags: ['deep', 'old', 'busy'] };
  return JSON.stringify({
    rows: Array.from({ length: Math.ceil(characters / JSON.stringify(row).length) }, () => row),
  });
}

function clientOf(text: string): LLMClient {
  const event = (content: string, reason: string | null): string =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: reason }] })}\n\n`;
  const encoder = new TextEncoder();
  const fetch = async (): Promise<Response> => {
    let at = 0;
    const body = new ReadableStream({
      pull(controller) {
        if (at >= text.length) {
          controller.enqueue(encoder.encode(`${event('', 'stop')}data: [DONE]\n\n`));
          controller.close();
          return;
        }
        controller.enqueue(encoder.encode(event(text.slice(at, at + TOKEN), null)));
        at += TOKEN;
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
  return new LLMClient({ baseUrl: 'http://model.invalid/v1', provider: 'vllm', model: 'm', fetch });
}

async function measure(name: string, stream: AsyncIterable<unknown>): Promise<string> {
  const before = process.cpuUsage();
  let pieces = 0;
  for await (const _ of stream) pieces += 1;
  const { user, system } = process.cpuUsage(before);
  return `${name} ${((user + system) / 1e6).toFixed(2)} s (${pieces} pieces)`;
}

for (const size of SIZES) {
  const text = valueOf(size);
  const plain = await measure('text', clientOf(text).askStream('x'));
  const value = await measure('value', clientOf(text).askStream('x', { schema }));
  process.stdout.write(`${String(text.length).padStart(7)} characters: ${plain}, ${value}\n`);
}
