import type * as z from 'zod';
import { parseOwnJson } from '../../../core/jsonFields.ts';
import type { RunPause } from '../protocol/flowOutcome.ts';

type Json = z.core.util.JSONType;
type Asked = Pick<RunPause, 'choices' | 'input' | 'call'>;

/** How to ask for the answer to a pause. */
export type AnswerField =
  | { readonly type: 'choices'; readonly choices: readonly AnswerChoice[] }
  | {
      readonly type: 'text';
      /** What the text is converted to. */
      readonly kind: 'text' | 'number' | 'json';
      /** What is expected, in a few words; empty if anything is accepted. */
      readonly hint: string;
      /** What the field contains at first. */
      readonly start: string;
    };

export interface AnswerChoice {
  readonly label: string;
  readonly value: Json;
}

/** The answer in a text, or why the text is not a valid answer. */
export type ReadAnswer = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly reason: string };

const YES_OR_NO: AnswerField = {
  type: 'choices',
  choices: [
    { label: 'Yes', value: true },
    { label: 'No', value: false },
  ],
};

/** How to ask for what a pause accepts: its choices, those of its schema, or a text that is converted to the type of its schema. */
export function answerFieldOf({ choices, input, call }: Asked): AnswerField {
  if (choices !== undefined) return { type: 'choices', choices: choices.map((value) => ({ label: value, value })) };
  if (input === undefined && call !== undefined) return YES_OR_NO;
  if (input === undefined) return { type: 'text', kind: 'text', hint: '', start: '' };
  const { type, enum: values, description } = input;
  if (Array.isArray(values) && values.every(isPlain)) {
    return { type: 'choices', choices: values.map((value) => ({ label: String(value), value })) };
  }
  if (type === 'boolean') return YES_OR_NO;
  const described = typeof description === 'string' ? description : '';
  if (type === 'string') return { type: 'text', kind: 'text', hint: described, start: '' };
  if (type === 'number' || type === 'integer') {
    const hint = [type === 'number' ? 'A number' : 'A whole number', rangeOf(input), described];
    return { type: 'text', kind: 'number', hint: hint.filter(Boolean).join(', '), start: '' };
  }
  const hint = ['JSON', described].filter(Boolean).join(': ');
  return { type: 'text', kind: 'json', hint, start: skeletonOf(input) };
}

/** The answer in the text of a field. Whether the schema allows it is checked where the run is stored. */
export function parseAnswer(field: Extract<AnswerField, { type: 'text' }>, text: string): ReadAnswer {
  if (field.kind === 'text') return { ok: true, value: text };
  if (field.kind === 'number') {
    const value = Number(text);
    if (text.trim() !== '' && Number.isFinite(value)) return { ok: true, value };
    return { ok: false, reason: `“${text}” is not a number.` };
  }
  try {
    return { ok: true, value: parseOwnJson<Json>(text) };
  } catch {
    return { ok: false, reason: 'The answer is not valid JSON.' };
  }
}

function isPlain(value: unknown): value is string | number | boolean | null {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function rangeOf({ minimum, maximum }: Readonly<Record<string, unknown>>): string {
  // Schemas of whole numbers have these limits of JavaScript.
  const isLimit = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value + 1);
  return [
    isLimit(minimum) && Number.isSafeInteger(minimum - 1) ? `at least ${minimum}` : '',
    isLimit(maximum) ? `at most ${maximum}` : '',
  ]
    .filter(Boolean)
    .join(' and ');
}

/** The start of an answer: the required keys of an object, an empty list, or nothing. */
function skeletonOf({ type, properties, required }: Readonly<Record<string, unknown>>): string {
  if (type === 'array') return '[]';
  if (type !== 'object' || typeof properties !== 'object' || properties === null) return '';
  const keys = Array.isArray(required) ? required.map(String) : Object.keys(properties);
  const shapes: Readonly<Record<string, unknown>> = { ...properties };
  return JSON.stringify(Object.fromEntries(keys.map((key) => [key, emptyOf(shapes[key])])), undefined, 2);
}

function emptyOf(schema: unknown): unknown {
  const type: unknown = typeof schema === 'object' && schema !== null && 'type' in schema ? schema.type : undefined;
  if (type === 'array') return [];
  if (type === 'object') return {};
  if (type === 'boolean') return false;
  return type === 'number' || type === 'integer' ? 0 : '';
}
