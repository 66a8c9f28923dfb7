import { fieldOf, numberField, textField } from '../../core/jsonFields.ts';
import { parseEvents } from '../../remote/events/parseEvents.ts';
import { type CompletionChunk, replyText } from './completion.ts';
import { BrokenReplyError } from './replyStream.ts';

// The Responses API, https://platform.openai.com/docs/api-reference/responses, as chat completions: requests are translated to it, and its replies
// back, so that conversations, recordings and tools have one form.

type Fields = Readonly<Record<string, unknown>>;

/**
 * The body of a request to `/responses` for a body of chat completions. Nothing is stored at the service, so reasoning has to come encrypted to
 * be sent back.
 *
 * @param isEncrypted whether to ask for that; models that do not reason refuse it.
 */
export function responsesBody(body: Fields, isEncrypted: boolean): Fields {
  const {
    messages,
    tools,
    tool_choice: toolChoice,
    response_format: responseFormat,
    max_tokens: maxTokens,
    max_completion_tokens: maxCompletionTokens = maxTokens,
    reasoning_effort: effort,
    verbosity,
    stream_options: _streamOptions,
    reasoning,
    text,
    include,
    ...rest
  } = body;
  const format = textFormat(responseFormat);
  const isStored = rest['store'] === true;
  const included = [...list(include), ...(isEncrypted && !isStored ? ['reasoning.encrypted_content'] : [])];
  return {
    store: false,
    ...rest,
    input: list(messages).flatMap((message) => inputItems(message, isStored)),
    ...(tools !== undefined && { tools: list(tools).map(flatFunction) }),
    ...(toolChoice !== undefined && { tool_choice: flatFunction(toolChoice) }),
    ...(maxCompletionTokens !== undefined && { max_output_tokens: maxCompletionTokens }),
    ...((reasoning !== undefined || effort !== undefined) && {
      reasoning: { ...objectOf(reasoning), ...(effort !== undefined && { effort }) },
    }),
    ...((text !== undefined || verbosity !== undefined || format !== undefined) && {
      text: { ...objectOf(text), ...(verbosity !== undefined && { verbosity }), ...(format && { format }) },
    }),
    ...(included.length > 0 && { include: included }),
  };
}

/** The items that a message becomes. A reply of this API is sent back as it came. */
function inputItems(message: unknown, isStored: boolean): unknown[] {
  const role = fieldOf(message, 'role');
  const content = fieldOf(message, 'content');
  if (role === 'tool') {
    return [{ type: 'function_call_output', call_id: fieldOf(message, 'tool_call_id'), output: replyText(content) }];
  }
  if (role !== 'assistant') return [{ role, content: inputContent(content) }];
  const own = list(fieldOf(message, 'response_items'));
  if (own.length > 0) return isStored ? [...own] : portableItems(own);
  const text = replyText(content);
  const calls = list(fieldOf(message, 'tool_calls')).map((call) => ({
    type: 'function_call',
    call_id: fieldOf(call, 'id'),
    name: fieldOf(fieldOf(call, 'function'), 'name'),
    arguments: fieldOf(fieldOf(call, 'function'), 'arguments'),
  }));
  return [...(text === '' ? [] : [{ role, content: text }]), ...calls];
}

/** Items without those that only a service that stored them could find, and without ids that would need them. */
function portableItems(items: readonly unknown[]): unknown[] {
  const isReasoning = (item: unknown): boolean => fieldOf(item, 'type') === 'reasoning';
  const isWhole = (item: unknown): boolean =>
    Boolean(fieldOf(item, 'encrypted_content')) || list(fieldOf(item, 'content')).length > 0;
  const kept = items.filter((item) => !isReasoning(item) || isWhole(item));
  if (kept.length === items.length) return kept;
  return kept.map((item) => Object.fromEntries(Object.entries(objectOf(item)).filter(([key]) => key !== 'id')));
}

function inputContent(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return content.map((part: unknown) => {
    const type = fieldOf(part, 'type');
    if (type === 'text') return { type: 'input_text', text: fieldOf(part, 'text') };
    if (type === 'file') return { type: 'input_file', ...objectOf(fieldOf(part, 'file')) };
    if (type !== 'image_url') return part;
    const image = fieldOf(part, 'image_url');
    const detail = fieldOf(image, 'detail');
    return { type: 'input_image', image_url: fieldOf(image, 'url'), ...(detail !== undefined && { detail }) };
  });
}

/** A function, declared or chosen, whose fields are not in an object of their own. They would be strict by default. */
function flatFunction(value: unknown): unknown {
  const named = fieldOf(value, 'function');
  if (fieldOf(value, 'type') !== 'function' || named === undefined) return value;
  const isDeclaration = fieldOf(named, 'parameters') !== undefined;
  return { type: 'function', ...(isDeclaration && { strict: false }), ...objectOf(named) };
}

function textFormat(responseFormat: unknown): Fields | undefined {
  const type = fieldOf(responseFormat, 'type');
  if (type === undefined) return undefined;
  return { type, ...objectOf(fieldOf(responseFormat, 'json_schema')) };
}

/** A response as a chat completion; undefined if it is none, or failed. */
export function completionOfResponse(response: unknown): Fields | undefined {
  const output = fieldOf(response, 'output');
  if (!Array.isArray(output) || fieldOf(response, 'status') === 'failed') return undefined;
  const ofType = (type: string): readonly unknown[] => output.filter((item) => fieldOf(item, 'type') === type);
  const parts = ofType('message').flatMap((item) => list(fieldOf(item, 'content')));
  const refusal = parts.map((part) => textField(part, 'refusal') ?? '').join('');
  const reasoning = ofType('reasoning').map(reasoningOf).filter(Boolean).join('\n\n');
  const calls = ofType('function_call').map((item) => ({
    id: fieldOf(item, 'call_id'),
    type: 'function',
    function: { name: fieldOf(item, 'name'), arguments: fieldOf(item, 'arguments') },
  }));
  const message = {
    role: 'assistant',
    content: replyText(parts),
    ...(refusal !== '' && { refusal }),
    ...(reasoning !== '' && { reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
    response_items: output as unknown[],
  };
  return {
    id: fieldOf(response, 'id'),
    model: fieldOf(response, 'model'),
    choices: [{ index: 0, message, finish_reason: finishReason(response, calls.length > 0) }],
    usage: chatUsage(fieldOf(response, 'usage')),
  };
}

function reasoningOf(item: unknown): string {
  const whole = list(fieldOf(item, 'content'));
  const parts = whole.length > 0 ? whole : list(fieldOf(item, 'summary'));
  return parts.map((part) => textField(part, 'text') ?? '').join('\n\n');
}

function finishReason(response: unknown, hasCalls: boolean): string {
  const reason = textField(fieldOf(response, 'incomplete_details'), 'reason');
  if (reason === 'max_output_tokens') return 'length';
  return reason ?? (hasCalls ? 'tool_calls' : 'stop');
}

function chatUsage(usage: unknown): Fields | undefined {
  const input = numberField(usage, 'input_tokens');
  if (input === undefined) return undefined;
  return {
    prompt_tokens: input,
    completion_tokens: numberField(usage, 'output_tokens'),
    total_tokens: numberField(usage, 'total_tokens'),
    prompt_tokens_details: fieldOf(usage, 'input_tokens_details'),
    completion_tokens_details: fieldOf(usage, 'output_tokens_details'),
  };
}

/** The chunks of a streamed response. @throws BrokenReplyError, and the errors of the body. */
export async function* readResponse(body: AsyncIterable<Uint8Array>): AsyncGenerator<CompletionChunk, void> {
  let hasText = false;
  for await (const { event, data } of parseEvents(body)) {
    const type = textField(data, 'type') ?? event;
    const piece = fieldOf(data, 'delta');
    switch (type) {
      case 'response.output_text.delta':
        hasText = true;
        yield chunk({ content: piece });
        break;
      case 'response.refusal.delta':
        yield chunk({ refusal: piece });
        break;
      case 'response.reasoning_text.delta':
      case 'response.reasoning_summary_text.delta':
        yield chunk({ reasoning: piece });
        break;
      case 'response.reasoning_summary_part.added':
        if (numberField(data, 'summary_index') !== 0) yield chunk({ reasoning: '\n\n' });
        break;
      case 'response.completed':
      case 'response.incomplete':
        yield lastChunk(fieldOf(data, 'response'), hasText);
        return;
      case 'response.failed':
      case 'error': {
        const error = fieldOf(fieldOf(data, 'response'), 'error') ?? fieldOf(data, 'error') ?? data;
        const detail = textField(error, 'message') ?? JSON.stringify(error);
        throw new BrokenReplyError(
          'the service reported an error instead of the rest of the reply',
          'Try again later.',
          detail,
        );
      }
      default: // the beginnings and ends of items, which the last event has in full
    }
  }
  throw new BrokenReplyError('the reply ended before it was complete', 'Try again.');
}

function chunk(delta: Fields, reason: string | null = null): CompletionChunk {
  return { choices: [{ delta, finish_reason: reason }] };
}

function lastChunk(response: unknown, hasText: boolean): CompletionChunk {
  const completion = completionOfResponse(response);
  const [choice] = list(completion?.['choices']);
  const { content, tool_calls: calls, response_items: items } = objectOf(fieldOf(choice, 'message'));
  const delta = {
    ...(!hasText && { content }),
    tool_calls: list(calls).map((call, index) => ({ index, ...objectOf(call) })),
    response_items: items,
  };
  const last = chunk(delta, textField(choice, 'finish_reason') ?? 'stop');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fields of a usage can have any value for those who read them
  return { ...last, usage: completion?.['usage'] as CompletionChunk['usage'] };
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function objectOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}
