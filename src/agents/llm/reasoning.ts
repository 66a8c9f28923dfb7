import { fieldOf } from '../../core/jsonFields.ts';

/** The fields of messages with reasoning: what one service writes, another may refuse. */
export const REASONING_FIELDS = [
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'thinking_blocks',
  'response_items',
] as const;

export type ReasoningField = (typeof REASONING_FIELDS)[number];

/** The fields of a message with reasoning that its service wrote, to be sent back. */
export function reasoningFieldsOf(message: unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    REASONING_FIELDS.flatMap((name) => {
      const value = fieldOf(message, name);
      return value === undefined || value === null ? [] : [[name, value] as const];
    }),
  );
}

/** The reasoning that a message or a piece of one shows; empty if it shows none. */
export function reasoningText(message: unknown): string {
  for (const name of ['reasoning_content', 'reasoning'] as const) {
    const text = fieldOf(message, name);
    if (typeof text === 'string' && text !== '') return text;
  }
  for (const name of ['reasoning_details', 'thinking_blocks', 'content'] as const) {
    const text = partsText(fieldOf(message, name));
    if (text !== '') return text;
  }
  return '';
}

/** The text of parts with reasoning: of OpenRouter, of Anthropic's style, or Mistral's, which have parts inside. */
function partsText(parts: unknown): string {
  if (!Array.isArray(parts)) return '';
  return parts
    .map((part: unknown) => {
      const type = fieldOf(part, 'type');
      if (type === 'reasoning.text') return fieldOf(part, 'text');
      if (type === 'reasoning.summary') return fieldOf(part, 'summary');
      if (type !== 'thinking') return '';
      const thinking = fieldOf(part, 'thinking');
      return Array.isArray(thinking) ? thinking.map((inner: unknown) => fieldOf(inner, 'text')).join('') : thinking;
    })
    .filter((text) => typeof text === 'string')
    .join('');
}

const OPEN = '<think>';
const CLOSE = '</think>';

/** Separates the reasoning that some models write at the beginning of their reply, between tags, from the rest, as the reply arrives. */
export class ThinkSplitter {
  #state: 'start' | 'reasoning' | 'gap' | 'text' = 'start';
  #held = '';

  push(text: string): { readonly text: string; readonly reasoning: string } {
    this.#held += text;
    let reasoning = '';
    if (this.#state === 'start') {
      const begun = this.#held.trimStart();
      if (OPEN.startsWith(begun) && begun.length < OPEN.length) return { text: '', reasoning };
      this.#state = begun.startsWith(OPEN) ? 'reasoning' : 'text';
      if (this.#state === 'reasoning') this.#held = begun.slice(OPEN.length);
    }
    if (this.#state === 'reasoning') {
      const end = this.#held.indexOf(CLOSE);
      const known = end < 0 ? this.#held.length - heldTail(this.#held) : end;
      reasoning = this.#held.slice(0, known);
      this.#held = this.#held.slice(end < 0 ? known : end + CLOSE.length);
      if (end < 0) return { text: '', reasoning };
      this.#state = 'gap';
    }
    if (this.#state === 'gap') {
      this.#held = this.#held.trimStart();
      if (this.#held !== '') this.#state = 'text';
    }
    return { text: this.#state === 'text' ? this.#take() : '', reasoning };
  }

  /** What was held back because it might have been a tag. */
  end(): { readonly text: string; readonly reasoning: string } {
    const isReasoning = this.#state === 'reasoning';
    const rest = this.#take();
    return isReasoning ? { text: '', reasoning: rest } : { text: rest, reasoning: '' };
  }

  #take(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }
}

/** The reasoning at the beginning of a whole reply, and the rest. */
export function splitThink(content: string): { readonly text: string; readonly reasoning: string } {
  const splitter = new ThinkSplitter();
  const first = splitter.push(content);
  const last = splitter.end();
  return { text: first.text + last.text, reasoning: first.reasoning + last.reasoning };
}

/** How much of the end may be the beginning of the closing tag. */
function heldTail(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(CLOSE.slice(0, length))) return length;
  }
  return 0;
}
