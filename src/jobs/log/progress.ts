import { MarkedLineReader, textOf } from '../../core/text/markedLines.ts';
import { numberField, textField } from '../../core/jsonFields.ts';
import { printableLine } from '../../core/text/printable.ts';
import { declaredJob } from '../../remote/protocol/spellings.ts';
import { jobReport, receivedJob } from '../../remote/protocol/schemas.ts';
import { isOver, type JobPatch, type JobRecord, recordName } from '../ledger/record.ts';

const LINE_LIMIT = 300;
// Of what a service may have us remember.
const WORD_LIMIT = 64;
const NAME_LIMIT = 256;
const REASON_LIMIT = 2_000;
// The longest that ISO 8601 comes to with all its parts.
const TIME_LIMIT = 40;

/** The state in an event's or a job's data, in the service's word. */
export function stateOf(data: unknown): string | undefined {
  const word = textField(declaredJob(data), 'state');
  return word === undefined ? undefined : printableLine(word).slice(0, WORD_LIMIT);
}

/** The text of Farwharf's own events. */
export function noteOf(data: unknown): string {
  return textField(data, 'text') ?? '';
}

/** What a `state` or `end` event changes in a record; `at` is when it was received. */
export function patchFromEvent(event: string, data: unknown, at: string, record: JobRecord): JobPatch {
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
  };
}

/** Whether a patch would bring a finished job back to life: a late answer, or a replay that was not recognised. */
export function isStale(patch: JobPatch, record: JobRecord): boolean {
  if (!isOver(record) || patch.state === undefined) return false;
  return !isOver({ state: patch.state, finishedAt: patch.finishedAt ?? null, exitCode: patch.exitCode ?? null });
}

/** What the service's job object, or the data of an event, changes in a record. Absent fields change nothing. */
export function patchFromJob(job: unknown): JobPatch;
export function patchFromJob(job: unknown): Record<string, unknown> {
  const report = receivedJob.safeParse(job).data ?? {};
  const changes = Object.keys(jobReport.shape).map((name) => [recordName(name), boundedValue(name, report)] as const);
  return Object.fromEntries(changes.filter(([, value]) => value !== undefined));
}

/** A field of a report, cut to what a service may have us remember; undefined where there is none. */
function boundedValue(name: string, report: unknown): string | number | undefined {
  if (name === 'state') return stateOf(report);
  const text = textField(report, name);
  if (name.endsWith('_at')) return timeOf(text);
  return text?.slice(0, name === 'machine_class' ? NAME_LIMIT : REASON_LIMIT) ?? numberField(report, name);
}

/** A point in time; what is none reads as absent. */
function timeOf(time: string | undefined): string | undefined {
  return time !== undefined && time.length <= TIME_LIMIT && !Number.isNaN(Date.parse(time)) ? time : undefined;
}

/** Finds the last line of output that says something, across events that cut lines anywhere. */
export class LastLine {
  readonly #marked = new MarkedLineReader();
  #open = '';
  #last: string | undefined;

  push(text: string): void {
    const lines = (this.#open + textOf(this.#marked.push(text))).split(/\r\n|[\n\r]/);
    this.#open = (lines.pop() ?? '').slice(-LINE_LIMIT * 4);
    this.#last = lines.findLast((line) => line.trim() !== '') ?? this.#last;
  }

  /** Without control characters, at most 300 characters; undefined before the first line. */
  get text(): string | undefined {
    const line = this.#open.trim() === '' ? this.#last : this.#open;
    return line === undefined ? undefined : printableLine(line).trim().slice(0, LINE_LIMIT);
  }
}

/** The part of a patch that changes something; undefined when nothing does. */
export function effective(patch: JobPatch, record: JobRecord): JobPatch | undefined {
  const changes = Object.entries(patch).filter(
    ([name, value]) => Object.getOwnPropertyDescriptor(record, name)?.value !== value,
  );
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}
