import { closeSync, lstatSync, openSync, readSync } from 'node:fs';
import * as z from 'zod';
import { isTooDeep } from '../../core/jsonFields.ts';
import { MAX_OUTPUT_FRAME_BYTES } from '../../core/text/outputLimits.ts';
import { frozenPlace } from '../../remote/protocol/debugging.ts';
import { flowEventData, logEventData, usageEventData } from '../../remote/protocol/schemas.ts';
import { changedByJob, JOB_FILE, openJobFile } from '../jobFiles/jobFileReading.ts';
import type { ServiceEvent } from '../store/jobs/eventTable.ts';

const READ_BYTES = MAX_OUTPUT_FRAME_BYTES;
// Lines that no runner wrote. Each costs a thrown error, and a job that is not isolated can fill its log with them.
const MAX_FOREIGN_LINES = 1_000;
const MAX_TEXT_LENGTH = 64 * 1024;
const LINE_FEED = 0x0a;

/** Something that a job's process did: it printed text, reported an event of its flow, was measured, or waits for a debugger. */
type OutputEvent = Extract<ServiceEvent, { type: 'log' | 'flow' | 'usage' | 'freeze' }>;

const flowFrame = z.object({ flow: flowEventData });
const time = z.int().min(0).max(8.64e15);
const freezeFrame = z.object({
  freeze: z.object({ at: time, frozen: z.object({ ...frozenPlace.shape, since: time, until: time }).nullable() }),
});
const usageFrame = z.object({ usage: z.object(usageEventData.shape) });

export interface OutputPage {
  readonly events: readonly OutputEvent[];
  /** Where the next page starts. */
  readonly offset: number;
  /** Whether the page reaches the end of the log. */
  readonly isAll: boolean;
}

/**
 * Reads the complete lines of a runner's output log after `offset`, up to about 1 MB; undefined while there are none.
 *
 * @param isLocal whether the file is written on this machine. Then its size is accurate, and a synchronous read of new data takes
 * less time than an asynchronous call. A file on a network must be opened to learn its size.
 * @throws AppError `corrupt` if something else replaced the log, or it has many lines that no runner wrote.
 */
export async function readOutputPage(path: string, offset: number, isLocal: boolean): Promise<OutputPage | undefined> {
  const bytes = isLocal ? readLocalBytes(path, offset) : await readBytes(path, offset);
  const isAll = bytes.length < READ_BYTES;
  const end = bytes.lastIndexOf(LINE_FEED) + 1;
  if (end === 0) {
    // No runner writes such a long line, so the job wrote it itself. It is skipped.
    return isAll ? undefined : { events: [], offset: offset + bytes.length, isAll };
  }
  const lines = bytes.toString('utf8', 0, end - 1).split('\n');
  const events: OutputEvent[] = [];
  let foreignLines = 0;
  for (const line of lines) {
    const event = parseFrame(line);
    if (event !== undefined) events.push(event);
    else if (++foreignLines > MAX_FOREIGN_LINES) throw changedByJob(path);
  }
  return { events: joinNeighbours(events), offset: offset + end, isAll };
}

/** Undefined for a line that no runner wrote. */
function parseFrame(line: string): OutputEvent | undefined {
  try {
    const isFlow = line.startsWith('{"flow"');
    if (isFlow && isTooDeep(line)) return undefined;
    const frame: unknown = JSON.parse(line);
    if (isFlow) return { type: 'flow', data: flowFrame.parse(frame).flow };
    if (line.startsWith('{"usage"')) return { type: 'usage', data: usageFrame.parse(frame).usage };
    if (line.startsWith('{"freeze"')) return freezeEvent(freezeFrame.parse(frame));
    const { stream, text } = logEventData.parse(frame);
    return { type: 'log', data: { stream, text } };
  } catch {
    return undefined;
  }
}

function freezeEvent({ freeze: { at, frozen } }: z.infer<typeof freezeFrame>): OutputEvent {
  const iso = (ms: number): string => new Date(ms).toISOString();
  const place = frozen && { ...frozen, since: iso(frozen.since), until: iso(frozen.until) };
  return { type: 'freeze', data: { at: iso(at), frozen: place } };
}

function joinNeighbours(events: readonly OutputEvent[]): readonly OutputEvent[] {
  const joined: OutputEvent[] = [];
  for (const event of events) {
    const last = joined.at(-1);
    const isMore = event.type === 'log' && last?.type === 'log' && last.data.stream === event.data.stream;
    if (isMore && last.data.text.length + event.data.text.length <= MAX_TEXT_LENGTH) {
      const { stream, text } = last.data;
      joined[joined.length - 1] = { type: 'log', data: { stream, text: text + event.data.text } };
    } else {
      joined.push(event);
    }
  }
  return joined;
}

function readLocalBytes(path: string, offset: number): Buffer {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() === false) throw changedByJob(path);
  const size = stats?.size ?? 0;
  if (size <= offset) return Buffer.alloc(0);
  const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, size - offset));
  const file = openSync(path, JOB_FILE);
  try {
    return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, offset));
  } finally {
    closeSync(file);
  }
}

async function readBytes(path: string, offset: number): Promise<Buffer> {
  await using file = await openJobFile(path);
  // Most checks find nothing new, and there are many per second, so memory is allocated for new data only.
  const length = Math.min(READ_BYTES, ((await file?.stat())?.size ?? 0) - offset);
  if (file === undefined || length <= 0) return Buffer.alloc(0);
  const buffer = Buffer.allocUnsafe(length);
  const { bytesRead } = await file.read(buffer, 0, length, offset);
  return buffer.subarray(0, bytesRead);
}
