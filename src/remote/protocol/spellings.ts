import type { JobState } from './states.ts';

/**
 * The specification does not define the fields of accounts, jobs and events. This file contains the variants that other services are
 * likely to use. It is the only place that guesses.
 */
type Fields = Readonly<Record<string, unknown>>;

const CREDITS_FIELDS = ['credits', 'credits_remaining', 'balance'];
const CLASS_FIELDS = ['machine_class', 'machineClass', 'name', 'class', 'id'];
const RATE_FIELDS = [
  ['credits_per_minute', 1],
  ['credits_per_second', 60],
  ['credits_per_hour', 1 / 60],
] as const;
const LOG_EVENTS = ['log', 'message', 'output'];
const LOG_FIELDS = ['text', 'message', 'line'];

/** Synonyms of the declared states, in lower case. */
const STATE_OF_WORD: ReadonlyMap<string, JobState> = new Map([
  ...words('queued', 'queued pending'),
  ...words('starting', 'starting'),
  ...words('running', 'running'),
  ...words('succeeded', 'succeeded success completed complete done finished'),
  ...words('failed', 'failed error errored killed stopped preempted'),
  ...words('cancelled', 'cancelled canceled aborted'),
  ...words('timed_out', 'timed_out timeout timedout expired'),
  ...words('lost', 'lost'),
]);

function words(state: JobState, list: string): [string, JobState][] {
  return list.split(' ').map((word) => [word, state]);
}

/** The declared state for a service's word; undefined for an unknown word. */
export function stateOfWord(word: string): JobState | undefined {
  return STATE_OF_WORD.get(word.toLowerCase());
}

/** All words for these states, in lower case. */
export function wordsForStates(isWanted: (state: JobState) => boolean): readonly string[] {
  return [...STATE_OF_WORD].filter(([, state]) => isWanted(state)).map(([word]) => word);
}

/** An account with declared field names. Its rate card may be an object by machine class, and a price a plain number. */
export function declaredAccount(reply: unknown): unknown {
  if (!isFields(reply)) return reply;
  const credits = CREDITS_FIELDS.map((name) => reply[name]).find((value) => typeof value === 'number');
  const rates = declaredRates(reply['rate_card'] ?? reply['rates']);
  return { ...reply, ...(credits !== undefined && { credits }), ...(rates !== undefined && { rate_card: rates }) };
}

/** All names of one entry of a rate card, the usual one first. */
export function classNames(line: Fields): readonly string[] {
  return CLASS_FIELDS.map((name) => line[name]).filter((name) => typeof name === 'string');
}

/** A job, or the data of a `state` or `end` event, with declared field names. */
export function declaredJob(reply: unknown): unknown {
  if (!isFields(reply) || isText(reply['state']) || !isText(reply['status'])) return reply;
  return { ...reply, state: reply['status'] };
}

/** The output in a `log` event: its text, or the data itself if a service sends plain text; undefined for other events. */
export function logTextOf(event: string, data: unknown): string | undefined {
  if (!LOG_EVENTS.includes(event)) return undefined;
  if (typeof data === 'string') return data;
  return isFields(data) ? LOG_FIELDS.map((name) => data[name]).find(isText) : undefined;
}

function declaredRates(card: unknown): Fields[] | undefined {
  if (Array.isArray(card)) return card.map((line: unknown) => declaredRate(line, undefined));
  if (!isFields(card)) return undefined;
  if (RATE_FIELDS.some(([field]) => field in card)) return [declaredRate(card, undefined)];
  const lines = Object.entries(card).filter(([, line]) => typeof line === 'number' || isFields(line));
  return lines.map(([name, line]) => declaredRate(line, name));
}

/** One entry of a rate card. An entry in another format stays in the list without fields, because it may apply to any class. */
function declaredRate(line: unknown, key: string | undefined): Fields {
  const fields = typeof line === 'number' ? { credits_per_minute: line } : isFields(line) ? line : {};
  const name = key ?? classNames(fields)[0];
  const price = RATE_FIELDS.flatMap(([field, perMinute]) => {
    const amount = fields[field];
    return typeof amount === 'number' ? [amount * perMinute] : [];
  })[0];
  return {
    ...fields,
    ...(name !== undefined && { machine_class: name }),
    ...(price !== undefined && { credits_per_minute: price }),
  };
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
