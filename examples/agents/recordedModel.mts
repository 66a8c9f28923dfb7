import { readFileSync } from 'node:fs';
import { LLMClient } from 'farwharf/agents';

interface RecordedReply {
  /** A part of the last message that this reply answers. */
  readonly when: string;
  /** What the service answers; 200 when absent. */
  readonly status?: number;
  readonly reply?: string;
  /** How often this entry answers; always when absent. */
  readonly times?: number;
}

/**
 * A model whose replies come from `recorded/<name>.json`, so that an example needs no key and no network. With
 * `FARWHARF_LIVE=1` it is the real one: LLMClient takes provider and key from the environment.
 */
export function exampleModel(name: string): LLMClient {
  if (process.env['FARWHARF_LIVE'] === '1') return new LLMClient();
  const file = new URL(`recorded/${name}.json`, import.meta.url);
  const replies = (JSON.parse(readFileSync(file, 'utf8')) as RecordedReply[]).map((entry) => ({ ...entry, used: 0 }));
  return new LLMClient({
    baseUrl: 'http://recorded.invalid/v1',
    model: 'recorded',
    async fetch(_url, init) {
      const { messages } = JSON.parse(typeof init?.body === 'string' ? init.body : '') as {
        messages: { content: string }[];
      };
      const prompt = messages.at(-1)?.content ?? '';
      const entry = replies.find(({ when, times = Infinity, used }) => used < times && prompt.includes(when));
      if (entry === undefined) throw new Error(`${file.pathname} has no reply to: ${prompt.slice(0, 200)}`);
      entry.used += 1;
      const { status = 200, reply = '' } = entry;
      if (status !== 200) return Response.json({ error: { message: reply } }, { status });
      const message = { role: 'assistant', content: reply };
      return Response.json({ choices: [{ index: 0, message, finish_reason: 'stop' }] });
    },
  });
}
