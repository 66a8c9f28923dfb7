import { fieldOf } from '../../core/jsonFields.ts';

const MARK = { cache_control: { type: 'ephemeral' } };

/**
 * A conversation with marks, in Anthropic's style, up to which a service stores it: after the system messages at its beginning, with the tools
 * before them, and at its end, so that the next request of a loop begins with what is stored.
 */
export function withCacheMarks(messages: readonly unknown[]): readonly unknown[] {
  const others = messages.findIndex((message) => fieldOf(message, 'role') !== 'system');
  const system = (others < 0 ? messages.length : others) - 1;
  const last = messages.findLastIndex(
    (message) => fieldOf(message, 'role') !== 'assistant' && marked(message) !== message,
  );
  return messages.map((message, index) => (index === system || index === last ? marked(message) : message));
}

/** The message with a mark at its last text; unchanged if it has none, because an empty text may not be marked. */
function marked(message: unknown): unknown {
  const content = fieldOf(message, 'content');
  if (typeof message !== 'object' || message === null) return message;
  if (typeof content === 'string') {
    return content === '' ? message : { ...message, content: [{ type: 'text', text: content, ...MARK }] };
  }
  if (!Array.isArray(content)) return message;
  const at = content.findLastIndex((part: unknown) => fieldOf(part, 'type') === 'text' && fieldOf(part, 'text') !== '');
  if (at < 0) return message;
  return { ...message, content: content.map((part: object, index) => (index === at ? { ...part, ...MARK } : part)) };
}
