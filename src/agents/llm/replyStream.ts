import { fieldOf, textField } from '../../core/jsonFields.ts';
import { parseEvents } from '../../remote/events/parseEvents.ts';
import type { CompletionChunk } from './completion.ts';

const END = '[DONE]';

/** A streamed reply that failed. The message is what the service wrote, if anything. */
export class BrokenReplyError extends Error {
  override readonly name = 'BrokenReplyError';
  readonly what: string;
  readonly advice: string;

  constructor(what: string, advice: string, detail = '') {
    super(detail);
    this.what = what;
    this.advice = advice;
  }
}

/**
 * The chunks of a streamed reply, from the server-sent events of a response. The `openai` package takes a stream that ends too early for a
 * complete one.
 *
 * @throws BrokenReplyError, and the errors of the body.
 */
export async function* readReply(body: AsyncIterable<Uint8Array>): AsyncGenerator<CompletionChunk, void> {
  let isEmpty = true;
  let isComplete = false;
  for await (const { event, data } of parseEvents(body)) {
    const name: string = event; // not one of a job's
    if (data === END) return;
    const error = name === 'error' ? data : fieldOf(data, 'error');
    if (error !== undefined && error !== null) {
      const what = `the service reported an error instead of ${isEmpty ? 'a' : 'the rest of the'} reply`;
      throw new BrokenReplyError(what, 'Try again later.', detailOf(error));
    }
    if (typeof data === 'string') throw new BrokenReplyError('a part of the reply is not JSON', 'Try again.', data);
    isEmpty = false;
    isComplete ||= isLast(data);
    const choices: unknown = fieldOf(data, 'choices');
    const usage: unknown = fieldOf(data, 'usage');
    if (Array.isArray(choices) || usage) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fields of a chunk can have any value for those who read them
      yield { choices: Array.isArray(choices) ? choices : [], usage } as CompletionChunk;
    }
  }
  if (isEmpty) throw new BrokenReplyError('the response has no reply', 'Check the address.');
  if (!isComplete) throw new BrokenReplyError('the reply ended before it was complete', 'Try again.');
}

function detailOf(error: unknown): string {
  return textField(error, 'message') ?? (typeof error === 'string' ? error : JSON.stringify(error));
}

/**
 * Whether a chunk may be the last: it has a finish reason, or only the usage. Services that never send finish reasons omit the field, so
 * for them every chunk may be the last.
 */
function isLast(chunk: unknown): boolean {
  const choices = fieldOf(chunk, 'choices');
  if (!Array.isArray(choices) || choices.length === 0) return Boolean(fieldOf(chunk, 'usage'));
  return choices.some((choice: unknown) => fieldOf(choice, 'finish_reason') !== null);
}
