import { fieldOf, numberField } from '../../core/jsonFields.ts';
import { type CompletionChunk, replyText } from './completion.ts';

type Fields = Record<string, unknown>;

/** Puts the pieces of a streamed reply together: the message as it would have come at once. */
export class ReplyBuilder {
  #content = '';
  readonly #fields: Fields = {};
  readonly #calls: Fields[] = [];
  readonly #details: Fields[] = [];
  #finishReason: string | undefined;
  #usage: CompletionChunk['usage'];

  add({ choices: [choice], usage }: CompletionChunk): void {
    this.#usage = usage ?? this.#usage;
    if (choice === undefined) return;
    const { delta } = choice;
    this.#finishReason = choice.finish_reason ?? this.#finishReason;
    this.#content += replyText(fieldOf(delta, 'content'));
    for (const name of ['reasoning_content', 'reasoning', 'refusal']) {
      const text = fieldOf(delta, name);
      const before = this.#fields[name];
      if (typeof text === 'string') this.#fields[name] = (typeof before === 'string' ? before : '') + text;
    }
    for (const name of ['thinking_blocks', 'response_items']) {
      const parts = fieldOf(delta, name);
      if (Array.isArray(parts)) this.#fields[name] = [...list(this.#fields[name]), ...(parts as unknown[])];
    }
    mergeParts(this.#details, fieldOf(delta, 'reasoning_details'));
    mergeParts(this.#calls, fieldOf(delta, 'tool_calls'));
  }

  get usage(): CompletionChunk['usage'] {
    return this.#usage;
  }

  get finishReason(): string {
    return this.#finishReason ?? 'stop';
  }

  /** The assistant's message so far. */
  get message(): Readonly<Record<string, unknown>> {
    return {
      role: 'assistant',
      content: this.#content,
      ...this.#fields,
      ...(this.#details.length > 0 && { reasoning_details: this.#details }),
      ...(this.#calls.length > 0 && { tool_calls: this.#calls.map(({ index: _index, ...call }) => call) }),
    };
  }
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Adds pieces of parts to those with the same index: texts are continued, other fields are set. */
function mergeParts(parts: Fields[], pieces: unknown): void {
  if (!Array.isArray(pieces)) return;
  for (const piece of pieces as unknown[]) {
    if (typeof piece !== 'object' || piece === null) continue;
    const index = numberField(piece, 'index');
    const id = fieldOf(piece, 'id');
    // Some services give all calls the same index.
    const isSame = (part: Fields): boolean => part['index'] === index && (!id || !part['id'] || part['id'] === id);
    const part = index === undefined ? undefined : parts.find(isSame);
    if (part === undefined) parts.push({ ...piece });
    else mergeFields(part, piece);
  }
}

// Of these, each piece has the next part; of all others, the value.
const CONTINUED: ReadonlySet<string> = new Set(['arguments', 'text', 'summary', 'data']);

function mergeFields(target: Fields, source: object): void {
  for (const [key, value] of Object.entries(source)) {
    const before = target[key];
    if (value === null || value === undefined) continue;
    if (typeof before === 'string' && typeof value === 'string' && CONTINUED.has(key)) target[key] = before + value;
    else if (isFields(before) && isFields(value)) target[key] = merged(before, value);
    else if (value !== '' || before === undefined) target[key] = value as unknown;
  }
}

function merged(before: Fields, source: object): Fields {
  const copy = { ...before };
  mergeFields(copy, source);
  return copy;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
