import { isDeepStrictEqual } from 'node:util';
import { fieldOf, numberField, textField } from '../../core/jsonFields.ts';
import { printableLine } from '../../core/text/printable.ts';
import { type Frozen, frozen } from '../../remote/protocol/debugging.ts';
import { declaredJob } from '../../remote/protocol/spellings.ts';
import { ABOUT_RESULTS, jobReport, receivedJob } from '../../remote/protocol/schemas.ts';
import { ReadableOutput } from './dataLines.ts';
import { isOver, type JobPatch, type JobRecord, recordName } from '../ledger/record.ts';

const LINE_LIMIT = 300;
// Limits for text from a service that is stored.
const WORD_LIMIT = 64;
const NAME_LIMIT = 256;
const REASON_LIMIT = 2_000;
// The longest ISO 8601 time with all its parts.
const TIME_LIMIT = 40;

/** The state in the data of an event or a job, in the service's own word. */
export function stateOf(data: unknown): string | undefined {
  const word = textField(declaredJob(data), 'state');
  return word === undefined ? undefined : printableLine(word).slice(0, WORD_LIMIT);
}

/** The text of an event that Farwharf itself wrote. */
export function noteOf(data: unknown): string {
  return textField(data, 'text') ?? '';
}

/** The changes that a `state`, `freeze` or `end` event makes to a record. `at` is when it was received. */
export function patchFromEvent(event: string, data: unknown, at: string, record: JobRecord): JobPatch {
  if (event === 'freeze') return { frozen: frozenOf(fieldOf(data, 'frozen')) };
  if (event !== 'state' && event !== 'end') return {};
  const patch = patchFromJob(data);
  const { state = '' } = patch;
  const when = timeOf(textField(data, 'at')) ?? at;
  const isStart = state === 'running' && record.startedAt === null;
  const isEnd = event === 'end' || isOver({ state, finishedAt: null, exitCode: null });
  return {
    ...patch,
    ...(isStart && { startedAt: when }),
    ...(isEnd && record.finishedAt === null && { finishedAt: when }),
    ...(isEnd && { frozen: null }),
  };
}

/** Whether a patch would reopen a job that has ended, as a late response or an unrecognized replay would. */
export function isStale(patch: JobPatch, record: JobRecord): boolean {
  if (!isOver(record) || patch.state === undefined) return false;
  return !isOver({ state: patch.state, finishedAt: patch.finishedAt ?? null, exitCode: patch.exitCode ?? null });
}

/** The changes that a job object of the service, or the data of an event, makes to a record. Missing fields change nothing. */
export function patchFromJob(job: unknown): JobPatch;
export function patchFromJob(job: unknown): Record<string, unknown> {
  const report = receivedJob.safeParse(job).data ?? {};
  const changes = Object.keys(jobReport.shape)
    .filter((name) => name !== 'frozen')
    .map((name): [string, unknown] => [recordName(name), boundedValue(name, report)]);
  const wait = fieldOf(job, 'frozen');
  if (wait !== undefined) changes.push(['frozen', frozenOf(wait)]);
  return Object.fromEntries(changes.filter(([, value]) => value !== undefined));
}

/** Where a job waits for a debugger; null if it does not, or the service says it in another form. */
function frozenOf(value: unknown): Frozen | null {
  const { data } = frozen.safeParse(value);
  if (data === undefined) return null;
  const { file, error, message } = data;
  return { ...data, file: printableLine(file), error: printableLine(error), message: printableLine(message) };
}

/** A field of a report, shortened to the limit for stored text; undefined if missing. */
function boundedValue(name: string, report: unknown): string | number | undefined {
  if (name === 'state') return stateOf(report);
  const text = textField(report, name);
  if (name.endsWith('_at')) return timeOf(text);
  return text?.slice(0, name === 'machine_class' ? NAME_LIMIT : REASON_LIMIT) ?? numberField(report, name);
}

/** A valid time; undefined for anything else. */
export function timeOf(time: string | undefined): string | undefined {
  return time !== undefined && time.length <= TIME_LIMIT && !Number.isNaN(Date.parse(time)) ? time : undefined;
}

// When a script throws, Node.js prints the reason first, then the calls and its version, which do not explain it. So does Java. Longer
// lines are not of this kind, and matching them would take quadratic time.
const MAX_CALL = 1_000;
const AFTER_REASON = /^Node\.js v\d+\.\d+\.\d+$|^\s+at \S.*[:(][^\s()]*\)?$/;

/** Finds the last line of output that is not blank, across events that may split lines. Data for the job's page does not count. */
export class LastLine {
  readonly #output = new ReadableOutput();
  #open = '';
  #last: string | undefined;

  /** @param data of the event with the text. */
  push(data: unknown, text: string): void {
    if (textField(data, 'about') === ABOUT_RESULTS) return; // lines of the service itself, which follow the output
    const lines = (this.#open + this.#output.push(data, text)).split(/\r\n|[\n\r]/);
    this.#open = (lines.pop() ?? '').slice(-LINE_LIMIT * 4);
    this.#last = lines.findLast((line) => line.trim() !== '' && !isAfterReason(line)) ?? this.#last;
  }

  /** Without control characters, at most 300 characters; undefined before the first line. */
  get text(): string | undefined {
    const line = this.#open.trim() === '' ? this.#last : this.#open;
    return line === undefined ? undefined : printableLine(line).trim().slice(0, LINE_LIMIT);
  }
}

function isAfterReason(line: string): boolean {
  return line.length <= MAX_CALL && AFTER_REASON.test(line);
}

/** The fields of a patch that differ from the record; undefined if none do. */
export function effective(patch: JobPatch, record: JobRecord): JobPatch | undefined {
  const changes = Object.entries(patch).filter(
    ([name, value]) => !isDeepStrictEqual(Object.getOwnPropertyDescriptor(record, name)?.value, value),
  );
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}
