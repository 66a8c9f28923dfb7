import { LLMClient } from './llmClient.ts';

/** A reply, replies that are used in turn (the last one again), or a function of the prompt. */
export type RecordedReply = string | readonly string[] | ((prompt: string) => string);

/**
 * A model with fixed replies, for first runs and tests: it needs no key and no network.
 *
 * @param replies by a part of the last message that they answer; the first that fits is used, and `''` fits all.
 * Requests reject with an AppError that has the prompt if none fits.
 */
export function recordedModel(replies: Readonly<Record<string, RecordedReply>>): LLMClient {
  const uses = new Map<string, number>();
  const replyTo = (prompt: string): string | undefined => {
    const entry = Object.entries(replies).find(([part]) => prompt.includes(part));
    if (entry === undefined) return undefined;
    const [part, reply] = entry;
    if (typeof reply === 'function') return reply(prompt);
    const list = typeof reply === 'string' ? [reply] : reply;
    const count = uses.get(part) ?? 0;
    uses.set(part, count + 1);
    return list[Math.min(count, list.length - 1)] ?? '';
  };
  return new LLMClient({
    baseUrl: 'http://recorded.invalid/v1', // nothing is sent there
    model: 'recorded',
    fetch: async (_url, init) => {
      const { prompt, isStreamed } = requestOf(init?.body);
      const content = replyTo(prompt);
      if (content === undefined) {
        const message = `The recorded model has no reply to this prompt: ${prompt.slice(0, 300)}`;
        return Response.json({ error: { message } }, { status: 400 });
      }
      if (!isStreamed) return Response.json({ choices: [{ ...CHOICE, message: { role: 'assistant', content } }] });
      const chunk = JSON.stringify({ choices: [{ ...CHOICE, delta: { content } }] });
      return new Response(`data: ${chunk}\n\ndata: [DONE]\n\n`, { headers: { 'Content-Type': 'text/event-stream' } });
    },
  });
}

const CHOICE = { index: 0, finish_reason: 'stop' };

function requestOf(body: unknown): { readonly prompt: string; readonly isStreamed: boolean } {
  const request: unknown = typeof body === 'string' ? JSON.parse(body) : undefined;
  if (typeof request !== 'object' || request === null) return { prompt: '', isStreamed: false };
  const messages: unknown = 'messages' in request ? request.messages : undefined;
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  const content = typeof last === 'object' && last !== null && 'content' in last ? last.content : undefined;
  return {
    prompt: typeof content === 'string' ? content : '',
    isStreamed: 'stream' in request && request.stream === true,
  };
}
