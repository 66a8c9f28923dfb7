import { fieldOf } from '../../core/jsonFields.ts';
import { withCacheMarks } from './promptCache.ts';
import { REASONING_FIELDS } from './reasoning.ts';
import type { ServiceRules } from './serviceRules.ts';

type Body = Readonly<Record<string, unknown>>;

/**
 * The body of a request as a service takes it: with the reasoning that it wants back, its own name for the limit of length, and
 * marks of what to store if that is wanted.
 */
export function bodyForService<T extends { readonly model: string }>(
  body: T,
  { reasoningFields, requiredReasoning, lengthLimit, cacheMarks }: ServiceRules,
  isCached: boolean,
): T {
  const messages: unknown = fieldOf(body, 'messages');
  const sent = Array.isArray(messages)
    ? messages.map((message: unknown) => messageForService(message, reasoningFields, requiredReasoning))
    : messages;
  const isMarked = isCached && Array.isArray(sent) && cacheMarks?.test(body.model) === true;
  const isLimited = lengthLimit !== undefined && lengthLimit.models?.test(body.model) !== false;
  return {
    ...(isLimited ? withLengthLimit(body, lengthLimit.name) : body),
    messages: isMarked ? withCacheMarks(sent) : sent,
  };
}

/** The same body with another name for the limit of a reply's length. */
export function withLengthLimit<T extends object>(body: T, name: 'max_tokens' | 'max_completion_tokens'): T {
  const other = name === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
  const limit = fieldOf(body, other);
  if (limit === undefined) return body;
  const renamed = { ...body };
  Reflect.deleteProperty(renamed, other);
  Reflect.set(renamed, name, limit);
  return renamed;
}

function messageForService(
  message: unknown,
  accepted: ServiceRules['reasoningFields'],
  required: ServiceRules['requiredReasoning'],
): unknown {
  if (fieldOf(message, 'role') !== 'assistant' || typeof message !== 'object' || message === null) return message;
  const refused = new Set<string>(
    REASONING_FIELDS.filter((name) => name === 'response_items' || accepted?.includes(name) === false),
  );
  const kept: Body = Object.fromEntries(Object.entries(message).filter(([key]) => !refused.has(key)));
  const calls = kept['tool_calls'];
  const isMissing = required !== undefined && kept[required] === undefined && Array.isArray(calls) && calls.length > 0;
  return isMissing ? { ...kept, [required]: '' } : kept;
}
